//! Names of labels as documents, which systems learn from as from others.

use plethora_core::Result;
use plethora_core::corpus::{Content, Document, Label, LabelSpace};
use plethora_system::DocumentStream;
use rustc_hash::FxHashSet;

/// Documents, and behind them the names of each label as a short document that has this label alone.
pub(super) struct WithNames<'a> {
    documents: &'a mut dyn DocumentStream,
    /// Those still to come, the last one first.
    names: Vec<Document>,
    /// Labels of those that have come.
    read: FxHashSet<String>,
    is_over: bool,
}

impl<'a> WithNames<'a> {
    /// All documents, and names if they are to be learnt from.
    pub(super) fn new(documents: &'a mut dyn DocumentStream, learns_names: bool) -> Self {
        // Names are texts, which are nothing to learn from where documents are features.
        let learns_names = learns_names && documents.num_features().is_none();
        let labels = documents.labels().iter().rev().filter(|_| learns_names);
        let names = labels
            .filter(|label| label.name != label.key)
            .map(document_of);
        Self {
            names: names.collect(),
            documents,
            read: FxHashSet::default(),
            is_over: false,
        }
    }

    /// The labels and the number of documents without what names have added: nobody has labelled a name,
    /// and labels without other documents stay unseen.
    pub(super) fn taken_out(&self, labels: LabelSpace, num_documents: u64) -> (LabelSpace, u64) {
        if self.read.is_empty() {
            return (labels, num_documents);
        }
        let own = labels.labels().iter().zip(labels.train_counts());
        let counts = own.map(|(label, &count)| {
            let of_names = u32::from(self.read.contains(&label.key));
            count.saturating_sub(of_names)
        });
        let counts = counts.collect();
        let num_documents = num_documents.saturating_sub(self.read.len() as u64);
        (labels.with_train_counts(counts), num_documents)
    }
}

fn document_of(label: &Label) -> Document {
    let names = std::iter::once(&label.name).chain(&label.alternatives);
    let lines: Vec<&str> = names.map(String::as_str).collect();
    Document {
        id: format!("label {}", label.key),
        content: Content::Text(lines.join("\n")),
        labels: vec![label.key.clone()],
    }
}

impl DocumentStream for WithNames<'_> {
    fn next_document(&mut self) -> Result<Option<Document>> {
        if !self.is_over {
            let next = self.documents.next_document()?;
            if next.is_some() {
                return Ok(next);
            }
            self.is_over = true;
        }
        let name = self.names.pop();
        if let Some(document) = &name {
            self.read.extend(document.labels.iter().cloned());
        }
        Ok(name)
    }

    fn limit(&self) -> Option<u64> {
        let limit = self.documents.limit();
        limit.map(|limit| limit + self.names.len() as u64)
    }

    fn labels(&self) -> &[Label] {
        self.documents.labels()
    }

    fn num_features(&self) -> Option<usize> {
        self.documents.num_features()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Few(Vec<Document>, Vec<Label>);

    impl DocumentStream for Few {
        fn next_document(&mut self) -> Result<Option<Document>> {
            Ok(self.0.pop())
        }

        fn limit(&self) -> Option<u64> {
            None
        }

        fn labels(&self) -> &[Label] {
            &self.1
        }

        fn num_features(&self) -> Option<usize> {
            None
        }
    }

    fn stream() -> Few {
        let named = |key: &str, name: &str| Label {
            name: name.into(),
            alternatives: vec!["apiculture".into()],
            ..Label::from_key(key)
        };
        let book = Document {
            id: "book".into(),
            content: Content::Text("hives".into()),
            labels: vec!["l1".into()],
        };
        let labels = vec![
            named("l1", "bees"),
            named("l2", "sea"),
            Label::from_key("l3"),
        ];
        Few(vec![book], labels)
    }

    #[test]
    fn names_come_behind_documents_and_leave_counts_as_they_were() {
        let mut few = stream();
        let mut all = WithNames::new(&mut few, true);
        let mut found = Vec::new();
        while let Some(document) = all.next_document().unwrap() {
            found.push(document.id);
        }
        assert_eq!(found, ["book", "label l1", "label l2"]);
        let labels = ["l1", "l2"].map(Label::from_key).to_vec();
        let (space, num_documents) = all.taken_out(LabelSpace::new(labels, vec![2, 1]), 3);
        assert_eq!((space.train_counts(), num_documents), (&[1, 0][..], 1));
    }

    #[test]
    fn names_that_are_not_wanted_do_not_come() {
        let mut few = stream();
        let mut all = WithNames::new(&mut few, false);
        assert!(all.next_document().unwrap().is_some());
        assert!(all.next_document().unwrap().is_none());
    }
}
