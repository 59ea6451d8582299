//! Parameters that share one buffer.

use std::ops::Range;

use tch::{Device, Kind, Tensor};

use crate::int8::Int8Weights;
use crate::precision::Numbers;

/// Parameters begin at multiples of this many numbers: matrix products are fastest from there.
const ALIGNMENT: i64 = 8;

/// Which parameter of a [`DenseParameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterId(pub(super) usize);

/// Parameters in one buffer, with their gradients in a second one of the same layout. Where a network
/// computes in 16 bits, there is a second pair in that form, see [`computed`](Self::computed).
#[derive(Debug)]
pub struct DenseParameters {
    buffers: Buffers,
    /// Absent where the numbers that are computed with are those that are kept.
    computed: Option<Buffers>,
    entries: Vec<Entry>,
    groups: Vec<DenseGroup>,
    /// Present where products are computed in eight bits.
    pub(super) int8: Option<Int8Weights>,
}

/// Values and gradients of all parameters, each in one row.
#[derive(Debug)]
struct Buffers {
    values: Tensor,
    gradients: Tensor,
}

#[derive(Debug)]
struct Entry {
    name: String,
    /// Shares its storage with the buffer of values, and its gradient with that of gradients.
    leaf: Tensor,
    /// The same in the buffers that are computed with.
    computed: Tensor,
}

/// Which step size a parameter learns at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateGroup {
    /// The one that the others are multiples of: that of encoders.
    Shared,
    /// That of a layer between encoder and labels.
    Hidden,
    /// That of what scores labels.
    Labels,
}

/// A part of the buffers whose parameters are trained alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseGroup {
    /// Where it lies.
    pub range: Range<i64>,
    /// The step size they learn at.
    pub rate: RateGroup,
    /// False for biases and the scales of norms, which weight decay leaves alone.
    pub decays: bool,
}

/// Collects initial values.
#[derive(Debug, Default)]
pub struct DenseParametersBuilder {
    entries: Vec<(String, Tensor, RateGroup)>,
    /// Matrices that weight decay leaves alone.
    undecayed: Vec<ParameterId>,
    /// The group of parameters for which none is named, where it is not the shared one.
    rate: Option<RateGroup>,
    /// What stands before the names of parameters.
    prefix: String,
}

impl DenseParametersBuilder {
    /// Adds a parameter.
    pub fn add(&mut self, name: impl Into<String>, value: Tensor) -> ParameterId {
        self.add_in(self.rate.unwrap_or(RateGroup::Shared), name, value)
    }

    /// Lets parameters that `add` adds, and for which it names no group, learn at the rate of this one.
    pub fn at_rate<T>(&mut self, rate: RateGroup, add: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.rate.replace(rate);
        let added = add(self);
        self.rate = before;
        added
    }

