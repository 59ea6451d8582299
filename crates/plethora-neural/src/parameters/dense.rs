//! Parameters that share one buffer.

use std::ops::Range;

use tch::{Device, Kind, Tensor};

/// Which parameter of a [`DenseParameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterId(usize);

/// Parameters in one buffer, with their gradients in a second one of the same layout.
#[derive(Debug)]
pub struct DenseParameters {
    values: Tensor,
    gradients: Tensor,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    range: Range<i64>,
    /// Shares its storage with the buffer of values, and its gradient with that of gradients.
    leaf: Tensor,
    is_label_matrix: bool,
}

/// Collects initial values.
#[derive(Debug, Default)]
pub struct DenseParametersBuilder {
    entries: Vec<(String, Tensor, bool)>,
}

impl DenseParametersBuilder {
    /// Adds a parameter.
    pub fn add(&mut self, name: impl Into<String>, value: Tensor) -> ParameterId {
        self.entries.push((name.into(), value, false));
        ParameterId(self.entries.len() - 1)
    }

    /// Adds a matrix with a row for each label, which may learn at a rate of its own.
    pub fn add_label_matrix(&mut self, name: impl Into<String>, value: Tensor) -> ParameterId {
        let id = self.add(name, value);
        self.entries[id.0].2 = true;
        id
    }

    /// Lays all parameters out on `device`.
    pub fn finish(self, device: Device) -> DenseParameters {
        let flat: Vec<Tensor> = self
            .entries
            .iter()
            .map(|(_, value, _)| value.to_device(device).to_kind(Kind::Float).flatten(0, -1))
            .collect();
        let values = if flat.is_empty() {
            Tensor::zeros([0], (Kind::Float, device))
        } else {
            Tensor::cat(&flat, 0)
        };
        let gradients = values.zeros_like();
        let mut start = 0;
        let entries = self
            .entries
            .into_iter()
            .map(|(name, value, is_label_matrix)| {
                let range = start..start + value.numel() as i64;
                start = range.end;
                let leaf = leaf_with_gradient(&values, &gradients, &range, &value.size());
                Entry {
                    name,
                    range,
                    leaf,
                    is_label_matrix,
                }
            })
            .collect();
        DenseParameters {
            values,
            gradients,
            entries,
        }
    }
}

/// A leaf of the graph whose value and gradient are parts of the two buffers.
fn leaf_with_gradient(
    values: &Tensor,
    gradients: &Tensor,
    range: &Range<i64>,
    shape: &[i64],
) -> Tensor {
    let part = |buffer: &Tensor| {
        buffer
            .narrow(0, range.start, range.end - range.start)
            .view(shape)
    };
    let leaf = part(values).detach().set_requires_grad(true);
    // Autograd makes a gradient at the first backward pass and adds to it in place from then on:
    // from then on it can lie in the buffer.
    (&leaf * 0.0).sum(Kind::Float).backward();
    leaf.grad().set_data(&part(gradients));
    leaf
}

impl DenseParameters {
    /// The parameter, as a leaf of the graph.
    pub fn get(&self, id: ParameterId) -> &Tensor {
        &self.entries[id.0].leaf
    }

    /// The gradient of a parameter, as a view: adding to it in place adds to the gradient.
    pub fn gradient(&self, id: ParameterId) -> Tensor {
        self.entries[id.0].leaf.grad()
    }

    /// All values in one row.
    pub fn values(&self) -> &Tensor {
        &self.values
    }

    /// All gradients in one row.
    pub fn gradients(&self) -> &Tensor {
        &self.gradients
    }

    /// Forgets the gradients.
    pub fn clear_gradients(&self) {
        let _ = self.gradients.shallow_clone().zero_();
    }

    /// Names, shapes and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.entries
            .iter()
            .map(|entry| (entry.name.as_str(), &entry.leaf))
    }

    /// Where the label matrices lie in the buffers.
    pub fn label_matrices(&self) -> impl Iterator<Item = Range<i64>> {
        self.entries
            .iter()
            .filter(|entry| entry.is_label_matrix)
            .map(|entry| entry.range.clone())
    }

    /// Number of trained values.
    pub fn len(&self) -> usize {
        self.values.numel()
    }

    /// True without parameters.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten(0, -1).try_into().unwrap()
    }

    #[test]
    fn gradients_of_all_parameters_gather_in_one_buffer() {
        let mut builder = DenseParametersBuilder::default();
        let a = builder.add("a", Tensor::from_slice(&[1.0_f32, 2.0]));
        let b = builder.add_label_matrix("b", Tensor::from_slice2(&[[3.0_f32], [4.0]]));
        let parameters = builder.finish(Device::Cpu);
        for _ in 0..2 {
            let product = parameters.get(a) * parameters.get(b).squeeze_dim(1);
            product.sum(Kind::Float).backward();
        }
        assert_eq!(floats(parameters.gradients()), [6.0, 8.0, 2.0, 4.0]);
        assert_eq!(floats(&parameters.gradient(b)), [2.0, 4.0]);
        parameters.clear_gradients();
        assert_eq!(floats(&parameters.gradient(a)), [0.0, 0.0]);
        let _ = tch::no_grad(|| parameters.values().shallow_clone().g_add_scalar_(1.0));
        assert_eq!(floats(parameters.get(b)), [4.0, 5.0]);
        assert_eq!(parameters.label_matrices().next(), Some(2..4));
    }
}
