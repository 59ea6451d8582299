//! Numbers for labels, in formats that have no place for their keys.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Gives each label key its number.
#[derive(Debug)]
pub(super) enum LabelNumbers {
    /// Keys are numbers already; the largest decides how many there are.
    Keys {
        /// One more than the largest so far.
        num_labels: u64,
    },
    /// Numbers count in a list of keys.
    List {
        /// Keys in the order of their numbers.
        keys: Vec<String>,
        /// The number of each key.
        numbers: HashMap<String, u64, FxBuildHasher>,
        /// True if the list may not grow.
        is_fixed: bool,
    },
}

impl LabelNumbers {
    /// Numbers in a fixed list, or in one that grows where a label file will hold it; otherwise
    /// the keys must be numbers.
    pub(super) fn new(keys: &[String], has_label_file: bool) -> Self {
        if keys.is_empty() && !has_label_file {
            return Self::Keys { num_labels: 0 };
        }
        let numbers = keys.iter().cloned().zip(0..).collect();
        Self::List {
            keys: keys.to_vec(),
            numbers,
            is_fixed: !keys.is_empty(),
        }
    }

    /// The number of a key.
    pub(super) fn number(&mut self, key: &str) -> Result<u64, String> {
        match self {
            Self::Keys { num_labels } => {
                let number: u32 = key.parse().map_err(|_| {
                    format!("the label `{key}` is not a number; a label file would give it one")
                })?;
                *num_labels = (*num_labels).max(u64::from(number) + 1);
                Ok(u64::from(number))
            }
            Self::List {
                keys,
                numbers,
                is_fixed,
            } => match numbers.get(key) {
                Some(&number) => Ok(number),
                None if *is_fixed => Err(format!("the label `{key}` is not in the list of labels")),
                None => {
                    let number = keys.len() as u64;
                    keys.push(key.to_owned());
                    numbers.insert(key.to_owned(), number);
                    Ok(number)
                }
            },
        }
    }

    /// How many labels there are.
    pub(super) fn num_labels(&self) -> u64 {
        match self {
            Self::Keys { num_labels } => *num_labels,
            Self::List { keys, .. } => keys.len() as u64,
        }
    }

    /// The keys of a list in the order of their numbers.
    pub(super) fn keys(&self) -> &[String] {
        match self {
            Self::Keys { .. } => &[],
            Self::List { keys, .. } => keys,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_list_numbers_keys_as_they_come() {
        let mut numbers = LabelNumbers::new(&[], true);
        let given: Vec<u64> = ["sea", "air", "sea"]
            .iter()
            .map(|key| numbers.number(key).unwrap())
            .collect();
        assert_eq!(given, [0, 1, 0]);
        assert_eq!(numbers.keys(), ["sea", "air"]);
    }

    #[test]
    fn a_fixed_list_does_not_grow() {
        let mut numbers = LabelNumbers::new(&["air".into()], true);
        assert_eq!(numbers.number("air"), Ok(0));
        assert_eq!(
            numbers.number("sea").unwrap_err(),
            "the label `sea` is not in the list of labels"
        );
    }

    #[test]
    fn without_a_list_keys_are_numbers() {
        let mut numbers = LabelNumbers::new(&[], false);
        assert_eq!(numbers.number("7"), Ok(7));
        assert_eq!(numbers.num_labels(), 8);
        assert!(numbers.number("sea").is_err());
        assert!(numbers.number("99999999999999999999").is_err());
    }
}
