//! Documents as the network takes them: words, and what their neighbours bring.

use plethora_core::ScoredLabel;
use plethora_core::text::Words;
use tch::{Device, Kind, Tensor};

use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use super::votes::Votes;
use crate::batch::numbered;
use crate::head::LabelPlaces;
use crate::transfer::upload;

/// Votes from which on a label stands out to a reader: strengths are logarithms of votes in units of
/// it.
const VOTE_UNIT: f32 = 0.01;

/// The words of a document and what its neighbours bring.
#[derive(Clone, Copy)]
pub(crate) struct DocumentWords<'a> {
    pub(crate) words: &'a [u32],
    /// Absent without a teacher.
    pub(crate) row: Option<&'a TeacherRow>,
}

/// Documents of one step, on the processor.
#[derive(Debug)]
pub(crate) struct TReaderBatch {
    /// The rows of the word table that occur, rising; the first is the padding.
    pub(super) rows: Tensor,
    /// documents x words: places in `rows`; behind its end a document has the padding.
    words: Tensor,
    /// Words of each document.
    lengths: Tensor,
    is_full: bool,
    pub(super) teacher: Option<TeacherBatch>,
    /// What the labels are; absent in prediction.
    pub(super) targets: Option<LabelPlaces>,
}

/// What the neighbours of a batch's documents bring.
#[derive(Debug)]
pub(super) struct TeacherBatch {
    /// Numbers of the labels and parents that occur, rising.
    pub(super) rows: Tensor,
    /// documents x labels: places in `rows`.
    places: Tensor,
    /// documents x labels: how strong each is, from 0 to 1; 0 behind the last.
    strengths: Tensor,
    /// Labels and parents of each document.
    lengths: Tensor,
    /// labels x words: places of their words in the rows of the word table.
    label_words: Tensor,
    /// labels: number of these words.
    word_counts: Tensor,
    votes: Votes,
}

/// The parts of a batch that are computed with, on the device.
pub(super) struct OnDevice {
    pub(super) words: Tensor,
    /// documents x words: true where a document has a word; absent where all are equally long.
    pub(super) mask: Option<Tensor>,
    pub(super) teacher: Option<TeacherOnDevice>,
}

/// As [`TeacherBatch`].
pub(super) struct TeacherOnDevice {
    pub(super) places: Tensor,
    pub(super) strengths: Tensor,
    /// documents x labels: true where a document has one.
    pub(super) mask: Tensor,
    pub(super) label_words: Tensor,
    pub(super) word_counts: Tensor,
    pub(super) votes: Votes,
}

impl TReaderBatch {
    /// A batch of documents; `teacher` knows the words of the labels that their neighbours bring, and
    /// is absent where there is none.
    pub(crate) fn new(documents: &[DocumentWords<'_>], teacher: Option<&Teacher>) -> Self {
        let brought = teacher.zip(brought_rows(documents));
        let mut occurring: Vec<u32> = documents
            .iter()
            .flat_map(|document| document.words.iter().copied())
            .collect();
        if let Some((teacher, known)) = &brought {
            let words = known.iter().flat_map(|&label| teacher.words(label));
            occurring.extend(words);
        }
        occurring.push(Words::PADDING);
        let (rows, place_of) = numbered(occurring);
        let sequences = documents.iter().map(|document| document.words);
        let (words, longest) = padded(sequences.clone(), |word| place_of[&word]);
        let lengths: Vec<i64> = sequences.map(|words| words.len() as i64).collect();
        Self {
            rows,
            words,
            is_full: lengths.iter().all(|&length| length == longest),
            lengths: Tensor::from_slice(&lengths),
            teacher: brought.map(|(teacher, known)| {
                let words = known.iter().map(|&label| teacher.words(label));
                let (label_words, _) = padded(words.clone(), |word| place_of[&word]);
                let counts: Vec<f32> = words.map(|words| words.len() as f32).collect();
                TeacherBatch::new(documents, (teacher, known), (label_words, &counts))
            }),
            targets: None,
        }
    }

    /// The batch with the true labels of its documents.
    pub(crate) fn with_labels<'a>(mut self, labels: impl Iterator<Item = &'a [u32]>) -> Self {
        self.targets = Some(LabelPlaces::new(labels));
        self
    }

