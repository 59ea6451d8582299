//! A member as a plan has it: what it is made of, what it costs, and what part of it there is time for.

use std::time::Duration;

use plethora_system::settings::Settings;
use serde::Serialize;

use super::held_back::HeldBack;

/// A member that may be trained.
#[expect(
    clippy::struct_excessive_bools,
    reason = "what families say of their members"
)]
#[derive(Debug, Clone, Serialize)]
pub struct PlannedMember {
    /// What tables call it.
    pub name: &'static str,
    /// Seconds of wall time that training once on all documents should take.
    pub estimated_s: f64,
    /// Most memory that it should hold.
    pub memory_bytes: u64,
    /// Share of its epochs that the budget allows.
    pub epoch_share: f64,
    /// Why it is not trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Whether it learns from names of labels, too.
    pub learns_names: bool,
    /// Whether it is left out for the time that it should take alone: estimates may be wrong.
    #[serde(skip)]
    pub(super) is_too_slow: bool,
    /// Whether it only gets the time that all others leave.
    #[serde(skip)]
    pub(super) is_spare: bool,
    /// Whether it is trained again when held-back documents return.
    #[serde(skip)]
    pub(super) returns: bool,
    /// The member whose encoder it starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_from: Option<&'static str>,
    #[serde(skip)]
    pub(super) settings: Settings,
}

impl PlannedMember {
    /// Seconds that it should take while documents are held back.
    pub(super) fn part_seconds(&self, held_back: &HeldBack) -> f64 {
        self.estimated_s * held_back.effort() * self.epoch_share
    }

    /// Share of its epochs that it can have in so much time.
    pub(super) fn share_within(&self, time: Duration, held_back: &HeldBack) -> f64 {
        let all = self.estimated_s * held_back.effort();
        (time.as_secs_f64() / all.max(1e-9)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use plethora_core::corpus::DocumentList;
    use plethora_system::Registry;

    use super::*;
    use crate::training::Corpus;

    static REGISTRY: LazyLock<Registry> =
        LazyLock::new(|| Registry::new(plethora_linear::FAMILIES));

    #[test]
    fn epochs_follow_from_the_time_that_is_left() {
        let held_back = HeldBack {
            documents: Vec::new(),
            parts: Vec::new(),
            train: vec![Corpus::of_documents(
                "books",
                DocumentList::new(Vec::new(), None),
            )],
            train_share: 1.0,
        };
        let member = PlannedMember {
            name: "network",
            estimated_s: 100.0,
            memory_bytes: 0,
            epoch_share: 1.0,
            left_out: None,
            learns_names: false,
            starts_from: None,
            is_too_slow: false,
            is_spare: false,
            returns: false,
            settings: REGISTRY.recipe("wide-tree").unwrap(),
        };
        let share = |member: &PlannedMember, seconds| {
            member.share_within(Duration::from_secs(seconds), &held_back)
        };
        assert!((share(&member, 40) - 0.4).abs() < 1e-9);
        assert!(
            (share(&member, 400) - 1.0).abs() < 1e-9,
            "never more than all"
        );
    }
}
