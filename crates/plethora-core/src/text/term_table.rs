//! Terms and their numbers, in one string rather than one allocation per term.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Numbers terms in the order in which they come.
#[derive(Debug, Clone, Default)]
pub(super) struct TermTable {
    arena: String,
    ends: Vec<usize>,
    slots: HashTable<u32>,
}

impl TermTable {
    /// A table of terms that differ from each other, numbered in their order.
    pub(super) fn from_distinct<'a>(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut table = Self::default();
        for term in terms {
            table.append(term);
        }
        table.arena.shrink_to_fit();
        table.ends.shrink_to_fit();
        let Self { arena, ends, slots } = &mut table;
        slots.reserve(ends.len(), |&id| hash(slice(arena, ends, id)));
        for id in 0..ends.len() as u32 {
            let place = |&id: &u32| hash(slice(arena, ends, id));
            slots.insert_unique(place(&id), id, place);
        }
        table
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of `term`, new or old.
    pub(super) fn intern(&mut self, term: &str) -> u32 {
        let hash_of_term = hash(term);
        if let Some(id) = self.find(hash_of_term, term) {
            return id;
        }
        let id = self.append(term);
        let Self { arena, ends, slots } = self;
        slots.insert_unique(hash_of_term, id, |&id| hash(slice(arena, ends, id)));
        id
    }

    pub(super) fn get(&self, term: &str) -> Option<u32> {
        self.find(hash(term), term)
    }

    pub(super) fn term(&self, id: u32) -> &str {
        slice(&self.arena, &self.ends, id)
    }

    pub(super) fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|id| self.term(id as u32))
    }

    fn find(&self, hash_of_term: u64, term: &str) -> Option<u32> {
        self.slots
            .find(hash_of_term, |&id| self.term(id) == term)
            .copied()
    }

    fn append(&mut self, term: &str) -> u32 {
        let id = u32::try_from(self.ends.len()).expect("2^32 terms do not fit in memory");
        self.arena.push_str(term);
        self.ends.push(self.arena.len());
        id
    }
}

fn slice<'a>(arena: &'a str, ends: &[usize], id: u32) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &arena[start..ends[id]]
}

fn hash(term: &str) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(term.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_keep_their_numbers() {
        let mut table = TermTable::default();
        let names: Vec<String> = (0..1000).map(|number| format!("term {number}")).collect();
        for _ in 0..2 {
            for (id, name) in (0..).zip(&names) {
                assert_eq!(table.intern(name), id);
            }
        }
        let copy = TermTable::from_distinct(table.terms());
        assert_eq!(copy.len(), 1000);
        assert_eq!(copy.get("term 17"), Some(17));
        assert_eq!(copy.term(999), "term 999");
        assert_eq!(copy.get("term"), None);
    }
}
