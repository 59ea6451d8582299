//! Gathers the vectors of known words as they come by in a file.

use crate::text::Words;

/// In place of a slot for a row without a vector.
const NO_SLOT: u32 = u32::MAX;

/// The word whose vector a separator between title and text starts with.
const SENTENCE_END: &str = ".";

/// Vectors in the order in which the file has them, one for each row at most.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    words: &'a Words,
    width: usize,
    slot_of_row: Vec<u32>,
    slots: Vec<Slot>,
    values: Vec<f32>,
    num_in_file: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    row: u32,
    is_exact: bool,
}

/// What a collector has at the end.
#[derive(Debug)]
pub(super) struct Collected {
    /// In rising order.
    pub(super) rows: Vec<u32>,
    /// The vectors in the order of `rows`.
    pub(super) values: Vec<f32>,
    pub(super) num_in_file: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(words: &'a Words, width: usize) -> Self {
        Self {
            words,
            width,
            slot_of_row: vec![NO_SLOT; words.num_rows()],
            slots: Vec::new(),
            values: Vec::new(),
            num_in_file: 0,
        }
    }

    /// Words seen so far.
    pub(super) fn num_in_file(&self) -> u64 {
        self.num_in_file
    }

    /// Counts the file's next word and gives the place for its vector, if one is wanted: the
    /// word's own spelling wins, then the first that the tokenizer turns into it.
    pub(super) fn place(&mut self, word: &[u8]) -> Option<&mut [f32]> {
        self.num_in_file += 1;
        let (row, is_exact) = self.find(std::str::from_utf8(word).ok()?)?;
        let slot = match self.slot_of_row[row as usize] {
            NO_SLOT => {
                let slot = self.slots.len();
                self.slot_of_row[row as usize] = slot as u32;
                self.slots.push(Slot { row, is_exact });
                self.values.resize((slot + 1) * self.width, 0.0);
                slot
            }
            slot => {
                let slot = slot as usize;
                if self.slots[slot].is_exact || !is_exact {
                    return None;
                }
                self.slots[slot].is_exact = true;
                slot
            }
        };
        Some(&mut self.values[slot * self.width..][..self.width])
    }

    /// The row of a word, and whether this is the word's own spelling.
    fn find(&self, word: &str) -> Option<(u32, bool)> {
        if let Some(row) = self.words.row(word) {
            return Some((row, true));
        }
        // What ends a sentence is what files have that is most like the end of a title.
        let separator = self.words.config().separator.as_ref();
        if let Some(separator) = separator.filter(|_| word == SENTENCE_END) {
            return self.words.row(separator).map(|row| (row, false));
        }
        let mut respelt = self.words.tokenizer().words(word);
        let (spelling, bytes) = respelt.next()?;
        if bytes.len() != word.len() {
            return None;
        }
        self.words.row(&spelling).map(|row| (row, false))
    }

    /// The vectors, sorted by row within their memory.
    pub(super) fn finish(mut self) -> Collected {
        // `goals[slot]` is the final place of the vector at `slot`; the loop swaps each vector
        // into its place, so it runs once for every slot.
        let mut order: Vec<u32> = (0..self.slots.len() as u32).collect();
        order.sort_unstable_by_key(|&slot| self.slots[slot as usize].row);
        let mut goals = vec![0; order.len()];
        for (goal, &slot) in order.iter().enumerate() {
            goals[slot as usize] = goal;
        }
        for slot in 0..goals.len() {
            while goals[slot] != slot {
                let goal = goals[slot];
                swap_vectors(&mut self.values, self.width, slot, goal);
                goals.swap(slot, goal);
            }
        }
        let rows = order.iter().map(|&slot| self.slots[slot as usize].row);
        Collected {
            rows: rows.collect(),
            values: self.values,
            num_in_file: self.num_in_file,
        }
    }
}

fn swap_vectors(values: &mut [f32], width: usize, left: usize, right: usize) {
    let (first, last) = (left.min(right), left.max(right));
    let (front, back) = values.split_at_mut(last * width);
    front[first * width..][..width].swap_with_slice(&mut back[..width]);
}
