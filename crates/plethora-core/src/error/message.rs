//! Text with hints in it.

use std::fmt;

use super::hint::{Argument, Canonical, Hint, Wording};

/// A message that may name arguments and settings; each front end [words](Self::worded) them.
/// Without one they have their canonical names.
///
/// ```
/// use plethora_core::{Argument, Message};
///
/// let message = Message::new("no document has labels; ")
///     .hint(Argument::LABEL_FIELD)
///     .text(" names their field");
/// assert_eq!(message.to_string(), "no document has labels; label_field names their field");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hint(Hint),
}

impl Message {
    /// A message without hints so far.
    pub fn new(text: impl Into<String>) -> Self {
        Self(vec![Part::Text(text.into())])
    }

    /// The message with a hint behind it.
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.0.push(Part::Hint(hint.into()));
        self
    }

    /// The message with text behind it.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Text(text.into()));
        self
    }

    /// The message with another one behind it.
    pub fn message(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// How to get rid of a run that cannot be resumed.
    pub fn start_anew() -> Self {
        Self::new("pass ")
            .hint(Argument::FORCE.on())
            .text(" instead of ")
            .hint(Argument::RESUME.on())
            .text(" to start anew")
    }

    /// The message in the words of a front end.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        let word = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Hint(hint) => wording.hint(hint),
        };
        self.0.iter().map(word).collect()
    }

    fn hints(&mut self) -> impl Iterator<Item = &mut Hint> {
        self.0.iter_mut().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Hint(hint) => Some(hint),
        })
    }

    pub(super) fn within(&mut self, section: &str) {
        self.hints().for_each(|hint| hint.within(section));
    }

    pub(super) fn rename(&mut self, rename: fn(Argument) -> Argument) {
        self.hints().for_each(|hint| hint.rename(rename));
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.worded(&Canonical))
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// Compares with the canonical wording.
impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self.worded(&Canonical) == *other
    }
}
