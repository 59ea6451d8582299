//! Which labels a request wants.

use std::collections::HashSet;

use plethora_core::corpus::LabelSpace;
use plethora_core::{LabelId, ScoredLabel};

/// Labels that are allowed and denied, of those that the model knows.
#[derive(Debug, Default)]
pub(crate) struct LabelFilter {
    allowed: Option<HashSet<LabelId>>,
    denied: HashSet<LabelId>,
    /// Keys that the model does not know.
    pub(crate) unknown: Vec<String>,
}

impl LabelFilter {
    /// The filter of keys; without `allow` all labels are allowed.
    pub(crate) fn new(labels: &LabelSpace, allow: Option<&[String]>, deny: &[String]) -> Self {
        let mut unknown = Vec::new();
        let mut known = |keys: &[String]| -> HashSet<LabelId> {
            let mut ids = HashSet::new();
            for key in keys {
                match labels.id(key) {
                    Some(id) => {
                        ids.insert(id);
                    }
                    None => unknown.push(key.clone()),
                }
            }
            ids
        };
        Self {
            allowed: allow.map(&mut known),
            denied: known(deny),
            unknown,
        }
    }

    /// True if it leaves all labels in.
    pub(crate) fn is_empty(&self) -> bool {
        self.allowed.is_none() && self.denied.is_empty()
    }

    /// Takes out what is not wanted.
    pub(crate) fn apply(&self, ranking: &mut Vec<ScoredLabel>) {
        ranking.retain(|scored| {
            let is_allowed = |allowed: &HashSet<LabelId>| allowed.contains(&scored.label);
            self.allowed.as_ref().is_none_or(is_allowed) && !self.denied.contains(&scored.label)
        });
    }
}
