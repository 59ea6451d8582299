//! Every long option can also be given in the environment, as `PLETHORA_TOP_K` for `--top-k`.

use clap::builder::FalseyValueParser;
use clap::{Arg, ArgAction, Command};

/// What the names of variables start with.
pub(crate) const PREFIX: &str = "PLETHORA_";

/// Options whose variable adds to the option instead of standing in for it; they read it themselves.
const READ_ELSEWHERE: [&str; 1] = ["set"];

/// Lets all options of a command and its subcommands be read from the environment.
pub(crate) fn with_environment(command: Command) -> Command {
    command.mut_args(readable).mut_subcommands(with_environment)
}

fn readable(arg: Arg) -> Arg {
    let Some(long) = arg.get_long().filter(|long| !READ_ELSEWHERE.contains(long)) else {
        return arg;
    };
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
            for arg in verb.get_arguments() {
                let Some(long) = arg.get_long().filter(|long| *long != "set") else {
                    continue;
                };
                let name = arg.get_env().and_then(|name| name.to_str());
                assert_eq!(name, Some(variable(long).as_str()), "{}", verb.get_name());
            }
        }
    }
}
