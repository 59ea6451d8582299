//! The rows of candidates, run by run.
//!
//! A batch gathers each label of a table once, and every document looks up its own candidates there. A run of
//! candidates is looked up and learns by itself: what the whole batch gathered is neither cast nor given
//! a gradient of its size for each run.

use tch::{Kind, Tensor};

use crate::head::set_gradient;
use crate::parameters::TableRows;

/// The rows of a run of candidates, in 32 bits.
///
/// # Shapes
/// From documents x candidates, places among the rows, to documents x candidates of the run x row width.
pub(super) fn look_up(rows: &Tensor, places: &Tensor, start: i64, length: i64) -> Tensor {
    let (num_documents, _) = places.size2().unwrap_or((0, 0));
    let places = flat(places, start, length);
    let shape = [num_documents, length, rows.size()[1]];
    rows.index_select(0, &places).view(shape)
}

/// Candidates whose rows learn.
pub(super) struct CandidateLearner<'a> {
    gathered: &'a TableRows,
    places: &'a Tensor,
    /// Of all that was gathered.
    gradient: Tensor,
}

impl<'a> CandidateLearner<'a> {
    /// Nothing is learnt yet.
    ///
    /// # Shapes
    /// `places`: documents x candidates, places among the gathered rows.
    pub(super) fn new(gathered: &'a TableRows, places: &'a Tensor) -> Self {
        Self {
            gathered,
            places,
            gradient: gathered.leaf.detach().zeros_like(),
        }
    }

    /// The rows of a run, as a leaf.
    pub(super) fn leaf(&self, start: i64, length: i64) -> Tensor {
        let rows = look_up(&self.gathered.leaf.detach(), self.places, start, length);
        rows.set_requires_grad(true)
    }

    /// Takes the gradient of a run, that of [`leaf`](Self::leaf). This adds in the same order on every
    /// device, as adding by rows does not.
    pub(super) fn add(&mut self, leaf: &Tensor, start: i64) {
        let (_, length, width) = leaf.size3().unwrap_or((0, 0, 0));
        let places = flat(self.places, start, length);
        let gradient = leaf.grad().reshape([-1, width]);
        let _ = self.gradient.index_put_(&[Some(places)], &gradient, true);
    }

    /// Leaves the gradients where the optimizer looks for them.
    pub(super) fn finish(self) {
        set_gradient(&self.gathered.leaf, vec![self.gradient]);
    }
}

fn flat(places: &Tensor, start: i64, length: i64) -> Tensor {
    let run = places.narrow(1, start, length).to_kind(Kind::Int64);
    run.reshape([-1])
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::parameters::RowTable;

    #[test]
    fn runs_learn_what_the_whole_would() {
        tch::manual_seed(3);
        let values = Tensor::randn([6, 3], (Kind::Float, Device::Cpu));
        let table = RowTable::new("labels", &values, true, Device::Cpu);
        let numbers = Tensor::from_slice(&[0_i64, 2, 5]);
        let places = Tensor::from_slice2(&[[0_i32, 1, 2, 0], [2, 2, 1, 0]]);
        let weights = Tensor::randn([2, 4, 3], (Kind::Float, Device::Cpu));

        let whole = table.gather(0, &numbers);
        let rows = look_up(&whole.leaf, &places, 0, 4);
        (rows * &weights).square().sum(Kind::Float).backward();

        let gathered = table.gather(0, &numbers);
        let mut learner = CandidateLearner::new(&gathered, &places);
        for (start, length) in [(0, 3), (3, 1)] {
            let leaf = learner.leaf(start, length);
            assert_eq!(leaf.size(), [2, length, 3]);
            let part = &leaf * weights.narrow(1, start, length);
            part.square().sum(Kind::Float).backward();
            learner.add(&leaf, start);
        }
        // Nothing goes through the gathered rows themselves, whose gradient would be dense for each run.
        assert!(!gathered.leaf.grad().defined());
        learner.finish();
        assert!(
            gathered
                .leaf
                .grad()
                .allclose(&whole.leaf.grad(), 1e-6, 1e-6, false)
        );
    }
}
