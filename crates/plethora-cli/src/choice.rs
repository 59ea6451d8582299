//! Options that take one of several words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, the value of the library that it stands for, and what `--help` says of it.
pub(crate) type Choice<T> = (&'static str, T, &'static str);

/// Takes one of these words.
pub(crate) fn one_of<T: Copy + Send + Sync>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let words = choices
        .iter()
        .map(|&(word, _, help)| PossibleValue::new(word).help(help));
    PossibleValuesParser::new(words).map(|found| {
        let choice = choices.iter().find(|(word, ..)| *word == found);
        choice.expect("clap takes no other words").1
    })
}
