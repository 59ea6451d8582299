//! Which columns of a table are what.

use super::super::ReadOptions;
use super::super::filter::RowFilter;
use super::header::{propose_labels, propose_text};
use crate::{Argument, Message};

/// The column that holds the text where nobody names others.
const TEXT: &str = "text";

/// Columns that hold labels where the caller names none: ours, then Annif's.
const LABELS: &str = "labels";
pub(super) const ANNIF_URIS: &str = "subject_uris";

/// Between the first and the last of several columns.
const RANGE: &str = "..";

/// Column names shown in messages.
const MAX_NAMES: usize = 12;

/// The columns that make up documents.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) text: Vec<usize>,
    pub(super) labels: LabelColumns,
    pub(super) id: Option<usize>,
    /// One column for each deciding field of the filter.
    pub(super) filtered: Vec<usize>,
    pub(super) warnings: Vec<Message>,
}

/// Where labels are.
#[derive(Debug, PartialEq)]
pub(super) enum LabelColumns {
    None,
    /// All of them in one cell.
    One(usize),
    /// A column of 0 and 1 for each.
    Flags(Vec<usize>),
}

/// For each column, whether the first rows have nothing but 0 and 1 in it, and a 1 at all.
#[derive(Debug, Default)]
pub(super) struct FlagColumns(Vec<(bool, bool)>);

impl FlagColumns {
    /// Judges the first rows.
    pub(super) fn of_rows(num_columns: usize, rows: &[Vec<String>]) -> Self {
        let judge = |column: usize| {
            let flags = rows.iter().map(|row| read_flag(&row[column]));
            let is_flag = !rows.is_empty() && flags.clone().all(|flag| flag.is_some());
            (is_flag, flags.into_iter().any(|flag| flag == Some(true)))
        };
        Self((0..num_columns).map(judge).collect())
    }

    fn is_flag(&self, column: usize) -> bool {
        self.0.get(column).is_some_and(|&(is_flag, _)| is_flag)
    }

    fn has_one(&self, column: usize) -> bool {
        self.0.get(column).is_some_and(|&(_, has_one)| has_one)
    }
}

