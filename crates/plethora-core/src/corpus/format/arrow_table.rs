//! Tables in columns: Parquet files, and Arrow's own files and streams (Feather, `save_to_disk` of Hugging
//! Face). Rows are their lines.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::super::source::Origin;
use super::super::{Label, ReadOptions};
use super::arrow_bounds;
use super::arrow_cells::BatchRow;
use super::table::Table;
use super::{ColumnarKind, Row, RowReader};
use crate::{Error, Message, Result};

/// Rows in memory at once, where the file leaves the choice.
const BATCH_ROWS: usize = 256;

/// Rows to look at before reading.
const NUM_EXAMPLES: usize = 64;

/// Where Hugging Face keeps what it knows of a table.
const HUGGING_FACE: &str = "huggingface";

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

/// Reads [`Format::Parquet`](super::Format::Parquet) and [`Format::Arrow`](super::Format::Arrow).
pub(super) struct ArrowTable {
    origin: Origin,
    table: Table,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// For each column of the file, its place in a batch.
    places: Vec<Option<usize>>,
    next_in_batch: usize,
    row: u64,
}

impl ArrowTable {
    pub(super) fn open(path: &Path, kind: ColumnarKind, options: &ReadOptions) -> Result<Self> {
        let origin = Origin::in_memory(path);
        let broken = |error: String| broken(&origin, error);
        arrow_bounds::check(path, kind).map_err(broken)?;
        let schema = schema_of(path, kind)?;
        let names: Vec<&str> = (schema.fields().iter())
            .map(|field| field.name().as_str())
            .collect();
        let examples = examples(path, kind, &schema)?;
        let mut table = Table::open(&names, &examples, options, |message| {
            origin.error(None, message)
        })?;
        if !options.texts_only {
            for (column, names) in label_names(&schema) {
                table.set_label_names(&column, names);
            }
        }
        let used = table.used_columns();
        let mut places = vec![None; names.len()];
        for (place, &column) in used.iter().enumerate() {
            places[column] = Some(place);
        }
        let batches = batches(path, kind, &used, BATCH_ROWS).map_err(broken)?;
        Ok(Self {
            origin,
            table,
            batches,
            batch: None,
            places,
            next_in_batch: 0,
            row: 0,
        })
    }

    /// Sees to it that the batch at hand has a row left; false at the end.
    fn fill(&mut self) -> Result<bool> {
        loop {
            let num_rows = self.batch.as_ref().map_or(0, RecordBatch::num_rows);
            if self.next_in_batch < num_rows {
                return Ok(true);
            }
            match self.batches.next() {
                None => return Ok(false),
                Some(Ok(batch)) => {
                    self.batch = Some(batch);
                    self.next_in_batch = 0;
                }
                Some(Err(error)) => return Err(broken(&self.origin, error)),
            }
        }
    }
}

impl RowReader for ArrowTable {
    fn next_row(&mut self) -> Result<Option<Row>> {
        if !self.fill()? {
            return Ok(None);
        }
        let Some(batch) = &self.batch else {
            return Ok(None);
        };
        let cells = BatchRow {
            batch,
            places: &self.places,
            row: self.next_in_batch,
        };
        self.next_in_batch += 1;
        self.row += 1;
        let row = self.table.row(&cells);
        row.map(Some)
            .map_err(|message| self.origin.error(self.row, message))
    }

    fn line(&self) -> u64 {
        self.row
    }

    fn has_other_fields(&self) -> bool {
        self.table.has_other_fields()
    }

    fn vocabulary(&self) -> &[Label] {
        self.table.vocabulary()
    }

    fn explain_filter(&self) -> Option<String> {
        self.table.explain_filter()
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        self.table.take_warnings()
    }

