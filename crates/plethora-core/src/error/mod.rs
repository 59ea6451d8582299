//! Everything that can go wrong in this crate, named by what the user sees.

mod hint;
mod key;
mod message;

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

pub use hint::{Argument, Hint, Wording};
pub use key::Key;
pub use message::Message;

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure in reading data, fitting features or opening and saving models. Front ends show it
/// [worded](Self::worded) as their users know arguments and settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The content of an input file is not what its format promises.
    Input {
        /// The offending file.
        path: PathBuf,
        /// Line in the file, counted from 1, where one is known.
        line: Option<u64>,
        /// What was found and what was expected.
        message: Message,
    },
    /// An input file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An output file cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A setting or an argument has a value that cannot work.
    Config {
        /// The setting or argument.
        key: Key,
        /// What was found and what was expected.
        message: Message,
    },
    /// Arguments or settings make no sense, or contradict one another; the message starts with whose.
    Usage(Message),
    /// The data as a whole cannot be used for what was asked.
    Data(Message),
    /// A model folder is missing something, is damaged or does not fit this program.
    Model {
        /// The model folder or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        message: Message,
    },
    /// The output exists already and replacing it was not asked for.
    Exists {
        /// The existing file or folder.
        path: PathBuf,
    },
    /// Something of another kind stands where the output is to be; it is never replaced.
    Occupied {
        /// The existing file or folder.
        path: PathBuf,
    },
    /// An interrupted run has left finished parts, which are neither resumed nor replaced.
    Unfinished {
        /// The folder with these parts.
        path: PathBuf,
    },
    /// A computation failed, as when memory runs out.
    Compute(String),
    /// The user asked to stop.
    Interrupted,
}

impl Error {
    /// An [`Error::Input`] at a line of a file.
    pub fn input(path: &Path, line: impl Into<Option<u64>>, message: impl Into<Message>) -> Self {
        Self::Input {
            path: path.to_owned(),
            line: line.into(),
            message: message.into(),
        }
    }

    /// An [`Error::Config`] for one setting or argument.
    pub fn config(key: impl Into<Key>, message: impl Into<Message>) -> Self {
        Self::Config {
            key: key.into(),
            message: message.into(),
        }
    }

    /// An [`Error::Usage`].
    pub fn usage(message: impl Into<Message>) -> Self {
        Self::Usage(message.into())
    }

    /// An [`Error::Data`].
    pub fn data(message: impl Into<Message>) -> Self {
        Self::Data(message.into())
    }

    /// An [`Error::Model`] for a model folder or a file in it.
    pub fn model(path: &Path, message: impl Into<Message>) -> Self {
        Self::Model {
            path: path.to_owned(),
            message: message.into(),
        }
    }

    /// Wraps an I/O error met while reading `path`; for `map_err`.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    /// Wraps an I/O error met while writing `path`; for `map_err`.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    /// The error of a part of a system, with settings as the whole has them: `text.min_df` within
    /// `plt` is `plt.text.min_df`.
    #[must_use]
    pub fn within(mut self, section: &str) -> Self {
        let (key, message) = self.named();
        if let Some(key) = key {
            key.within(section);
        }
        if let Some(message) = message {
            message.within(section);
        }
        self
    }

    /// The error with other arguments, where a library knows them by another name than its caller.
    #[must_use]
    pub fn renamed(mut self, rename: fn(Argument) -> Argument) -> Self {
        let (key, message) = self.named();
        if let Some(key) = key {
            key.rename(rename);
        }
        if let Some(message) = message {
            message.rename(rename);
        }
        self
    }

    /// What may name settings and arguments.
    fn named(&mut self) -> (Option<&mut Key>, Option<&mut Message>) {
        match self {
            Self::Config { key, message } => (Some(key), Some(message)),
            Self::Input { message, .. }
            | Self::Model { message, .. }
            | Self::Data(message)
            | Self::Usage(message) => (None, Some(message)),
            _ => (None, None),
        }
    }