    pub(super) fn to_device(&self, device: Device) -> OnDevice {
        let words = upload(&self.words, device);
        let mask = (!self.is_full).then(|| shorter(&self.lengths, words.size()[1], device));
        OnDevice {
            words,
            mask,
            teacher: self
                .teacher
                .as_ref()
                .map(|teacher| teacher.to_device(device)),
        }
    }
}

impl TeacherBatch {
    fn new(
        documents: &[DocumentWords<'_>],
        (teacher, known): (&Teacher, Vec<u32>),
        (label_words, word_counts): (Tensor, &[f32]),
    ) -> Self {
        let (rows, place_of) = numbered(known);
        let brought: Vec<&TeacherRow> = documents
            .iter()
            .filter_map(|document| document.row)
            .collect();
        let width = brought.iter().map(|row| row.tokens.len()).max();
        let width = width.unwrap_or(0).max(1);
        let mut places = vec![0_i32; brought.len() * width];
        let mut strengths = vec![0.0_f32; brought.len() * width];
        let lines = places.chunks_mut(width).zip(strengths.chunks_mut(width));
        for ((places, strengths), row) in lines.zip(&brought) {
            for ((place, strength), token) in places.iter_mut().zip(strengths).zip(&row.tokens) {
                *place = place_of[&token.label.0];
                *strength = strength_of(*token) / full_strength();
            }
        }
        let lengths: Vec<i64> = brought.iter().map(|row| row.tokens.len() as i64).collect();
        let shape = [brought.len() as i64, width as i64];
        Self {
            rows,
            places: Tensor::from_slice(&places).view(shape),
            strengths: Tensor::from_slice(&strengths).view(shape),
            lengths: Tensor::from_slice(&lengths),
            label_words,
            word_counts: Tensor::from_slice(word_counts),
            votes: Votes::new(&brought, teacher, width),
        }
    }

    fn to_device(&self, device: Device) -> TeacherOnDevice {
        let places = upload(&self.places, device);
        TeacherOnDevice {
            mask: shorter(&self.lengths, places.size()[1], device),
            strengths: upload(&self.strengths, device),
            label_words: upload(&self.label_words, device),
            word_counts: upload(&self.word_counts, device),
            votes: self.votes.to_device(device),
            places,
        }
    }
}

/// The labels and parents of all documents, each once and rising; never none, so that there is always
/// something to compute with. Absent without a teacher.
fn brought_rows(documents: &[DocumentWords<'_>]) -> Option<Vec<u32>> {
    let mut known = Vec::new();
    for document in documents {
        known.extend(document.row?.tokens.iter().map(|token| token.label.0));
    }
    known.push(0);
    known.sort_unstable();
    known.dedup();
    Some(known)
}

/// Grows from 0 for no votes, and ever slower.
fn strength_of(vote: ScoredLabel) -> f32 {
    (vote.score / VOTE_UNIT).ln_1p()
}

/// Of all votes.
fn full_strength() -> f32 {
    (1.0 / VOTE_UNIT).ln_1p()
}

/// Rows of different lengths as a matrix, filled up with place 0; and the longest length.
fn padded<'a>(
    rows: impl Iterator<Item = &'a [u32]> + Clone,
    place_of: impl Fn(u32) -> i32,
) -> (Tensor, i64) {
    let width = rows.clone().map(<[u32]>::len).max().unwrap_or(0).max(1);
    let mut places = Vec::new();
    let mut count = 0;
    for row in rows {
        places.extend(row.iter().map(|&word| place_of(word)));
        count += 1;
        places.resize(count * width, 0);
    }
    let matrix = Tensor::from_slice(&places).view([count as i64, width as i64]);
    (matrix, width as i64)
}

/// rows x places: true up to the length of each row.
fn shorter(lengths: &Tensor, num_places: i64, device: Device) -> Tensor {
    let places = Tensor::arange(num_places, (Kind::Int64, device));
    places.lt_tensor(&upload(lengths, device).unsqueeze(1))
}
