//! What messages say of arguments and settings: values, which every front end puts in its own words.

/// An argument by its canonical name, as `label_field`. Front ends write it as they take it:
/// `--label-field` or `label_field=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument(&'static str);

impl Argument {
    /// Accepts documents of the same id.
    pub const ALLOW_DUPLICATE_IDS: Self = Self("allow_duplicate_ids");
    /// What stands between the cells of a table.
    pub const DELIMITER: Self = Self("delimiter");
    /// How characters are written as bytes.
    pub const ENCODING: Self = Self("encoding");
    /// Replaces line ends in texts.
    pub const FLATTEN: Self = Self("flatten");
    /// Replaces what exists.
    pub const FORCE: Self = Self("force");
    /// The format of a corpus.
    pub const FORMAT: Self = Self("format");
    /// Makes one document of rows that share an id.
    pub const GROUP_ROWS: Self = Self("group_rows");
    /// The field of the id.
    pub const ID_FIELD: Self = Self("id_field");
    /// The number of the first feature.
    pub const INDEX_BASE: Self = Self("index_base");
    /// The columns of which each stands for a label.
    pub const LABEL_COLUMNS: Self = Self("label_columns");
    /// The field of the labels.
    pub const LABEL_FIELD: Self = Self("label_field");
    /// The file of the labels.
    pub const LABELS_FILE: Self = Self("labels_file");
    /// What marks a label in a text.
    pub const LABEL_PREFIX: Self = Self("label_prefix");
    /// What stands between labels.
    pub const LABEL_SEPARATOR: Self = Self("label_separator");
    /// Resumes an interrupted run.
    pub const RESUME: Self = Self("resume");
    /// One of several equal shares of the work.
    pub const SHARD: Self = Self("shard");
    /// The fields of the text.
    pub const TEXT_FIELD: Self = Self("text_field");
    /// The validation documents.
    pub const VALID: Self = Self("valid");
    /// The file with names of labels.
    pub const VOCABULARY: Self = Self("vocabulary");
    /// Which rows are read.
    pub const WHERE: Self = Self("where");

    /// An argument of one front end alone, in lower case with underscores.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The canonical name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// This argument with the value to give it.
    pub fn value(self, value: impl Into<String>) -> Hint {
        Hint::Value(self, value.into())
    }

    /// This argument, switched on.
    pub const fn on(self) -> Hint {
        Hint::Switch(self)
    }
}

/// A way out that a message names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// An argument that is to have a value, which only the user knows.
    Argument(Argument),
    /// An argument with its value.
    Value(Argument, String),
    /// An argument that is on or off, switched on.
    Switch(Argument),
    /// A setting with its value.
    Setting {
        /// The setting, written as in a recipe.
        key: String,
        /// The value.
        value: String,
    },
}

impl Hint {
    /// A setting with its value.
    pub fn setting(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Setting {
            key: key.into(),
            value: value.into(),
        }
    }

    /// The hint of a part of a system, with its setting as the system has it.
    pub(super) fn within(&mut self, section: &str) {
        if let Self::Setting { key, .. } = self {
            *key = format!("{section}.{key}");
        }
    }

    /// The hint with another argument.
    pub(super) fn rename(&mut self, rename: fn(Argument) -> Argument) {
        match self {
            Self::Argument(argument) | Self::Value(argument, _) | Self::Switch(argument) => {
                *argument = rename(*argument);
            }
            Self::Setting { .. } => {}
        }
    }
}

impl From<Argument> for Hint {
    fn from(argument: Argument) -> Self {
        Self::Argument(argument)
    }
}

/// How a front end writes arguments and settings.
pub trait Wording {
    /// An argument by its name alone.
    fn argument(&self, argument: Argument) -> String;

    /// A way out, as users have to write it.
    fn hint(&self, hint: &Hint) -> String;
}

/// Canonical names, where no front end is known.
pub(super) struct Canonical;

impl Wording for Canonical {
    fn argument(&self, argument: Argument) -> String {
        argument.name().to_owned()
    }

    fn hint(&self, hint: &Hint) -> String {
        match hint {
            Hint::Argument(argument) | Hint::Switch(argument) => self.argument(*argument),
            Hint::Value(argument, value) => format!("{}={value}", argument.name()),
            Hint::Setting { key, value } => format!("{key}={value}"),
        }
    }
}