    /// Puts `prefix` before the names of parameters that `add` adds.
    pub fn under<T>(&mut self, prefix: &str, add: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.prefix, prefix.to_owned());
        let added = add(self);
        self.prefix = before;
        added
    }

    /// Adds a parameter that learns at the rate of its group.
    pub fn add_in(
        &mut self,
        rate: RateGroup,
        name: impl Into<String>,
        value: Tensor,
    ) -> ParameterId {
        let name = format!("{}{}", self.prefix, name.into());
        self.entries.push((name, value, rate));
        ParameterId(self.entries.len() - 1)
    }

    /// Adds a matrix with a row for each label, which may learn at a rate of its own.
    pub fn add_label_matrix(&mut self, name: impl Into<String>, value: Tensor) -> ParameterId {
        self.add_in(RateGroup::Labels, name, value)
    }

    /// Lets a parameter start at zero.
    pub fn clear(&mut self, id: ParameterId) {
        self.start_from(id, Tensor::zeros_like);
    }

    /// Lets a parameter start from what `change` makes of its value.
    pub fn start_from(&mut self, id: ParameterId, change: impl FnOnce(&Tensor) -> Tensor) {
        let value = &mut self.entries[id.0].1;
        *value = change(value);
    }

    /// Keeps weight decay from a parameter; of vectors it is kept anyway.
    pub fn leave_undecayed(&mut self, id: ParameterId) {
        self.undecayed.push(id);
    }

    /// Number of values so far.
    pub fn num_values(&self) -> usize {
        self.entries.iter().map(|(_, value, _)| value.numel()).sum()
    }

    /// Lays all parameters out on `device`.
    pub fn finish(self, device: Device) -> DenseParameters {
        self.finish_in(device, Kind::Float)
    }

    /// As [`finish`](Self::finish), to be computed with in numbers of `kind`. Values are kept and
    /// trained in 32 bits always.
    pub fn finish_in(self, device: Device, kind: Kind) -> DenseParameters {
        let (ranges, groups) = self.layout();
        let length = groups.last().map_or(0, |group| group.range.end);
        let values = Tensor::zeros([length], (Kind::Float, device));
        for ((_, value, _), range) in self.entries.iter().zip(&ranges) {
            part(&values, range, &value.size()).copy_(value);
        }
        let buffers = Buffers::of(values);
        let computed = (kind != Kind::Float).then(|| Buffers::of(buffers.values.to_kind(kind)));
        let entries = self.entries.into_iter().zip(&ranges);
        let entries = entries
            .map(|((name, value, _), range)| {
                let leaf = buffers.leaf(range, &value.size());
                Entry {
                    name,
                    computed: match &computed {
                        Some(computed) => computed.leaf(range, &value.size()),
                        None => leaf.shallow_clone(),
                    },
                    leaf,
                }
            })
            .collect();
        DenseParameters {
            buffers,
            computed,
            entries,
            groups,
            int8: None,
        }
    }

    /// Lays all parameters out on `device` in these numbers alone, for weights that come from a file
    /// and are only read.
    pub(crate) fn finish_to_read(self, device: Device, numbers: Numbers) -> DenseParameters {
        let kind = numbers.kind;
        let (ranges, groups) = self.layout();
        let length = groups.last().map_or(0, |group| group.range.end);
        let values = Tensor::zeros([length], (kind, device));
        let entries = self.entries.into_iter().zip(&ranges);
        let entries = entries
            .map(|((name, value, _), range)| {
                let leaf = part(&values, range, &value.size());
                leaf.shallow_clone().copy_(&value);
                Entry {
                    name,
                    computed: leaf.shallow_clone(),
                    leaf,
                }
            })
            .collect();
        let mut parameters = DenseParameters {
            buffers: Buffers {
                gradients: Tensor::zeros([0], (kind, device)),
                values,
            },
            computed: None,
            entries,
            groups,
            int8: None,
        };
        parameters.read_with(numbers);
        parameters
    }

    /// Where each parameter goes. Those that are trained alike lie together, so that a step takes
    /// a few operations whatever their number.
    fn layout(&self) -> (Vec<Range<i64>>, Vec<DenseGroup>) {
        let mut ranges = vec![0..0; self.entries.len()];
        let mut groups = Vec::new();
        let mut end = 0;
        let rates = [RateGroup::Shared, RateGroup::Hidden, RateGroup::Labels];
        for (rate, decays) in rates
            .into_iter()
            .flat_map(|rate| [(rate, true), (rate, false)])
        {
            let start = end;
            let entries = self.entries.iter().zip(&mut ranges).enumerate();
            for (number, ((_, value, of_group), range)) in entries {
                let is_decayed = value.dim() > 1 && !self.undecayed.contains(&ParameterId(number));
                if *of_group == rate && is_decayed == decays {
                    let length = value.numel() as i64;
                    *range = end..end + length;
                    end += (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
                }
            }
            if end > start {
                groups.push(DenseGroup {
                    range: start..end,
                    rate,
                    decays,
                });
            }
        }
        (ranges, groups)
    }
}

impl Buffers {
    fn of(values: Tensor) -> Self {
        Self {
            gradients: values.zeros_like(),
            values,
        }
    }

    /// A leaf of the graph whose value and gradient are parts of the two buffers.
    fn leaf(&self, range: &Range<i64>, shape: &[i64]) -> Tensor {
        let leaf = part(&self.values, range, shape)
            .detach()
            .set_requires_grad(true);
        // Autograd makes a gradient at the first backward pass and adds to it in place from then
        // on: from then on it can lie in the buffer.
        (&leaf * 0.0).sum(leaf.kind()).backward();
        leaf.grad().set_data(&part(&self.gradients, range, shape));
        leaf
    }
}

fn part(buffer: &Tensor, range: &Range<i64>, shape: &[i64]) -> Tensor {
    buffer
        .narrow(0, range.start, range.end - range.start)
        .view(shape)
}

impl DenseParameters {
    /// The parameter, as a leaf of the graph.
    pub fn get(&self, id: ParameterId) -> &Tensor {
        &self.entries[id.0].leaf
    }

    /// The parameter as a leaf of the graph in the numbers that are computed with. Between
    /// [`refresh`](Self::refresh) and [`collect`](Self::collect) it has the value of
    /// [`get`](Self::get), and its gradient goes the same way.
    pub fn computed(&self, id: ParameterId) -> &Tensor {
        &self.entries[id.0].computed
    }

    /// Kind of the numbers that are computed with.
    pub(crate) fn kind(&self) -> Kind {
        let computed = self.computed.as_ref();
        computed.unwrap_or(&self.buffers).values.kind()
    }

    /// Gives the numbers that are computed with the values of the parameters.
    pub fn refresh(&self) {
        if let Some(computed) = &self.computed {
            tch::no_grad(|| computed.values.shallow_clone().copy_(&self.buffers.values));
        }
    }

    /// Adds the gradients of the numbers that are computed with to those of the parameters.
    pub fn collect(&self) {
        if let Some(computed) = &self.computed {
            tch::no_grad(|| {
                let _ = (self.buffers.gradients.shallow_clone()).g_add_(&computed.gradients);
                let _ = computed.gradients.shallow_clone().zero_();
            });
        }
    }