    /// The error in the words of a front end.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        match self {
            Self::Input {
                path,
                line,
                message,
            } => {
                let line = line.map_or_else(String::new, |line| format!(":{line}"));
                format!("{}{line}: {}", path.display(), message.worded(wording))
            }
            Self::Read { path, source } => format!("{}: cannot read: {source}", path.display()),
            Self::Write { path, source } => format!("{}: cannot write: {source}", path.display()),
            Self::Config { key, message } => {
                format!("{}: {}", key.worded(wording), message.worded(wording))
            }
            Self::Data(message) | Self::Usage(message) => message.worded(wording),
            Self::Model { path, message } => {
                format!("{}: {}", path.display(), message.worded(wording))
            }
            Self::Exists { path } => format!(
                "{} exists already; choose another name or pass {} to replace it",
                path.display(),
                wording.hint(&Argument::FORCE.on())
            ),
            Self::Occupied { path } => format!(
                "{} exists and was not written by Plethora, so it will not be replaced",
                path.display()
            ),
            Self::Unfinished { path } => format!(
                "{} has what an interrupted training run has finished; pass {} to resume it, or {} \
                 to throw it away and start anew",
                path.display(),
                wording.hint(&Argument::RESUME.on()),
                wording.hint(&Argument::FORCE.on())
            ),
            Self::Compute(message) => message.clone(),
            Self::Interrupted => "interrupted".into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.worded(&hint::Canonical))
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options as a terminal takes them.
    struct Dashes;

    impl Wording for Dashes {
        fn argument(&self, argument: Argument) -> String {
            format!("--{}", argument.name())
        }

        fn hint(&self, hint: &Hint) -> String {
            match hint {
                Hint::Argument(argument) | Hint::Switch(argument) => self.argument(*argument),
                Hint::Value(argument, value) => format!("{} {value}", self.argument(*argument)),
                Hint::Setting { key, value } => format!("--set {key}={value}"),
            }
        }
    }

    #[test]
    fn only_hints_are_worded() {
        let path = Path::new("models--ada--engine");
        let message = Message::new("holds --data; pass ").hint(Argument::FORMAT.value("tsv"));
        let table = [
            (
                Error::model(path, message),
                "models--ada--engine: holds --data; pass format=tsv",
                "models--ada--engine: holds --data; pass --format tsv",
            ),
            (
                Error::config(Argument::WHERE, "no"),
                "where: no",
                "--where: no",
            ),
            (
                Error::config("tree.max_leaf", "no"),
                "tree.max_leaf: no",
                "tree.max_leaf: no",
            ),
            (
                Error::Exists { path: path.into() },
                "models--ada--engine exists already; choose another name or pass force to replace it",
                "models--ada--engine exists already; choose another name or pass --force to replace it",
            ),
            (
                Error::Unfinished { path: path.into() },
                "models--ada--engine has what an interrupted training run has finished; pass resume \
                 to resume it, or force to throw it away and start anew",
                "models--ada--engine has what an interrupted training run has finished; pass \
                 --resume to resume it, or --force to throw it away and start anew",
            ),
        ];
        for (error, canonical, worded) in table {
            assert_eq!(error.to_string(), canonical);
            assert_eq!(error.worded(&Dashes), worded);
        }
    }

    #[test]
    fn parts_name_settings_as_the_whole_does() {
        let hint = || Message::new("too few; ").hint(Hint::setting("text.min_df", "1"));
        let table = [
            (Error::data(hint()), "too few; --set plt.text.min_df=1"),
            (
                Error::config("text.min_df", hint()),
                "plt.text.min_df: too few; --set plt.text.min_df=1",
            ),
            (
                Error::config(Argument::FORMAT, "unknown"),
                "--format: unknown",
            ),
            (Error::Interrupted, "interrupted"),
        ];
        for (error, expected) in table {
            assert_eq!(error.within("plt").worded(&Dashes), expected);
        }
    }

    #[test]
    fn callers_may_have_other_names_for_arguments() {
        let message = Message::new("choose another with ").hint(Argument::LABEL_SEPARATOR);
        let error = Error::config(Argument::LABEL_SEPARATOR, message);
        let renamed = error.renamed(|_| Argument::new("out_separator"));
        assert_eq!(
            renamed.to_string(),
            "out_separator: choose another with out_separator"
        );
    }
}