/// What a cell says of a label; `None` for an empty cell and for all that is no flag.
pub(super) fn read_flag(cell: &str) -> Option<bool> {
    match cell.trim() {
        "1" | "1.0" | "true" | "True" | "TRUE" => Some(true),
        "0" | "0.0" | "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

impl Columns {
    /// Finds the columns in the header; the error says which is missing.
    pub(super) fn find(
        header: &[&str],
        flags: &FlagColumns,
        filter: &RowFilter,
        options: &ReadOptions,
    ) -> Result<Self, Message> {
        let find = |name: &str| header.iter().position(|column| column.trim() == name);
        let require = |name: &str, argument: Argument| {
            find(name).ok_or_else(|| {
                let message = missing(name, header);
                match argument {
                    Argument::TEXT_FIELD => propose_text(message, header),
                    Argument::LABEL_FIELD => propose_labels(message, header),
                    other => message.hint(other),
                }
            })
        };
        let mut warnings = Vec::new();
        let text = match options.text_fields.as_slice() {
            [] => match usual_text(header, options, &mut warnings) {
                columns if columns.is_empty() => vec![require(TEXT, Argument::TEXT_FIELD)?],
                columns => columns,
            },
            chosen => chosen
                .iter()
                .map(|name| require(name, Argument::TEXT_FIELD))
                .collect::<Result<_, _>>()?,
        };
        let id = match &options.id_field {
            Some(name) => Some(require(name, Argument::ID_FIELD)?),
            None => find("id"),
        };
        let filtered = filter
            .fields()
            .map(|name| require(name, Argument::WHERE))
            .collect::<Result<Vec<_>, _>>()?;
        let mut columns = Self {
            text,
            labels: LabelColumns::None,
            id,
            filtered,
            warnings,
        };
        if let Some(name) = &options.label_field {
            columns.labels = LabelColumns::One(require(name, Argument::LABEL_FIELD)?);
        } else if !options.label_columns.is_empty() {
            let chosen = columns.chosen_flags(header, &options.label_columns)?;
            columns.labels = LabelColumns::Flags(chosen);
        } else if let Some(column) = find(LABELS).or_else(|| find(ANNIF_URIS)) {
            columns.labels = LabelColumns::One(column);
        } else if !options.texts_only {
            columns.tell_labels(header, flags);
        }
        Ok(columns)
    }

    /// Columns that are neither text, id nor asked for by filters, and have a name: the index that
    /// pandas writes has none.
    fn others<'a>(&'a self, header: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        (0..header.len()).filter(|column| {
            let is_taken = self.text.contains(column)
                || self.filtered.contains(column)
                || self.id == Some(*column);
            !is_taken && !header[*column].trim().is_empty()
        })
    }

    /// The columns that the caller says to be labels.
    fn chosen_flags(&self, header: &[&str], names: &[String]) -> Result<Vec<usize>, Message> {
        let find = |name: &str| {
            let column = header.iter().position(|column| column.trim() == name);
            column.ok_or_else(|| missing(name, header).hint(Argument::LABEL_COLUMNS))
        };
        let mut chosen = Vec::new();
        for name in names {
            let name = name.trim();
            match (find(name), name.split_once(RANGE)) {
                (Ok(column), _) => chosen.push(column),
                (Err(_), _) if name == "*" => chosen.extend(self.others(header)),
                (Err(_), Some((first, last))) => {
                    let (first, last) = (find(first.trim())?, find(last.trim())?);
                    if first > last {
                        let message = format!("`{name}`: the last column comes before the first; ");
                        return Err(Message::new(message).hint(Argument::LABEL_COLUMNS));
                    }
                    chosen.extend(first..=last);
                }
                (Err(message), None) => return Err(message),
            }
        }
        Ok(chosen)
    }

    /// Takes columns of 0 and 1 as labels where there are no others, and says so; or says that there
    /// are no labels.
    fn tell_labels(&mut self, header: &[&str], flags: &FlagColumns) {
        let others: Vec<usize> = self.others(header).collect();
        let are_flags = others.len() > 1 && others.iter().all(|&column| flags.is_flag(column));
        if are_flags && others.iter().any(|&column| flags.has_one(column)) {
            let names: Vec<&str> = others.iter().map(|&column| header[column]).collect();
            let warning = format!("the columns of 0 and 1 are labels: {}; ", listed(&names));
            self.warnings.push(
                Message::new(warning)
                    .hint(Argument::LABEL_COLUMNS)
                    .text(" chooses others"),
            );
            self.labels = LabelColumns::Flags(others);
            return;
        }
        let found = listed(header);
        let message = Message::new(format!(
            "no column `{LABELS}`, so no labels; columns found: {found}. Name it with "
        ));
        let mut message = propose_labels(message, header);
        let flagged: Vec<usize> = others
            .into_iter()
            .filter(|&column| flags.is_flag(column))
            .collect();
        if let [first, .., last] = flagged[..] {
            // In a row without others between them, they can be named by the first and the last.
            if last - first == flagged.len() - 1 {
                let range = format!("{}{RANGE}{}", header[first], header[last]);
                message = message
                    .text(", or columns of 0 and 1 with ")
                    .hint(Argument::LABEL_COLUMNS.value(range));
            }
        }
        self.warnings.push(message);
    }
}

fn missing(name: &str, header: &[&str]) -> Message {
    let found = listed(header);
    Message::new(format!(
        "no column `{name}`; columns found: {found}. Name another with "
    ))
}

/// The names of columns, not all where they are many.
fn listed(names: &[&str]) -> String {
    match names.len() {
        0..=MAX_NAMES => names.join(", "),
        len => format!(
            "{}, ... ({} more)",
            names[..MAX_NAMES].join(", "),
            len - MAX_NAMES
        ),
    }
}

/// The usual columns of the text that are there, else the one of all tables; none if there is
/// neither. Any that is missing gives a warning.
fn usual_text(header: &[&str], options: &ReadOptions, warnings: &mut Vec<Message>) -> Vec<usize> {
    let find = |name: &str| header.iter().position(|column| column.trim() == name);
    let usual = &options.usual_text_fields;
    let mut columns: Vec<usize> = usual.iter().filter_map(|name| find(name)).collect();
    if columns.is_empty() {
        columns.extend(find(TEXT));
    }
    if !columns.is_empty() {
        let missing = usual.iter().filter(|name| find(name).is_none());
        warnings.extend(missing.map(|name| format!("no row has the text field `{name}`").into()));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(header: &[&str], rows: &[&[&str]], options: &ReadOptions) -> Result<Columns, String> {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(ToString::to_string).collect())
            .collect();
        let flags = FlagColumns::of_rows(header.len(), &rows);
        let filter = RowFilter::new(&options.filters);
        Columns::find(header, &flags, &filter, options).map_err(|message| message.to_string())
    }

    #[test]
    fn usual_text_columns_are_taken_where_they_are_there() {
        let columns = |header: &[&str], named: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let options = ReadOptions {
                text_fields: owned(named),
                usual_text_fields: owned(&["title", "abstract"]),
                texts_only: true,
                ..ReadOptions::default()
            };
            find(header, &[], &options).map(|columns| (columns.text, columns.warnings.len()))
        };
        let all = ["text", "abstract", "title"];
        assert_eq!(columns(&all, &[]), Ok((vec![2, 1], 0)));
        assert_eq!(columns(&all, &["text"]), Ok((vec![0], 0)));
        assert_eq!(columns(&["text", "title"], &[]), Ok((vec![1], 1)));
        assert_eq!(columns(&["id", "text"], &[]), Ok((vec![1], 2)));
        assert!(columns(&["id", "body"], &[]).is_err());
    }

    #[test]
    fn a_missing_column_is_named_with_those_found() {
        let message = find(&["id", "body"], &[], &ReadOptions::default()).unwrap_err();
        assert_eq!(
            message,
            "no column `text`; columns found: id, body. Name another with text_field=body"
        );
        let options = ReadOptions {
            filters: vec!["split=train".parse().unwrap()],
            ..ReadOptions::default()
        };
        let message = find(&["text"], &[], &options).unwrap_err();
        assert!(message.starts_with("no column `split`"), "{message}");
    }

    #[test]
    fn a_table_without_labels_says_so() {
        let columns = find(&["text"], &[], &ReadOptions::default()).unwrap();
        assert_eq!(
            columns.warnings,
            ["no column `labels`, so no labels; columns found: text. Name it with label_field"]
        );
    }

    #[test]
    fn columns_of_0_and_1_are_labels_where_nothing_else_is_there() {
        let header = ["id", "text", "sea", "air"];
        let rows: [&[&str]; 2] = [&["1", "a", "0", "1"], &["2", "b", "1", "0.0"]];
        let columns = find(&header, &rows, &ReadOptions::default()).unwrap();
        assert_eq!(columns.labels, LabelColumns::Flags(vec![2, 3]));
        assert_eq!(
            columns.warnings,
            ["the columns of 0 and 1 are labels: sea, air; label_columns chooses others"]
        );
        let header = ["id", "text", "year", "sea", "air"];
        let rows: [&[&str]; 1] = [&["1", "a", "1999", "0", "1"]];
        let columns = find(&header, &rows, &ReadOptions::default()).unwrap();
        assert_eq!(columns.labels, LabelColumns::None);
        let warning = columns.warnings[0].to_string();
        assert!(
            warning.ends_with(", or columns of 0 and 1 with label_columns=sea..air"),
            "{warning}"
        );
    }

    #[test]
    fn chosen_columns_are_names_ranges_or_all() {
        let header = ["text", "a", "b", "c", "x..y"];
        let flags = |names: &[&str]| {
            let options = ReadOptions {
                label_columns: names.iter().map(ToString::to_string).collect(),
                ..ReadOptions::default()
            };
            find(&header, &[], &options).map(|columns| columns.labels)
        };
        assert_eq!(flags(&["a", "c"]), Ok(LabelColumns::Flags(vec![1, 3])));
        assert_eq!(flags(&["a..c"]), Ok(LabelColumns::Flags(vec![1, 2, 3])));
        assert_eq!(flags(&["x..y"]), Ok(LabelColumns::Flags(vec![4])));
        assert_eq!(flags(&["*"]), Ok(LabelColumns::Flags(vec![1, 2, 3, 4])));
        assert!(flags(&["c..a"]).unwrap_err().contains("comes before"));
        assert!(flags(&["d"]).unwrap_err().starts_with("no column `d`"));
    }
}