    /// Gives up all gradients: what is left can be read and saved.
    pub fn end_training(&mut self) {
        self.refresh();
        let none = Tensor::zeros([0], (Kind::Float, Device::Cpu));
        self.buffers.gradients = none.shallow_clone();
        if let Some(computed) = &mut self.computed {
            computed.gradients = none;
        }
        for entry in &mut self.entries {
            // A leaf keeps its gradient as long as it lives.
            entry.leaf = entry.leaf.detach();
            entry.computed = entry.computed.detach();
        }
    }

    /// The gradient of a parameter, as a view: adding to it in place adds to the gradient.
    pub fn gradient(&self, id: ParameterId) -> Tensor {
        self.entries[id.0].leaf.grad()
    }

    /// All values in one row.
    pub fn values(&self) -> &Tensor {
        &self.buffers.values
    }

    /// All gradients in one row.
    pub fn gradients(&self) -> &Tensor {
        &self.buffers.gradients
    }

    /// Forgets the gradients.
    pub fn clear_gradients(&self) {
        let _ = self.buffers.gradients.shallow_clone().zero_();
    }

    /// Names, shapes and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.entries
            .iter()
            .map(|entry| (entry.name.as_str(), &entry.leaf))
    }

    /// The parts of the buffers, in their order.
    pub fn groups(&self) -> &[DenseGroup] {
        &self.groups
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(tensor: &Tensor) -> Vec<f32> {
        tensor
            .to_kind(Kind::Float)
            .flatten(0, -1)
            .try_into()
            .unwrap()
    }

    /// A label matrix, a vector and a matrix.
    fn parameters(kind: Kind) -> (DenseParameters, [ParameterId; 3]) {
        let mut builder = DenseParametersBuilder::default();
        let labels = builder.add_label_matrix("labels", Tensor::from_slice2(&[[3.0_f32], [4.0]]));
        let bias = builder.add("bias", Tensor::from_slice(&[1.0_f32, 2.0]));
        let matrix = builder.add("matrix", Tensor::from_slice2(&[[5.0_f32, 6.0]]));
        assert_eq!(builder.num_values(), 6);
        let ids = [labels, bias, matrix];
        (builder.finish_in(Device::Cpu, kind), ids)
    }

    #[test]
    fn parameters_that_are_trained_alike_lie_together() {
        let (parameters, [labels, bias, matrix]) = parameters(Kind::Float);
        let group = |range, rate, decays| DenseGroup {
            range,
            rate,
            decays,
        };
        let expected = [
            group(0..8, RateGroup::Shared, true),
            group(8..16, RateGroup::Shared, false),
            group(16..24, RateGroup::Labels, true),
        ];
        assert_eq!(parameters.groups(), expected);
        let _ = tch::no_grad(|| parameters.values().shallow_clone().g_add_scalar_(1.0));
        assert_eq!(floats(parameters.get(matrix)), [6.0, 7.0]);
        assert_eq!(floats(parameters.get(bias)), [2.0, 3.0]);
        assert_eq!(floats(parameters.get(labels)), [4.0, 5.0]);
    }

    #[test]
    fn gradients_of_all_parameters_gather_in_one_buffer() {
        for kind in [Kind::Float, Kind::BFloat16] {
            let (parameters, [labels, bias, matrix]) = parameters(kind);
            for _ in 0..2 {
                parameters.refresh();
                let product =
                    parameters.computed(bias) * parameters.computed(labels).squeeze_dim(1);
                product.sum(Kind::Float).backward();
                parameters.collect();
            }
            assert_eq!(floats(&parameters.gradient(bias)), [6.0, 8.0]);
            assert_eq!(floats(&parameters.gradient(labels)), [2.0, 4.0]);
            assert_eq!(floats(&parameters.gradient(matrix)), [0.0, 0.0]);
            assert_eq!(
                parameters.gradients().sum(Kind::Float).double_value(&[]),
                20.0
            );
            parameters.clear_gradients();
            assert_eq!(floats(&parameters.gradient(bias)), [0.0, 0.0]);
        }
    }

    #[test]
    fn numbers_that_are_computed_with_follow_the_values() {
        let (mut parameters, [_, bias, _]) = parameters(Kind::BFloat16);
        let _ = tch::no_grad(|| parameters.values().shallow_clone().g_mul_scalar_(2.0));
        assert_eq!(floats(parameters.computed(bias)), [1.0, 2.0]);
        parameters.refresh();
        assert_eq!(floats(parameters.computed(bias)), [2.0, 4.0]);
        parameters.end_training();
        assert_eq!(parameters.values().kind(), Kind::Float);
        assert_eq!(floats(parameters.computed(bias)), [2.0, 4.0]);
        assert!(!parameters.get(bias).requires_grad());
    }

    #[test]
    fn parameters_to_read_have_one_form() {
        let mut builder = DenseParametersBuilder::default();
        let bias = builder.add("bias", Tensor::from_slice(&[1.0_f32, 2.0]));
        let parameters = builder.finish_to_read(Device::Cpu, Kind::BFloat16.into());
        let loaded = Tensor::from_slice(&[3.0_f32, 4.0]);
        parameters.get(bias).shallow_clone().copy_(&loaded);
        assert_eq!(floats(parameters.computed(bias)), [3.0, 4.0]);
        assert_eq!(parameters.computed(bias).kind(), Kind::BFloat16);
    }
}
