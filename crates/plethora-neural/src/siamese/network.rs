//! What is trained: an encoder of documents and names, or a matrix behind one, and free vectors of labels.

use plethora_core::IndexRows;
use tch::{Device, Kind, Tensor};

use super::batches::{SiameseBatch, Side};
use super::config::SiameseConfig;
use super::loss::decoupled_softmax;
use super::tensors::{half_bits, rows_of, unit};
use super::training_set::Texts;
use crate::Result;
use crate::dense::text_vectors::TextVectors;
use crate::parameters::{DenseParametersBuilder, ParameterId, Parameters, RowTable};
use crate::pretrained::{Cut, at_rest};
use crate::systems::rankings::flat;
use crate::systems::vectors::Vectors;
use crate::train::{Learnt, Network, StepPart};
use crate::transformer::PieceInput;

/// The table of free vectors.
const FREE_TABLE: usize = 0;

/// Vectors that are multiplied together.
const ROWS_AT_ONCE: usize = 1 << 15;

/// Documents and names in, similarities out.
#[derive(Debug)]
pub(super) struct SiameseNetwork {
    base: Base,
    temperature: f64,
    device: Device,
}

/// Where vectors come from.
#[derive(Debug)]
enum Base {
    /// From an encoder that stays as it is, through a matrix that learns.
    Projected {
        parameters: Parameters,
        projection: ParameterId,
    },
    /// From an encoder that learns.
    Encoded(Box<TextVectors>),
}

impl SiameseNetwork {
    /// A matrix that changes nothing yet, behind vectors of `width` numbers.
    pub(super) fn projected(
        config: &SiameseConfig,
        width: usize,
        num_free: usize,
        device: Device,
    ) -> Self {
        let mut builder = DenseParametersBuilder::default();
        let start = Tensor::eye(width as i64, (Kind::Float, Device::Cpu));
        let projection = builder.add("projection", start);
        // Decay would pull what changes nothing to zero.
        builder.leave_undecayed(projection);
        let parameters = Parameters {
            dense: builder.finish(device),
            tables: free_tables(config, num_free, width, device),
        };
        Self {
            base: Base::Projected {
                parameters,
                projection,
            },
            temperature: config.labels.temperature,
            device,
        }
    }

    /// An encoder that learns.
    pub(super) fn encoded(
        config: &SiameseConfig,
        mut encoder: TextVectors,
        num_free: usize,
    ) -> Self {
        let width = encoder.encoder().width();
        let device = encoder.encoder().device();
        let parameters = encoder.encoder_mut().parameters_mut();
        parameters.tables = free_tables(config, num_free, width, device);
        Self {
            base: Base::Encoded(Box::new(encoder)),
            temperature: config.labels.temperature,
            device,
        }
    }

    /// The vectors of texts as they are now, of unit length.
    pub(super) fn vectors(&self, texts: &Texts) -> Result<Vectors> {
        match (&self.base, texts) {
            (
                Base::Projected {
                    parameters,
                    projection,
                },
                Texts::Vectors(vectors),
            ) => {
                let matrix = parameters.dense.get(*projection);
                Ok(tch::no_grad(|| projected(vectors, matrix, self.device)))
            }
            (Base::Encoded(encoder), Texts::Pieces(sequences)) => encoded(encoder, sequences),
            _ => unreachable!("texts are read for the network that reads them"),
        }
    }

    /// The free vectors, one behind the other; none where labels have none.
    pub(super) fn free(&self) -> Option<Vec<f32>> {
        let table = self.parameters().tables.first()?;
        Some(flat(table.values()))
    }

    /// The matrix, row by row.
    pub(super) fn projection(&self) -> Option<Vec<f32>> {
        match &self.base {
            Base::Projected {
                parameters,
                projection,
            } => Some(flat(&parameters.dense.get(*projection).detach())),
            Base::Encoded(_) => None,
        }
    }

    /// Makes what is computed with what the weights are now.
    pub(super) fn refresh(&self) {
        self.parameters().dense.refresh();
    }

    /// The encoder without what only training needs, where it has learnt.
    pub(super) fn into_encoder(self) -> Option<TextVectors> {
        match self.base {
            Base::Projected { .. } => None,
            Base::Encoded(mut encoder) => {
                let parameters = encoder.encoder_mut().parameters_mut();
                parameters.dense.refresh();
                parameters.tables.clear();
                parameters.dense.end_training();
                Some(*encoder)
            }
        }
    }

    /// The vectors of a side of a batch, of unit length, as part of the graph.
    fn side(&self, side: &Side, seed: i64) -> Tensor {
        match (&self.base, side) {
            (
                Base::Projected {
                    parameters,
                    projection,
                },
                Side::Vectors(rows),
            ) => {
                let matrix = parameters.dense.get(*projection);
                unit(&rows.to_device(self.device).matmul(&matrix.transpose(0, 1)))
            }
            (Base::Encoded(encoder), Side::Pieces(batch)) => {
                let encoder = encoder.encoder();
                let pieces = batch.to_device(self.device);
                let input = PieceInput {
                    is_training: true,
                    drops: true,
                    seed,
                    ..at_rest(&pieces)
                };
                let dense = &encoder.parameters().dense;
                unit(&encoder.transformer().forward(dense, &input).vector)
            }
            _ => unreachable!("batches are made for the network that reads them"),
        }
    }
}

/// Free vectors, which start at nothing: names say all there is.
fn free_tables(
    config: &SiameseConfig,
    num_free: usize,
    width: usize,
    device: Device,
) -> Vec<RowTable> {
    let start = || Tensor::zeros([num_free as i64, width as i64], (Kind::Float, Device::Cpu));
    let table = config
        .labels
        .free
        .then(|| RowTable::new("free", &start(), true, device).of_labels());
    table.into_iter().collect()
}

