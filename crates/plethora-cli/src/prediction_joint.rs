//! How files of predictions become one, format by format.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use plethora_core::{Error, Result};

use crate::prediction_writer::PredictionFormat;

/// What stands between files of one format that are put one behind the other.
#[derive(Debug)]
pub(crate) struct Joint {
    format: PredictionFormat,
    /// Whether a file before had documents.
    has_documents: bool,
}

impl Joint {
    pub(crate) fn new(format: PredictionFormat) -> Self {
        Self {
            format,
            has_documents: false,
        }
    }

    /// What the whole starts with, where every file says how many documents it has.
    pub(crate) fn header(&self, first: &Path, num_documents: u64) -> Result<String> {
        if self.format != PredictionFormat::Xmc {
            return Ok(String::new());
        }
        let mut line = String::new();
        let file = File::open(first).map_err(Error::read(first))?;
        BufReader::new(file)
            .read_line(&mut line)
            .map_err(Error::read(first))?;
        if let Some((_, num_labels)) = line.trim_end().split_once(' ') {
            Ok(format!("{num_documents} {num_labels}\n"))
        } else {
            let message = "expected a header with the numbers of documents and labels";
            Err(Error::input(first, Some(1), message))
        }
    }

    /// True if the first line of the next file is left out, which has so many documents.
    pub(crate) fn skips_header(&self, num_documents: u64) -> bool {
        match self.format {
            PredictionFormat::Xmc => true,
            PredictionFormat::Csv => self.has_documents && num_documents > 0,
            _ => false,
        }
    }

    /// What comes before the next file, which has so many documents.
    pub(crate) fn before(&mut self, num_documents: u64) -> &'static str {
        let is_between = self.has_documents && num_documents > 0;
        self.has_documents |= num_documents > 0;
        match self.format {
            PredictionFormat::Annif if is_between => "\n",
            _ => "",
        }
    }
}
