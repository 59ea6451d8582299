//! From what the neighbours bring to vectors that can be read.

use tch::{Kind, Tensor};

use super::attention::States;
use super::batch::TeacherOnDevice;
use super::config::{TReaderConfig, TeacherTokens};
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;

/// Spread of the vector that every teacher's sequence begins with.
const START_SPREAD: f64 = 0.1;

/// Makes the sequence of labels that is read.
#[derive(Debug)]
pub(super) struct LabelTokens {
    kind: TeacherTokens,
    has_text: bool,
    /// The first vector of each sequence, so that there is something to read without neighbours.
    start: ParameterId,
    /// What votes add to a label's vector.
    weight: Option<ParameterId>,
}

/// Vectors that tokens are made of.
pub(super) struct TokenVectors<'a> {
    /// rows x width: those of the batch's words.
    pub(super) words: &'a Tensor,
    /// labels x width: those that labels have of their own.
    pub(super) labels: Option<&'a Tensor>,
}

impl LabelTokens {
    pub(super) fn new(
        config: &TReaderConfig,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let width = config.vectors.width as i64;
        let first = start.named("teacher start").normal(&[width], START_SPREAD);
        let zeros = || Tensor::zeros([width], (Kind::Float, tch::Device::Cpu));
        let teacher = &config.teacher;
        let has_weight = teacher.weights && teacher.tokens == TeacherTokens::Labels;
        Self {
            kind: teacher.tokens,
            has_text: teacher.label_text,
            start: builder.add("teacher.start", first),
            weight: has_weight.then(|| builder.add("teacher.weight", zeros())),
        }
    }

    /// # Shapes
    /// Gives documents x (1 + labels, or words of labels) x width.
    pub(super) fn forward(
        &self,
        parameters: &DenseParameters,
        teacher: &TeacherOnDevice,
        vectors: &TokenVectors<'_>,
    ) -> States {
        let (tokens, mask) = match self.kind {
            TeacherTokens::Labels => {
                let tokens = self.labels(parameters, teacher, vectors);
                (tokens, teacher.mask.shallow_clone())
            }
            TeacherTokens::Positions => positions(teacher, vectors.words),
        };
        let size = tokens.size();
        let start = parameters.computed(self.start);
        let start = start.expand([size[0], 1, size[2]], false);
        let always = mask.new_ones([size[0], 1], (Kind::Bool, mask.device()));
        States {
            states: Tensor::cat(&[start, tokens], 1),
            mask: Some(Tensor::cat(&[always, mask], 1)),
        }
    }

    /// documents x labels x width: name, own vector and votes of each.
    fn labels(
        &self,
        parameters: &DenseParameters,
        teacher: &TeacherOnDevice,
        vectors: &TokenVectors<'_>,
    ) -> Tensor {
        let of_text = self.has_text.then(|| {
            let words = of_words(teacher, vectors.words);
            let kind = [1].as_slice();
            let sums = words.sum_dim_intlist(kind, false, words.kind());
            sums / teacher.word_counts.to_kind(words.kind()).unsqueeze(1)
        });
        let of_labels = match (of_text, vectors.labels) {
            (Some(text), Some(own)) => text + own,
            (Some(text), None) => text,
            (None, Some(own)) => own.shallow_clone(),
            (None, None) => unreachable!("settings without anything to read are refused"),
        };
        let tokens = Tensor::embedding(&of_labels, &teacher.places, -1, false, false);
        match self.weight {
            Some(weight) => {
                let strengths = teacher.strengths.to_kind(tokens.kind()).unsqueeze(2);
                tokens + strengths * parameters.computed(weight)
            }
            None => tokens,
        }
    }
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
