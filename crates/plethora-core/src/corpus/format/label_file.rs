//! The file that label numbers count in.

use super::super::source::Origin;
use super::super::vocabulary::read_numbered_labels;
use super::super::{Label, ReadOptions};
use super::missing_labels_file;
use crate::Result;

/// Labels in the order of their numbers, counted from 0.
pub(super) struct LabelFile {
    labels: Vec<Label>,
    name: String,
}

impl LabelFile {
    /// Reads the label file of a format whose labels mean nothing without it; `needs` says so.
    pub(super) fn open_required(
        options: &ReadOptions,
        origin: &Origin,
        needs: &str,
    ) -> Result<Option<Self>> {
        match Self::open(options)? {
            None if !options.texts_only => Err(missing_labels_file(origin, needs)),
            label_file => Ok(label_file),
        }
    }

    /// Reads the label file, where there is one.
    pub(super) fn open(options: &ReadOptions) -> Result<Option<Self>> {
        let Some(path) = &options.labels_path else {
            return Ok(None);
        };
        let labels = read_numbered_labels(path)?;
        Ok(Some(Self {
            labels,
            name: path.display().to_string(),
        }))
    }

    /// Names that a data set brings for a column of numbers.
    #[cfg(feature = "arrow")]
    pub(super) fn of_names(column: &str, names: Vec<String>) -> Self {
        let label = |name: String| Label {
            key: name.clone(),
            name,
            ..Label::default()
        };
        Self {
            labels: names.into_iter().map(label).collect(),
            name: format!("the list of names for column `{column}`"),
        }
    }

    /// All labels, in order.
    pub(super) fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The key of a label number.
    pub(super) fn key(&self, number: &str) -> Result<String, String> {
        let index: usize = number
            .parse()
            .map_err(|_| format!("the label number `{number}` is not a whole number from 0"))?;
        match self.labels.get(index) {
            Some(label) => Ok(label.key.clone()),
            None => Err(format!(
                "unknown label number {index}: {} has {} labels, counted from 0",
                self.name,
                self.labels.len()
            )),
        }
    }
}
