//! A network small enough to train in a test, with all that the loop has to deal with: dense
//! parameters, a label matrix, a trained and a fixed table, and dropout.

use std::collections::BTreeSet;

use plethora_neural::parameters::{
    DenseParametersBuilder, ParameterId, Parameters, RowTable, TableRows,
};
use plethora_neural::train::{BatchMaker, Learnt, Network, StepPart, Validation, Validator};
use plethora_neural::{Error, Result};
use tch::{Device, Kind, Reduction, Tensor};

const NUM_WORDS: usize = 30;
const NUM_LABELS: usize = 4;
pub(crate) const WIDTH: i64 = 6;

/// Mean of word vectors, dropout, one linear layer.
pub(crate) struct ToyNetwork {
    parameters: Parameters,
    label_weights: ParameterId,
    bias: ParameterId,
    dropout: f64,
    /// The step after which the loss is no number.
    pub(crate) poisoned_after: Option<u64>,
    /// The batch at which `learn` fails as if the process had died.
    pub(crate) dies_at: Option<u64>,
    /// Batches learnt from.
    pub(crate) num_learnt: std::cell::Cell<u64>,
}

/// Documents as the network takes them.
pub(crate) struct ToyBatch {
    /// Words that the batch has.
    rows: Vec<i64>,
    /// Share of each word in each document.
    shares: Vec<f32>,
    targets: Vec<f32>,
}

/// Documents whose labels follow from their words.
pub(crate) struct ToyDocuments {
    documents: Vec<Vec<usize>>,
}

impl ToyNetwork {
    pub(crate) fn new(dropout: f64) -> Self {
        Self::with(dropout, WIDTH, Device::Cpu)
    }

    pub(crate) fn with(dropout: f64, width: i64, device: Device) -> Self {
        // Start values without a generator: tests in one process share libtorch's.
        let start = |rows: i64, columns: i64, phase: f64| {
            let numbers = Tensor::arange(rows * columns, (Kind::Float, Device::Cpu));
            (numbers * 1.7 + phase).sin().view([rows, columns]) * 0.5
        };
        let mut builder = DenseParametersBuilder::default();
        let bias = builder.add("bias", Tensor::zeros([4], (Kind::Float, Device::Cpu)));
        let weights = start(width, NUM_LABELS as i64, 0.3);
        let label_weights = builder.add_label_matrix("labels", weights);
        let words = start(NUM_WORDS as i64, width, 0.9);
        let fixed = start(NUM_WORDS as i64, width, 2.0);
        Self {
            parameters: Parameters {
                dense: builder.finish(device),
                tables: vec![
                    RowTable::new("words", &words, true, device),
                    RowTable::new("fixed", &fixed, false, device),
                ],
            },
            label_weights,
            bias,
            dropout,
            poisoned_after: None,
            dies_at: None,
            num_learnt: std::cell::Cell::new(0),
        }
    }

    /// All numbers, trained or not.
    pub(crate) fn weights(&self) -> Vec<f32> {
        let dense = self.parameters.dense.iter().map(|(_, values)| values);
        let tables = self.parameters.tables.iter().map(RowTable::values);
        dense
            .chain(tables)
            .flat_map(|tensor| Vec::<f32>::try_from(tensor.flatten(0, -1)).unwrap())
            .collect()
    }

    fn gather(&self, batch: &ToyBatch) -> Vec<TableRows> {
        let rows = Tensor::from_slice(&batch.rows);
        let tables = self.parameters.tables.iter().enumerate();
        tables
            .map(|(index, table)| table.gather(index, &rows))
            .collect()
    }

    fn loss(&self, batch: &ToyBatch, rows: &[TableRows], is_training: bool) -> Tensor {
        let device = self.parameters.dense.values().device();
        let to_device = |numbers: &[f32], width: usize| {
            Tensor::from_slice(numbers)
                .to_device(device)
                .view([-1, width as i64])
        };
        let shares = to_device(&batch.shares, batch.rows.len());
        let vectors = shares.matmul(&(&rows[0].leaf + &rows[1].leaf));
        let vectors = vectors.dropout(self.dropout, is_training);
        let logits = vectors.matmul(self.parameters.dense.get(self.label_weights))
            + self.parameters.dense.get(self.bias);
        let targets = to_device(&batch.targets, NUM_LABELS);
        let losses = logits.binary_cross_entropy_with_logits(
            &targets,
            None::<Tensor>,
            None::<Tensor>,
            Reduction::None,
        );
        losses
            .sum_dim_intlist(1, false, Kind::Float)
            .mean(Kind::Float)
    }
}

