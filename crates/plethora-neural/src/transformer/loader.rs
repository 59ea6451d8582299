//! First values of an encoder's parameters, from files or drawn.

use std::path::{Path, PathBuf};

use plethora_core::artifact::MappedArrays;
use tch::Tensor;

use super::architecture::Architecture;
use super::linear::{Linear, Norm};
use super::tensor_names;
use super::trained_folder;
use super::weight_files::WeightFiles;
use crate::Result;
use crate::parameters::{DenseParametersBuilder, ParameterId};
use crate::start::{Start, ones, zeros};

/// Where weights come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weights<'a> {
    /// A Hugging Face folder, or a model folder with an encoder.
    Folder(&'a Path),
    /// A file of weights by the names that they have here.
    File(&'a Path),
    /// Drawn as `transformers` draws them.
    Start(Start),
}

/// Adds parameters with their first values.
pub(super) struct Loader<'a> {
    builder: &'a mut DenseParametersBuilder,
    source: Source,
    /// Spread of weights that are drawn.
    deviation: f64,
}

enum Source {
    Files(WeightFiles),
    Trained(MappedArrays, PathBuf),
    Start(Start),
}

/// How a tensor that is not drawn by chance starts.
#[derive(Clone, Copy)]
enum Fill {
    Normal,
    Zeros,
    Ones,
}

/// A tensor of a file and the form in which it is used.
pub(super) struct FileTensor {
    name: String,
    file_shape: Vec<i64>,
    /// Same numbers in the same order.
    shape: Vec<i64>,
    /// Whether rows then become columns.
    is_transposed: bool,
}

impl FileTensor {
    /// A tensor that is used as it is.
    pub(super) fn plain(name: impl Into<String>, shape: &[i64]) -> Self {
        Self::viewed(name, shape, shape)
    }

    /// A tensor that is used in another shape.
    pub(super) fn viewed(name: impl Into<String>, file_shape: &[i64], shape: &[i64]) -> Self {
        Self {
            name: name.into(),
            file_shape: file_shape.to_vec(),
            shape: shape.to_vec(),
            is_transposed: false,
        }
    }

    /// The same with rows for columns.
    pub(super) fn transposed(mut self) -> Self {
        self.is_transposed = true;
        self
    }

    fn final_shape(&self) -> Vec<i64> {
        let mut shape = self.shape.clone();
        if self.is_transposed {
            shape.reverse();
        }
        shape
    }

    fn read(&self, files: &WeightFiles) -> Result<Tensor> {
        let tensor = files
            .tensor(&self.name, &self.file_shape)?
            .view(self.shape.as_slice());
        Ok(if self.is_transposed {
            tensor.tr()
        } else {
            tensor
        })
    }
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        architecture: &Architecture,
        builder: &'a mut DenseParametersBuilder,
        weights: Weights<'_>,
    ) -> Result<Self> {
        let source = match weights {
            Weights::Folder(folder) if trained_folder::is_model(folder) => {
                Source::trained(trained_folder::weight_file(folder))?
            }
            Weights::File(path) => Source::trained(path.to_owned())?,
            Weights::Folder(folder) => {
                let first_tensor = tensor_names::word_table(architecture.kind());
                Source::Files(WeightFiles::open(folder, first_tensor)?)
            }
            Weights::Start(start) => Source::Start(start),
        };
        Ok(Self {
            builder,
            source,
            deviation: architecture.initializer_range,
        })
    }

    /// A parameter from tensors below one another that otherwise starts with normal numbers.
    pub(super) fn matrix(&mut self, name: &str, tensors: &[FileTensor]) -> Result<ParameterId> {
        self.add(name, tensors, Fill::Normal)
    }

    /// Keeps weight decay from a parameter.
    pub(super) fn leave_undecayed(&mut self, id: ParameterId) {
        self.builder.leave_undecayed(id);
    }

    /// A product with matrices below one another, with a number added to each output.
    pub(super) fn linear(
        &mut self,
        name: &str,
        file_names: &[&str],
        [outputs, inputs]: [i64; 2],
    ) -> Result<Linear> {
        let tensors = |part: &str, shape: &[i64]| -> Vec<FileTensor> {
            let named = file_names.iter().map(|name| format!("{name}.{part}"));
            named.map(|name| FileTensor::plain(name, shape)).collect()
        };
        let weights = tensors("weight", &[outputs, inputs]);
        let biases = tensors("bias", &[outputs]);
        Ok(Linear {
            weight: self.add(&format!("{name}.weight"), &weights, Fill::Normal)?,
            bias: Some(self.add(&format!("{name}.bias"), &biases, Fill::Zeros)?),
        })
    }

    pub(super) fn norm(
        &mut self,
        name: &str,
        file_name: &str,
        width: i64,
        eps: f64,
    ) -> Result<Norm> {
        let tensor = |part: &str| [FileTensor::plain(format!("{file_name}.{part}"), &[width])];
        Ok(Norm {
            weight: self.add(&format!("{name}.weight"), &tensor("weight"), Fill::Ones)?,
            bias: Some(self.add(&format!("{name}.bias"), &tensor("bias"), Fill::Zeros)?),
            width,
            eps,
        })
    }

    pub(super) fn norm_without_bias(
        &mut self,
        name: &str,
        file_name: &str,
        width: i64,
        eps: f64,
    ) -> Result<Norm> {
        let tensor = FileTensor::plain(format!("{file_name}.weight"), &[width]);
        Ok(Norm {
            weight: self.add(&format!("{name}.weight"), &[tensor], Fill::Ones)?,
            bias: None,
            width,
            eps,
        })
    }

    fn add(&mut self, name: &str, tensors: &[FileTensor], fill: Fill) -> Result<ParameterId> {
        let value = match &self.source {
            Source::Files(files) => {
                let parts: Vec<Tensor> = tensors
                    .iter()
                    .map(|tensor| tensor.read(files))
                    .collect::<Result<_>>()?;
                Tensor::cat(&parts, 0)
            }
            Source::Trained(arrays, path) => {
                trained_folder::read(arrays, path, name, &final_shape(tensors))?
            }
            Source::Start(start) => {
                let shape = final_shape(tensors);
                match fill {
                    Fill::Normal => start.named(name).normal(&shape, self.deviation),
                    Fill::Zeros => zeros(&shape),
                    Fill::Ones => ones(&shape),
                }
            }
        };
        Ok(self.builder.add(name, value))
    }
}

