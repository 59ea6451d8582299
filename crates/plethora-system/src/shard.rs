//! Shares of work that several processes do, each for itself.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What stands between the name of a file and the share of it that a piece has.
const PART: &str = ".part-";

/// One of several equal shares, counted from 0: `0/4` to `3/4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Share `index` of `count`, if there is such a one.
    pub fn new(index: usize, count: usize) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// Which one it is, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// The share of so many things in a row; shares differ by one thing at most.
    pub fn range(self, total: u64) -> Range<u64> {
        let (index, count) = (self.index as u128, self.count as u128);
        let start = |index: u128| (u128::from(total) * index / count) as u64;
        start(index)..start(index + 1)
    }

    /// True if this share has the thing of this number, where things are dealt out in turn.
    pub fn has(self, number: usize) -> bool {
        number % self.count == self.index
    }

    /// The share of `num_parts` parts that can be divided themselves: whole parts where there are enough for
    /// all, else one part and the share of it.
    pub fn of_parts(self, num_parts: usize) -> Vec<(usize, Self)> {
        if self.count <= num_parts {
            let own = (0..num_parts).filter(|&part| self.has(part));
            return own.map(|part| (part, Self::WHOLE)).collect();
        }
        let part = self.index % num_parts;
        let share = Self {
            index: self.index / num_parts,
            count: (self.count - part).div_ceil(num_parts),
        };
        vec![(part, share)]
    }

    /// What the share of the file `name` is called within a piece; a whole file keeps its name.
    pub fn part_name(self, name: &str) -> String {
        if self == Self::WHOLE {
            return name.to_owned();
        }
        format!("{name}{PART}{}-of-{}", self.index, self.count)
    }

    /// The file and the share of it that a name from [`part_name`](Self::part_name) stands for.
    pub fn of_part_name(name: &str) -> Option<(&str, Self)> {
        let (file, share) = name.rsplit_once(PART)?;
        let (index, count) = share.split_once("-of-")?;
        Some((file, Self::new(index.parse().ok()?, count.parse().ok()?)?))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, count)| {
            let shard = (index.parse().ok()?, count.parse().ok()?);
            Self::new(shard.0, shard.1)
        });
        numbers.ok_or("expected a share such as 0/4, counted from 0: 0/4, 1/4, 2/4 and 3/4 are all")
    }
}

impl TryFrom<String> for Shard {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(count: usize) -> impl Iterator<Item = Shard> {
        (0..count).map(move |index| Shard::new(index, count).unwrap())
    }

    #[test]
    fn ranges_follow_one_another_and_leave_nothing_out() {
        for total in [0, 1, 7, 1000, u64::MAX] {
            let mut end = 0;
            for shard in all(7) {
                let range = shard.range(total);
                assert_eq!(range.start, end);
                assert!((range.end - range.start).abs_diff(total / 7) <= 1);
                end = range.end;
            }
            assert_eq!(end, total);
        }
    }

    #[test]
    fn every_part_is_done_once_however_many_pieces_there_are() {
        for (count, num_parts) in [(1, 3), (2, 3), (3, 3), (4, 3), (8, 3), (5, 1)] {
            let mut shares = vec![Vec::new(); num_parts];
            for shard in all(count) {
                for (part, share) in shard.of_parts(num_parts) {
                    shares[part].push(share);
                }
            }
            for mut shares in shares {
                shares.sort_unstable();
                let expected: Vec<Shard> = all(shares.len()).collect();
                assert_eq!(shares, expected, "{count} pieces of {num_parts} parts");
            }
        }
    }

    #[test]
    fn texts_and_names_of_parts_come_back() {
        for shard in all(3) {
            assert_eq!(shard.to_string().parse(), Ok(shard));
            let name = shard.part_name("tree-0.safetensors");
            let expected = ("tree-0.safetensors", shard);
            assert_eq!(Shard::of_part_name(&name), Some(expected));
        }
        assert_eq!(Shard::WHOLE.part_name("a"), "a");
        assert_eq!(Shard::of_part_name("a"), None);
        for text in ["", "1", "1/1", "4/4", "-1/4", "0/0", "a/b", "0/4/1"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