impl Network for ToyNetwork {
    type Batch = ToyBatch;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn learn(&self, batch: &ToyBatch, step: &StepPart<'_>) -> Result<Learnt> {
        let learnt = self.num_learnt.get();
        self.num_learnt.set(learnt + 1);
        if Some(learnt) == self.dies_at {
            return Err(Error::Torch("the machine is gone".to_owned()));
        }
        let rows = self.gather(batch);
        let loss = self.loss(batch, &rows, true);
        (&loss * step.scale).backward();
        let loss = match self.poisoned_after {
            Some(step) if learnt > step => loss * f64::NAN,
            _ => loss,
        };
        Ok(Learnt { loss, rows })
    }
}

impl ToyDocuments {
    pub(crate) fn new(num_documents: usize) -> Self {
        let words = |document: usize| {
            let len = 1 + (document * 7) % 9;
            (0..len)
                .map(|word| (document * 11 + word * 5) % NUM_WORDS)
                .collect()
        };
        Self {
            documents: (0..num_documents).map(words).collect(),
        }
    }
}

impl BatchMaker for ToyDocuments {
    type Batch = ToyBatch;

    fn num_documents(&self) -> usize {
        self.documents.len()
    }

    fn length(&self, document: usize) -> usize {
        self.documents[document].len()
    }

    fn make(&self, documents: &[u32]) -> ToyBatch {
        let documents = documents
            .iter()
            .map(|&document| &self.documents[document as usize]);
        let rows: BTreeSet<usize> = documents.clone().flatten().copied().collect();
        let rows: Vec<usize> = rows.into_iter().collect();
        let mut shares = Vec::new();
        let mut targets = Vec::new();
        for words in documents {
            let count = |row: usize| words.iter().filter(|&&word| word == row).count();
            shares.extend(
                rows.iter()
                    .map(|&row| count(row) as f32 / words.len() as f32),
            );
            let has = |label: usize| words.iter().any(|word| word % (label + 3) == 0);
            targets.extend((0..NUM_LABELS).map(|label| f32::from(u8::from(has(label)))));
        }
        ToyBatch {
            rows: rows.into_iter().map(|row| row as i64).collect(),
            shares,
            targets,
        }
    }
}

/// Scores a network by its loss on some documents, negated.
pub(crate) struct ToyValidator {
    pub(crate) batch: ToyBatch,
    /// Scores to give instead, one after another.
    pub(crate) scores: Option<Vec<f64>>,
    /// The validation that is interrupted.
    pub(crate) interrupted_at: Option<usize>,
    pub(crate) num_validations: usize,
    /// Weights seen at each validation.
    pub(crate) seen: Vec<Vec<f32>>,
}

impl Default for ToyValidator {
    fn default() -> Self {
        let documents: Vec<u32> = (40..60).collect();
        Self {
            batch: ToyDocuments::new(60).make(&documents),
            scores: None,
            interrupted_at: None,
            num_validations: 0,
            seen: Vec::new(),
        }
    }
}

impl Validator<ToyNetwork> for ToyValidator {
    fn validate(&mut self, network: &ToyNetwork) -> Result<Validation> {
        self.num_validations += 1;
        if self.interrupted_at == Some(self.num_validations - 1) {
            return Err(plethora_core::Error::Interrupted.into());
        }
        self.seen.push(network.weights());
        let loss = network.loss(&self.batch, &network.gather(&self.batch), false);
        let score = match &self.scores {
            Some(scores) => scores[self.num_validations - 1],
            None => -loss.double_value(&[]),
        };
        Ok(Validation {
            score,
            values: vec![("loss".to_owned(), -score), ("score".to_owned(), score)],
        })
    }
}
