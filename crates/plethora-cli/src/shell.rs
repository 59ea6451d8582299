//! Command lines for users to copy.

use std::env;

/// The command line of this run, with `--resume`.
pub(crate) fn resuming_command() -> String {
    let mut command: Vec<String> = env::args_os()
        .map(|argument| quoted(&argument.to_string_lossy()))
        .filter(|argument| argument != "--resume")
        .collect();
    command.push("--resume".into());
    command.join(" ")
}

/// An argument as a shell takes it.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_change_them() {
        assert_eq!(quoted("--set=a.b=1,2"), "--set=a.b=1,2");
        assert_eq!(quoted("my books"), "'my books'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
