//! Arguments and settings as the command line takes them.

use plethora_core::{Argument, Error, Hint, Message, Wording};

/// Options with dashes, and settings behind `--set`.
struct CommandLine;

impl Wording for CommandLine {
    fn argument(&self, argument: Argument) -> String {
        format!("--{}", argument.name().replace('_', "-"))
    }

    fn hint(&self, hint: &Hint) -> String {
        match hint {
            Hint::Argument(argument) | Hint::Switch(argument) => self.argument(*argument),
            Hint::Value(argument, value) => format!("{} {value}", self.argument(*argument)),
            Hint::Setting { key, value } => format!("--set {key}={value}"),
        }
    }
}

/// An error as users of the command line read it.
pub(crate) fn worded(error: &Error) -> String {
    error.worded(&CommandLine)
}

/// Shows a warning of the libraries.
pub(crate) fn warn(warning: &Message) {
    tracing::warn!("{}", warning.worded(&CommandLine));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn hints_are_options() {
        let of = |hint: Hint| Error::data(Message::new("pass ").hint(hint));
        for (error, expected) in [
            (of(Argument::LABEL_FIELD.into()), "pass --label-field"),
            (of(Argument::INDEX_BASE.value("0")), "pass --index-base 0"),
            (of(Argument::RESUME.on()), "pass --resume"),
            (
                of(Hint::setting("text.min_df", "1")).within("plt"),
                "pass --set plt.text.min_df=1",
            ),
            (Error::config(Argument::WHERE, "no"), "--where: no"),
            (Error::config("tree.max_leaf", "no"), "tree.max_leaf: no"),
            (
                Error::model(Path::new("models--ada--engine"), "is damaged"),
                "models--ada--engine: is damaged",
            ),
            (
                Error::Exists { path: "a".into() },
                "a exists already; choose another name or pass --force to replace it",
            ),
        ] {
            assert_eq!(worded(&error), expected);
        }
    }
}
