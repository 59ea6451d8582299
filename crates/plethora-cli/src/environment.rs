//! Every long option can also be given in the environment, as `PLETHORA_TOP_K` for `--top-k`.

use clap::builder::FalseyValueParser;
use clap::{Arg, ArgAction, Command};

/// What the names of variables start with.
pub(crate) const PREFIX: &str = "PLETHORA_";

/// Option that adds settings to others.
const SET: &str = "set";

/// Options for settings of their own, as `--set` gives them too. Beside `--set`, their variables are
/// weaker than it, which clap knows nothing of: the settings read them.
pub(crate) const SETTINGS: [&str; 5] = ["system", "seed", "beam", "vectors", "encoder"];

/// Lets all options of a command and its subcommands be read from the environment.
pub(crate) fn with_environment(command: Command) -> Command {
    let has_settings = command
        .get_arguments()
        .any(|arg| arg.get_long() == Some(SET));
    let is_read_elsewhere =
        move |long: &str| has_settings && (long == SET || SETTINGS.contains(&long));
    command
        .mut_args(|arg| match arg.get_long() {
            Some(long) if !is_read_elsewhere(long) => readable(long.to_owned().as_str(), arg),
            _ => arg,
        })
        .mut_subcommands(with_environment)
}

fn readable(long: &str, arg: Arg) -> Arg {
    let name = variable(long);
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let arg = arg.env(name).hide_env(true);
    if is_switch {
        // `PLETHORA_QUIET=1` and `=yes` mean what they say.
        arg.value_parser(FalseyValueParser::new())
    } else {
        arg
    }
}

/// The variable of a long option.
pub(crate) fn variable(long: &str) -> String {
    format!("{PREFIX}{}", long.replace('-', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_option_of_every_verb_has_a_variable() {
        let command = with_environment(Cli::command());
        for verb in command.get_subcommands() {
            let has_settings = verb.get_arguments().any(|arg| arg.get_long() == Some(SET));
            let is_setting = |long: &&str| *long == SET || SETTINGS.contains(long);
            for arg in verb.get_arguments() {
                let Some(long) = arg
                    .get_long()
                    .filter(|long| !(has_settings && is_setting(long)))
                else {
                    continue;
                };
                let name = arg.get_env().and_then(|name| name.to_str());
                assert_eq!(name, Some(variable(long).as_str()), "{}", verb.get_name());
            }
        }
    }
}