fn projected(vectors: &Vectors, matrix: &Tensor, device: Device) -> Vectors {
    let mut all = Vectors::new(vectors.width());
    let rows: Vec<u32> = (0..vectors.len() as u32).collect();
    for rows in rows.chunks(ROWS_AT_ONCE) {
        let rows = rows_of(vectors, rows.iter().copied()).to_device(device);
        let bits = half_bits(&unit(&rows.matmul(&matrix.transpose(0, 1))));
        for row in bits.chunks(vectors.width()) {
            all.push(row);
        }
    }
    all
}

fn encoded(encoder: &TextVectors, sequences: &IndexRows) -> Result<Vectors> {
    let reader = encoder.reader();
    let device = encoder.encoder().device();
    let cut = Cut::new(reader.max_length, reader.pieces.num_after(), device);
    encoder.encoder().vectors(sequences, cut, |_| Ok(()))
}

impl Network for SiameseNetwork {
    type Batch = SiameseBatch;

    fn parameters(&self) -> &Parameters {
        match &self.base {
            Base::Projected { parameters, .. } => parameters,
            Base::Encoded(encoder) => encoder.encoder().parameters(),
        }
    }

    fn learn(&self, batch: &SiameseBatch, step: &StepPart<'_>) -> Result<Learnt> {
        let parameters = self.parameters();
        parameters.dense.refresh();
        let documents = self.side(&batch.documents, step.seed);
        let is_named = batch.is_named.to_device(self.device);
        let names = self.side(&batch.names, step.seed.wrapping_add(1)) * is_named;
        let free = parameters.tables.first();
        let free = free.map(|table| table.gather(FREE_TABLE, &batch.known));
        let labels = match &free {
            Some(rows) => {
                let num_known = batch.known.size()[0];
                let known = unit(&(names.narrow(0, 0, num_known) + &rows.leaf));
                let others = names.narrow(0, num_known, names.size()[0] - num_known);
                Tensor::cat(&[known, others], 0)
            }
            None => names,
        };
        let scores = documents.matmul(&labels.transpose(0, 1)) / self.temperature;
        let loss = decoupled_softmax(&scores, &batch.truth.to_device(self.device));
        (&loss * step.scale).backward();
        parameters.dense.collect();
        Ok(Learnt {
            loss: loss.detach(),
            rows: free.into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::Result as CoreResult;
    use serde::Deserialize;

    use super::*;
    use crate::train::MomentumStep;

    /// See `testdata/siamese/make_golden.py`.
    #[derive(Deserialize)]
    struct Golden {
        temperature: f64,
        documents: Vec<Vec<f32>>,
        names: Vec<Vec<f32>>,
        is_named: Vec<f32>,
        truth: Vec<Vec<bool>>,
        projection: Vec<Vec<f32>>,
        free: Vec<Vec<f32>>,
        loss: f64,
        projection_gradient: Vec<Vec<f32>>,
        free_gradient: Vec<Vec<f32>>,
    }

    fn matrix(rows: &[Vec<f32>]) -> Tensor {
        let values: Vec<f32> = rows.concat();
        Tensor::from_slice(&values).view([rows.len() as i64, rows[0].len() as i64])
    }

    fn assert_close(found: &Tensor, expected: &[Vec<f32>]) {
        let far = (found - matrix(expected)).abs().max().double_value(&[]);
        assert!(far < 2e-5, "{far}: {found:?}");
    }

    #[test]
    fn loss_and_gradients_are_those_of_another_program() -> CoreResult<()> {
        let text = include_str!("../../../../testdata/siamese/golden.json");
        let golden: Golden = serde_json::from_str(text).unwrap();
        let (width, num_labels) = (golden.projection.len(), golden.names.len());
        let mut config: SiameseConfig = super::super::family::settled_recipe();
        config.labels.temperature = golden.temperature;
        let network = SiameseNetwork::projected(&config, width, num_labels, Device::Cpu);
        let Base::Projected {
            parameters,
            projection,
        } = &network.base
        else {
            unreachable!("the network was made so")
        };
        let set = |tensor: &Tensor, rows: &[Vec<f32>]| {
            tch::no_grad(|| tensor.shallow_clone().copy_(&matrix(rows)));
        };
        set(parameters.dense.get(*projection), &golden.projection);
        set(parameters.tables[0].values(), &golden.free);
        let truth: Vec<bool> = golden.truth.concat();
        let batch = SiameseBatch {
            documents: Side::Vectors(matrix(&golden.documents)),
            names: Side::Vectors(matrix(&golden.names)),
            is_named: Tensor::from_slice(&golden.is_named).unsqueeze(1),
            known: Tensor::arange(num_labels as i64, (Kind::Int64, Device::Cpu)),
            truth: Tensor::from_slice(&truth).view([golden.documents.len() as i64, -1]),
        };
        let step = StepPart {
            scale: 0.5,
            seed: 0,
            epoch_progress: 0.0,
            momentum: MomentumStep::none(),
        };
        let learnt = network.learn(&batch, &step)?;
        assert!((learnt.loss.double_value(&[]) - golden.loss).abs() < 1e-5);
        let of_projection = parameters.dense.gradient(*projection) * 2.0;
        assert_close(&of_projection, &golden.projection_gradient);
        assert_close(&(learnt.rows[0].leaf.grad() * 2.0), &golden.free_gradient);
        Ok(())
    }
}
