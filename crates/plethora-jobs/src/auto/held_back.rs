//! Documents that members are judged by, and what they learn from meanwhile.

use plethora_core::Result;
use plethora_core::corpus::{Document, DocumentList};

use crate::Session;
use crate::search::Documents;
use crate::training::Corpus;

/// Documents to judge by, at most: more would take time from training.
const MAX_DOCUMENTS: usize = 3000;

/// Share of the documents that is held back, at most.
const MAX_SHARE: f64 = 0.1;

/// Corpora of at most so many documents are crossed: each part is judged by what the others teach. A
/// few hundred documents apart would tell members apart by chance.
const MAX_CROSSED: u64 = 12_000;

/// Fewer documents cannot tell members apart: none is held back.
const MIN_DOCUMENTS: u64 = 10;

/// Parts of a crossed corpus.
const PARTS: usize = 5;

/// Documents that members are judged by.
pub(super) struct HeldBack {
    /// Documents with labels.
    pub(super) documents: Vec<Document>,
    /// Which of the corpora in `train` does not have each document.
    pub(super) parts: Vec<usize>,
    /// Documents to learn from.
    pub(super) train: Vec<Corpus>,
    /// Share of all documents that each of them has.
    pub(super) train_share: f64,
}

impl HeldBack {
    /// The user's own documents, a share of the corpus, or all of a small one in turn.
    pub(super) fn choose(
        data: &Corpus,
        valid: Option<&Corpus>,
        seed: u64,
        num_documents: u64,
        session: &Session,
    ) -> Result<Self> {
        if let Some(valid) = valid {
            let documents = read(valid, session)?;
            let step = documents.len().div_ceil(MAX_DOCUMENTS).max(1);
            let documents: Vec<Document> = documents.into_iter().step_by(step).collect();
            return Ok(Self::apart(documents, data.clone(), 1.0));
        }
        if num_documents < MIN_DOCUMENTS {
            return Ok(Self::apart(Vec::new(), data.clone(), 1.0));
        }
        if num_documents <= MAX_CROSSED {
            return Self::crossed(data, session);
        }
        let share = MAX_SHARE.min(MAX_DOCUMENTS as f64 / num_documents as f64);
        let split = Documents::new(data.clone(), None, seed, share);
        let documents = read(&split.valid(), session)?;
        Ok(Self::apart(documents, split.train(1.0), 1.0 - share))
    }

    fn apart(documents: Vec<Document>, train: Corpus, train_share: f64) -> Self {
        Self {
            parts: vec![0; documents.len()],
            documents,
            train: vec![train],
            train_share,
        }
    }

    fn crossed(data: &Corpus, session: &Session) -> Result<Self> {
        let reader = data.open()?;
        let num_features = reader.num_features();
        let documents = read(data, session)?;
        let num_parts = PARTS.min(documents.len());
        let parts: Vec<usize> = (0..documents.len())
            .map(|place| place % num_parts)
            .collect();
        let name = data.path.to_string_lossy();
        let train = (0..num_parts).map(|part| {
            let others = documents.iter().zip(&parts);
            let others = others.filter(|(_, own)| **own != part);
            let others = others.map(|(document, _)| document.clone()).collect();
            Corpus::of_documents(&name, DocumentList::new(others, num_features))
        });
        Ok(Self {
            train: train.collect(),
            train_share: 1.0 - 1.0 / num_parts as f64,
            documents,
            parts,
        })
    }

    /// The places of the documents that the corpus `part` does not have.
    pub(super) fn places(&self, part: usize) -> impl Iterator<Item = usize> {
        let parts = self.parts.iter().enumerate();
        parts
            .filter(move |(_, own)| **own == part)
            .map(|(place, _)| place)
    }

    /// How much training a member for all parts is, where one on all documents is 1.
    pub(super) fn effort(&self) -> f64 {
        self.train.len() as f64 * self.train_share
    }

    /// True if each member has one model that is judged, and not one for each part.
    pub(super) fn keeps_models(&self) -> bool {
        self.train.len() == 1
    }

    /// True if members see all documents in the end only by being trained again.
    pub(super) fn returns(&self) -> bool {
        self.train_share < 1.0
    }
}

fn read(corpus: &Corpus, session: &Session) -> Result<Vec<Document>> {
    let mut documents = Vec::new();
    for document in corpus.open()? {
        let document = document?;
        if !document.labels.is_empty() {
            documents.push(document);
        }
        if documents.len() % 256 == 0 {
            session.check_interrupt()?;
        }
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plethora_core::NoProgress;
    use plethora_core::corpus::Content;

    use super::*;

    fn corpus(num_documents: usize) -> Corpus {
        let documents = (0..num_documents).map(|number| Document {
            id: format!("d{number}"),
            content: Content::Text("bees".into()),
            labels: vec!["bees".into()],
        });
        Corpus::of_documents("books", DocumentList::new(documents.collect(), None))
    }

    fn choose(data: &Corpus, valid: Option<&Corpus>, num_documents: u64) -> HeldBack {
        let session = Session::new(Arc::new(NoProgress));
        HeldBack::choose(data, valid, 1, num_documents, &session).unwrap()
    }

    #[test]
    fn small_corpora_are_crossed_and_nothing_is_judged_by_what_it_taught() {
        let held_back = choose(&corpus(12), None, 12);
        assert_eq!((held_back.documents.len(), held_back.train.len()), (12, 5));
        assert!((held_back.effort() - 4.0).abs() < 1e-12 && held_back.returns());
        for (part, train) in held_back.train.iter().enumerate() {
            let ids: Vec<String> = train
                .open()
                .unwrap()
                .map(|found| found.unwrap().id)
                .collect();
            let places: Vec<usize> = held_back.places(part).collect();
            assert_eq!(ids.len() + places.len(), 12);
            let judged = places.iter().map(|&place| &held_back.documents[place].id);
            assert!(judged.into_iter().all(|id| !ids.contains(id)));
        }
    }

    #[test]
    fn given_documents_leave_all_others_to_learn_from() {
        let held_back = choose(&corpus(9), Some(&corpus(7000)), 9);
        assert_eq!(held_back.documents.len(), 2334);
        assert_eq!(held_back.train.len(), 1);
        assert!(!held_back.returns());
    }

    #[test]
    fn of_a_few_documents_none_is_held_back() {
        let held_back = choose(&corpus(9), None, 9);
        assert_eq!(held_back.train[0].open().unwrap().count(), 9);
        assert_eq!(held_back.documents.len(), 0);
    }
}
