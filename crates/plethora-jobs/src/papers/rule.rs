//! What has to hold between two runs: `a > b`, `a:PSP@5 > b:PSP@5`, `a:overlap@5 < 80`.

use serde::Deserialize;

/// A comparison of figures.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Rule {
    /// The side that has to be larger.
    pub larger: Side,
    /// The side that has to be smaller.
    pub smaller: Side,
    /// As it was written.
    pub text: String,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Side {
    /// A run, and the metric where it is not the claim's.
    Run(String, Option<String>),
    /// A number.
    Number(f64),
}

impl TryFrom<String> for Rule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}`: expected `RUN > RUN` or `RUN < RUN`");
        let (left, sign, right) = match (text.split_once(" > "), text.split_once(" < ")) {
            (Some((left, right)), None) => (left, '>', right),
            (None, Some((left, right))) => (left, '<', right),
            _ => return Err(wrong()),
        };
        let [left, right] = [left, right].map(|side| Side::of(side.trim()));
        let (larger, smaller) = if sign == '>' {
            (left, right)
        } else {
            (right, left)
        };
        if larger.run().is_none() && smaller.run().is_none() {
            return Err(wrong());
        }
        Ok(Self {
            larger,
            smaller,
            text,
        })
    }
}

impl Rule {
    /// The runs that it compares.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        [&self.larger, &self.smaller]
            .into_iter()
            .filter_map(Side::run)
    }
}

impl Side {
    fn of(text: &str) -> Self {
        if let Ok(number) = text.parse() {
            return Self::Number(number);
        }
        match text.split_once(':') {
            Some((run, metric)) => Self::Run(run.to_owned(), Some(metric.to_owned())),
            None => Self::Run(text.to_owned(), None),
        }
    }

    /// The run, where it is one.
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Run(run, _) => Some(run),
            Self::Number(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_say_which_side_is_larger() {
        let rule = Rule::try_from("a < b:PSP@5".to_owned()).unwrap();
        assert_eq!(rule.larger, Side::Run("b".into(), Some("PSP@5".into())));
        assert_eq!(rule.smaller, Side::Run("a".into(), None));
        let rule = Rule::try_from("a:overlap@5 < 80".to_owned()).unwrap();
        assert_eq!(rule.larger, Side::Number(80.0));
        for wrong in ["a b", "a = b", "1 > 2", "a > b > c < d"] {
            assert!(Rule::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
