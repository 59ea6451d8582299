//! Training without keeping the inside of layers.

use tch::Tensor;

use super::batch::{AttentionBias, Batch, PieceInput};
use super::encoder::{Trace, Transformer, side_by_side};
use crate::parameters::DenseParameters;

impl Transformer {
    /// Keeps nothing but the input of each layer.
    pub(super) fn forward_without_graph(
        &self,
        parameters: &DenseParameters,
        input: &PieceInput<'_>,
    ) -> Trace {
        let (vector, states, inputs) = tch::no_grad(|| {
            let (batch, mut states) = self.begin(parameters, input);
            let mut pooled = Vec::new();
            let mut inputs = Vec::with_capacity(self.layers.len());
            for number in 0..self.layers.len() {
                let above = self.layer(number, &states, &batch);
                inputs.push(std::mem::replace(&mut states, above));
                if self.is_read(number) {
                    pooled.push(self.pool(&states, &batch));
                }
            }
            (side_by_side(pooled), states, inputs)
        });
        let leaf = |tensor: &Tensor| tensor.detach().set_requires_grad(true);
        Trace {
            vector: leaf(&vector),
            states: self.gives_states.then(|| leaf(&states)),
            inputs,
        }
    }

    /// Sends the gradient of a trace's vector through the encoder where checkpointing has cut the
    /// graph, and does nothing otherwise.
    pub(crate) fn backward(
        &self,
        parameters: &DenseParameters,
        input: &PieceInput<'_>,
        trace: Trace,
    ) {
        if trace.inputs.is_empty() {
            return;
        }
        let gradient = trace.vector.grad();
        if !gradient.defined() {
            return;
        }
        let (mut batch, embedded) = self.begin(parameters, input);
        let bias = batch.bias.as_ref().map(AttentionBias::shallow_clone);
        batch.bias = bias.as_ref().map(AttentionBias::leaves);
        // In the order of layers, as the vector has the last one first.
        let mut parts = gradient.chunk(self.config.layers as i64, 1);
        parts.reverse();
        let first_read = self.layers.len() - self.config.layers;
        let of_states = trace.states.map(|states| states.grad());
        let mut above = of_states.filter(Tensor::defined);
        for (number, states) in trace.inputs.into_iter().enumerate().rev() {
            let states = states.detach().set_requires_grad(true);
            let part = number.checked_sub(first_read).map(|part| &parts[part]);
            self.layer_backward(number, &states, &batch, above.as_ref(), part);
            above = Some(states.grad());
        }
        if let Some(above) = above {
            let mut sums = vec![(&embedded * above).sum(None)];
            if let (Some(bias), Some(leaves)) = (&bias, &batch.bias) {
                sums.extend(bias.backward_sums(leaves));
            }
            backward(sums);
        }
    }

    /// Computes a layer again and sends the gradients of its states and of what is read of them
    /// back.
    fn layer_backward(
        &self,
        number: usize,
        states: &Tensor,
        batch: &Batch<'_>,
        above: Option<&Tensor>,
        read: Option<&Tensor>,
    ) {
        let output = self.layer(number, states, batch);
        let of_states = above.map(|gradient| (&output * gradient).sum(None));
        let of_read = read.map(|gradient| (self.pool(&output, batch) * gradient).sum(None));
        backward(of_states.into_iter().chain(of_read).collect());
    }
}

/// The gradient of a sum of products with a constant is that constant.
fn backward(sums: Vec<Tensor>) {
    if let Some(sum) = sums.into_iter().reduce(|left, right| left + right) {
        sum.backward();
    }
}

impl AttentionBias {
    fn shallow_clone(&self) -> Self {
        Self {
            all: self.all.shallow_clone(),
            document: self.document.shallow_clone(),
        }
    }

    /// The same without a graph, gathering gradients where the original would.
    fn leaves(&self) -> Self {
        let leaf = |bias: &Tensor| bias.detach().set_requires_grad(bias.requires_grad());
        Self {
            all: leaf(&self.all),
            document: leaf(&self.document),
        }
    }

    /// Sums whose gradients are those that the leaves have gathered.
    fn backward_sums(&self, leaves: &Self) -> Vec<Tensor> {
        let pairs = [(&self.all, &leaves.all), (&self.document, &leaves.document)];
        let gathered = pairs
            .into_iter()
            .filter(|(bias, leaf)| bias.requires_grad() && leaf.grad().defined());
        gathered
            .map(|(bias, leaf)| (bias * leaf.grad()).sum(None))
            .collect()
    }
}