impl Source {
    fn trained(path: PathBuf) -> Result<Self> {
        Ok(Self::Trained(MappedArrays::open(&path)?, path))
    }
}

/// The shape of tensors below one another.
fn final_shape(tensors: &[FileTensor]) -> Vec<i64> {
    let shapes: Vec<Vec<i64>> = tensors.iter().map(FileTensor::final_shape).collect();
    let mut shape = shapes[0].clone();
    shape[0] = shapes.iter().map(|shape| shape[0]).sum();
    shape
}

#[cfg(test)]
mod tests {
    use plethora_core::SeedStream;
    use tch::{Device, Kind};

    use super::super::{Transformer, golden};
    use super::*;

    fn names_and_shapes(weights: Weights<'_>, kind: &str) -> Vec<String> {
        let architecture = Architecture::read(&golden::folder(kind)).unwrap();
        let mut builder = DenseParametersBuilder::default();
        Transformer::new(&architecture, &golden::config(), &mut builder, weights).unwrap();
        let parameters = builder.finish(Device::Cpu);
        let described = parameters.iter();
        described
            .map(|(name, value)| format!("{name} {:?}", value.size()))
            .collect()
    }

    #[test]
    fn names_and_shapes_are_the_same_wherever_weights_come_from() {
        for kind in golden::KINDS {
            let folder = golden::folder(kind);
            let loaded = names_and_shapes(Weights::Folder(&folder), kind);
            let blank = names_and_shapes(Weights::Start(Start::blank()), kind);
            assert_eq!(loaded, blank);
        }
    }

    #[test]
    fn names_stay_as_model_folders_have_them() {
        let layer = [
            "attention.qkv.weight [96, 32]",
            "attention.qkv.bias [96]",
            "attention.output.weight [32, 32]",
            "attention.output.bias [32]",
            "attention.norm.weight [32]",
            "attention.norm.bias [32]",
            "feed_forward.inner.weight [40, 32]",
            "feed_forward.inner.bias [40]",
            "feed_forward.outer.weight [32, 40]",
            "feed_forward.outer.bias [32]",
            "feed_forward.norm.weight [32]",
            "feed_forward.norm.bias [32]",
        ];
        let mut expected = vec![
            "encoder.embeddings.word [60, 32]".to_owned(),
            "encoder.embeddings.position [48, 32]".to_owned(),
            "encoder.embeddings.norm.weight [32]".to_owned(),
            "encoder.embeddings.norm.bias [32]".to_owned(),
            "encoder.distances [32, 4]".to_owned(),
        ];
        for number in 0..2 {
            expected.extend(layer.map(|part| format!("encoder.layer.{number}.{part}")));
        }
        let start = || Weights::Start(Start::blank());
        assert_eq!(names_and_shapes(start(), "mpnet"), expected);
        let of_first_layer = |name: &&String| name.starts_with("encoder.layer.0.attention");
        let xlnet = names_and_shapes(start(), "xlnet");
        let xlnet: Vec<&str> = xlnet
            .iter()
            .filter(of_first_layer)
            .map(|name| &name[25..])
            .collect();
        let expected = [
            ".qkv.weight [96, 32]",
            ".output.weight [32, 32]",
            ".content_bias [32]",
            ".distance_bias [32]",
            ".segment_bias [32]",
            ".segments [2, 32]",
            ".distances.weight [32, 32]",
            ".norm.weight [32]",
            ".norm.bias [32]",
        ];
        assert_eq!(xlnet, expected);
    }

    #[test]
    fn fresh_weights_spread_as_the_configuration_says() {
        let architecture = Architecture::read(&golden::folder("bert")).unwrap();
        let mut builder = DenseParametersBuilder::default();
        let weights = Weights::Start(Start::seeded(SeedStream::new(1)));
        Transformer::new(&architecture, &golden::config(), &mut builder, weights).unwrap();
        for (name, value) in builder.finish(Device::Cpu).iter() {
            let deviation = value.std(true).double_value(&[]);
            let mean = value.mean(Kind::Float).double_value(&[]);
            let is_norm = name.ends_with("norm.weight");
            let spread = if value.dim() > 1 { 0.02 } else { 0.0 };
            assert!((deviation - spread).abs() < 3e-3, "{name} {deviation}");
            assert!(
                (mean - f64::from(u8::from(is_norm))).abs() < 5e-3,
                "{name} {mean}"
            );
        }
    }
}
