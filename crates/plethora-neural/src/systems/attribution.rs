//! What the words of a text add to the log-odds of a label: the gradient by the vector of each word,
//! times that vector. To first order it is what the score would lose without the word (Shrikumar et
//! al. 2017, arXiv:1605.01713; for texts Denil et al. 2014, arXiv:1412.6815).

use tch::{Kind, Tensor};

/// What each place of one document adds to what `log_odds` makes of the vectors of all.
///
/// # Shapes
/// `vectors`: 1 x places x width.
pub(crate) fn contributions(
    vectors: &Tensor,
    log_odds: impl FnOnce(&Tensor) -> Tensor,
) -> Vec<f32> {
    tch::with_grad(|| {
        let vectors = vectors.detach().copy().set_requires_grad(true);
        let log_odds = log_odds(&vectors).sum(Kind::Float);
        // Weights keep their gradients: a network may be in the middle of its training.
        let gradient = Tensor::run_backward(&[log_odds], &[&vectors], false, false).remove(0);
        let of_places = (gradient * vectors.detach()).sum_dim_intlist(2, false, Kind::Float);
        Vec::<f32>::try_from(of_places.flatten(0, -1)).expect("a row of numbers")
    })
}