    fn layout(&self) -> Vec<(&'static str, String)> {
        self.table.layout()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn broken(origin: &Origin, error: String) -> Error {
    origin.error(None, format!("the file cannot be read: {error}"))
}

fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(Error::read(path))
}

/// The columns of a file.
fn schema_of(path: &Path, kind: ColumnarKind) -> Result<SchemaRef> {
    let origin = Origin::in_memory(path);
    let broken = |error: String| broken(&origin, error);
    let file = open_file(path)?;
    Ok(match kind {
        ColumnarKind::Parquet => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)
                .map_err(|error| broken(error.to_string()))?;
            builder.schema().clone()
        }
        ColumnarKind::ArrowFile => {
            let reader = FileReader::try_new(BufReader::new(file), None)
                .map_err(|error| broken(error.to_string()))?;
            reader.schema()
        }
        ColumnarKind::ArrowStream => {
            let reader = StreamReader::try_new(BufReader::new(file), None)
                .map_err(|error| broken(error.to_string()))?;
            reader.schema()
        }
    })
}

/// The rows of some columns, in batches.
fn batches(
    path: &Path,
    kind: ColumnarKind,
    columns: &[usize],
    num_rows: usize,
) -> Result<Batches, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let told = |error: ArrowError| error.to_string();
    let projection = Some(columns.to_vec());
    Ok(match kind {
        ColumnarKind::Parquet => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)
                .map_err(|error| error.to_string())?;
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
            let reader = builder
                .with_batch_size(num_rows)
                .with_projection(mask)
                .build()
                .map_err(|error| error.to_string())?;
            Box::new(reader.map(move |batch| batch.map_err(told)))
        }
        ColumnarKind::ArrowFile => {
            let reader = FileReader::try_new(BufReader::new(file), projection).map_err(told)?;
            Box::new(reader.map(move |batch| batch.map_err(told)))
        }
        ColumnarKind::ArrowStream => {
            let reader = StreamReader::try_new(BufReader::new(file), projection).map_err(told)?;
            Box::new(reader.map(move |batch| batch.map_err(told)))
        }
    })
}

/// The first rows; of columns that cannot be 0 and 1, nothing.
fn examples(path: &Path, kind: ColumnarKind, schema: &SchemaRef) -> Result<Vec<Vec<String>>> {
    let columns: Vec<usize> = (0..schema.fields().len())
        .filter(|&column| {
            let kind = schema.field(column).data_type();
            kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean
        })
        .collect();
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let origin = Origin::in_memory(path);
    let broken = |error: String| broken(&origin, error);
    let mut first = batches(path, kind, &columns, NUM_EXAMPLES).map_err(broken)?;
    let Some(batch) = first.next().transpose().map_err(broken)? else {
        return Ok(Vec::new());
    };
    let example = |row: usize| {
        let mut cells = vec![String::new(); schema.fields().len()];
        for (place, &column) in columns.iter().enumerate() {
            let cell = super::arrow_cells::text(batch.column(place), row);
            cells[column] = cell.unwrap_or_default().into_owned();
        }
        cells
    };
    Ok((0..batch.num_rows().min(NUM_EXAMPLES))
        .map(example)
        .collect())
}

/// Names of the numbers in columns, as Hugging Face keeps them.
fn label_names(schema: &SchemaRef) -> Vec<(String, Vec<String>)> {
    let known = schema.metadata().get(HUGGING_FACE);
    let known: Option<Value> = known.and_then(|text| serde_json::from_str(text).ok());
    let features = known
        .as_ref()
        .and_then(|known| known["info"]["features"].as_object());
    let named = |(column, feature): (&String, &Value)| {
        let names = names_of(feature)?.iter();
        let names = names.map(|name| name.as_str().map(str::to_owned));
        Some((column.clone(), names.collect::<Option<Vec<_>>>()?))
    };
    features.into_iter().flatten().filter_map(named).collect()
}

/// The names of a feature, or of those that it is a list of.
fn names_of(feature: &Value) -> Option<&Vec<Value>> {
    if feature["_type"] == "ClassLabel" {
        return feature["names"].as_array();
    }
    match feature {
        Value::Array(list) => names_of(list.first()?),
        other => names_of(other.get("feature")?),
    }
}
