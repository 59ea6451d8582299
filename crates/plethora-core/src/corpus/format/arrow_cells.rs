//! The cells of Arrow's columns as text and as lists of labels.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::table::Cells;
use crate::Message;

/// A row of a batch.
pub(super) struct BatchRow<'a> {
    pub(super) batch: &'a RecordBatch,
    /// For each column of the file, its place in the batch.
    pub(super) places: &'a [Option<usize>],
    pub(super) row: usize,
}

impl BatchRow<'_> {
    fn column(&self, column: usize) -> Option<&ArrayRef> {
        self.places[column].map(|place| self.batch.column(place))
    }

    fn in_column(&self, column: usize, found: &DataType) -> Message {
        let name = self.places[column].map_or(String::new(), |place| {
            self.batch.schema().field(place).name().clone()
        });
        format!("column `{name}` is of type {found}; expected text, numbers or lists of them")
            .into()
    }
}

impl Cells for BatchRow<'_> {
    fn text(&self, column: usize) -> Result<Cow<'_, str>, Message> {
        match self.column(column) {
            None => Ok("".into()),
            Some(array) => text(array, self.row).map_err(|found| self.in_column(column, &found)),
        }
    }

    fn list(&self, column: usize) -> Result<Option<Vec<String>>, Message> {
        let Some(array) = self.column(column) else {
            return Ok(None);
        };
        let Some(values) = list(array, self.row) else {
            return Ok(None);
        };
        let Some(values) = values else {
            return Ok(Some(Vec::new()));
        };
        let mut labels = Vec::with_capacity(values.len());
        for index in 0..values.len() {
            if !values.is_null(index) {
                let label = text(&values, index).map_err(|found| self.in_column(column, &found))?;
                labels.push(label.into_owned());
            }
        }
        Ok(Some(labels))
    }
}

/// The values of a list, where the column is one of lists: none in place of a missing one.
#[expect(clippy::option_option, reason = "no list, and a list that is null")]
fn list(array: &ArrayRef, row: usize) -> Option<Option<ArrayRef>> {
    let value = |value: ArrayRef| Some((!array.is_null(row)).then_some(value));
    match array.data_type() {
        DataType::List(_) => value(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => value(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => value(array.as_fixed_size_list().value(row)),
        _ => None,
    }
}

/// A value as text, empty where it is missing; the error is a type that is none.
pub(super) fn text(array: &ArrayRef, row: usize) -> Result<Cow<'_, str>, DataType> {
    macro_rules! number {
        ($kind:ty) => {
            Ok(array.as_primitive::<$kind>().value(row).to_string().into())
        };
    }
    if array.is_null(row) {
        return Ok("".into());
    }
    match array.data_type() {
        DataType::Null => Ok("".into()),
        DataType::Utf8 => Ok(array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Ok(array.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Ok(array.as_string_view().value(row).into()),
        DataType::Boolean => Ok(array.as_boolean().value(row).to_string().into()),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        // What pandas makes of whole numbers where some are missing.
        DataType::Float32 => Ok(float(array.as_primitive::<Float32Type>().value(row).into())),
        DataType::Float64 => Ok(float(array.as_primitive::<Float64Type>().value(row))),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = dictionary.normalized_keys()[row];
            text(dictionary.values(), key)
        }
        other => Err(other.clone()),
    }
}

fn float(value: f64) -> Cow<'static, str> {
    if value.is_nan() {
        return "".into();
    }
    value.to_string().into()
}
