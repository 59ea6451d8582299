//! From what the neighbours bring to vectors that can be read.

use tch::{Kind, Tensor};

use super::attention::States;
use super::batch::TeacherOnDevice;
use super::config::TeacherTokens;
use super::network::TReaderSetup;
use crate::parameters::{DenseParametersBuilder, ParameterId, Parameters, RowTable, TableRows};

/// Spread of the vector that every teacher's sequence begins with.
const START_SPREAD: f64 = 0.1;

/// Spread of the vectors that labels start with.
const LABEL_SPREAD: f64 = 0.1;

/// Makes the sequence of labels that is read.
#[derive(Debug)]
pub(super) struct LabelTokens {
    kind: TokenKind,
    /// The first vector of each sequence, so that there is something to read without neighbours.
    start: ParameterId,
}

/// What a token is.
#[derive(Debug)]
enum TokenKind {
    /// What all labels have at one place of their names.
    Positions,
    /// A label.
    Labels {
        vectors: LabelVectors,
        /// What votes add to a label's vector.
        weight: Option<ParameterId>,
    },
}

/// What labels are read as; their own vectors are rows of a table.
#[derive(Debug, Clone, Copy)]
enum LabelVectors {
    /// Their names.
    Names,
    /// Their own vectors.
    Own(usize),
    /// The sum of both.
    Both(usize),
}

/// What tokens are made of.
pub(super) struct TokenSources<'a> {
    pub(super) parameters: &'a Parameters,
    /// rows x width: the vectors of the batch's words.
    pub(super) words: &'a Tensor,
    /// Numbers of the labels that neighbours bring.
    pub(super) labels: &'a Tensor,
}

impl LabelTokens {
    /// Adds a table of label vectors where labels have some of their own.
    pub(super) fn new(
        setup: &TReaderSetup<'_>,
        builder: &mut DenseParametersBuilder,
        tables: &mut Vec<RowTable>,
    ) -> Self {
        let (teacher, start) = (&setup.config.teacher, setup.start);
        let width = setup.config.vectors.width as i64;
        let mut table = || {
            let shape = [setup.num_known as i64, width];
            let vectors = start.named("label vectors").normal(&shape, LABEL_SPREAD);
            let table = RowTable::new("label_vectors", &vectors, true, setup.device);
            tables.push(table.of_labels());
            tables.len() - 1
        };
        let first = start.named("teacher start").normal(&[width], START_SPREAD);
        let first = builder.add("teacher.start", first);
        let zeros = || Tensor::zeros([width], (Kind::Float, tch::Device::Cpu));
        let kind = match teacher.tokens {
            TeacherTokens::Positions => TokenKind::Positions,
            TeacherTokens::Labels => TokenKind::Labels {
                vectors: match (teacher.label_text, teacher.label_vectors) {
                    (true, false) => LabelVectors::Names,
                    (true, true) => LabelVectors::Both(table()),
                    (false, _) => LabelVectors::Own(table()),
                },
                weight: (teacher.weights).then(|| builder.add("teacher.weight", zeros())),
            },
        };
        Self { kind, start: first }
    }

    /// The tokens, and the rows of the label table that they were made of.
    ///
    /// # Shapes
    /// Gives documents x (1 + labels, or words of labels) x width.
    pub(super) fn forward(
        &self,
        teacher: &TeacherOnDevice,
        sources: &TokenSources<'_>,
    ) -> (States, Option<TableRows>) {
        let dense = &sources.parameters.dense;
        let (tokens, mask, rows) = match &self.kind {
            TokenKind::Positions => {
                let (tokens, mask) = positions(teacher, sources.words);
                (tokens, mask, None)
            }
            TokenKind::Labels { vectors, weight } => {
                let (of_labels, rows) = vectors.forward(teacher, sources);
                let tokens = Tensor::embedding(&of_labels, &teacher.places, -1, false, false);
                let tokens = match *weight {
                    Some(weight) => {
                        let strengths = teacher.strengths.to_kind(tokens.kind()).unsqueeze(2);
                        tokens + strengths * dense.computed(weight)
                    }
                    None => tokens,
                };
                (tokens, teacher.mask.shallow_clone(), rows)
            }
        };
        let size = tokens.size();
        let start = dense.computed(self.start);
        let start = start.expand([size[0], 1, size[2]], false);
        let always = mask.new_ones([size[0], 1], (Kind::Bool, mask.device()));
        let states = States {
            values: Tensor::cat(&[start, tokens], 1),
            mask: Some(Tensor::cat(&[always, mask], 1)),
            has_gaps: false,
        };
        (states, rows)
    }
}

impl LabelVectors {
    /// labels x width, and the rows of the table.
    fn forward(
        self,
        teacher: &TeacherOnDevice,
        sources: &TokenSources<'_>,
    ) -> (Tensor, Option<TableRows>) {
        let own = |table: usize| {
            let rows = sources.parameters.tables[table].gather(table, sources.labels);
            (rows.leaf.to_kind(sources.words.kind()), Some(rows))
        };
        match self {
            Self::Names => (names(teacher, sources.words), None),
            Self::Own(table) => own(table),
            Self::Both(table) => {
                let (own, rows) = own(table);
                (names(teacher, sources.words) + own, rows)
            }
        }
    }
}

/// labels x width: the mean of the words of each name.
fn names(teacher: &TeacherOnDevice, words: &Tensor) -> Tensor {
    let words = of_words(teacher, words);
    let kind = [1].as_slice();
    let sums = words.sum_dim_intlist(kind, false, words.kind());
    sums / teacher.word_counts.to_kind(words.kind()).unsqueeze(1)
}

/// labels x words x width; zero behind the end of a name.
fn of_words(teacher: &TeacherOnDevice, words: &Tensor) -> Tensor {
    Tensor::embedding(words, &teacher.label_words, 0, false, false)
}

/// documents x words x width: the mean of all labels' words at each place, and where there are some.
fn positions(teacher: &TeacherOnDevice, words: &Tensor) -> (Tensor, Tensor) {
    let vectors = of_words(teacher, words);
    let size = vectors.size();
    let chosen = Tensor::embedding(&vectors.flatten(1, 2), &teacher.places, -1, false, false);
    let inside = teacher.mask.to_kind(vectors.kind()).unsqueeze(2);
    let labels = [1].as_slice();
    let counts = inside
        .sum_dim_intlist(labels, false, vectors.kind())
        .clamp_min(1.0);
    let sums = (chosen * &inside).sum_dim_intlist(labels, false, vectors.kind());
    let means = (sums / counts).view([-1, size[1], size[2]]);
    let longest = Tensor::embedding(
        &teacher.word_counts.unsqueeze(1),
        &teacher.places,
        -1,
        false,
        false,
    )
    .squeeze_dim(2)
    .masked_fill(&teacher.mask.logical_not(), 0.0)
    .amax(1, true);
    let places = Tensor::arange(size[1], (Kind::Float, words.device()));
    (means, places.lt_tensor(&longest))
}
