//! What a trial gets less of in the early rungs of a search.

use plethora_system::Effort;
use plethora_system::settings::Settings;

/// Fewer documents say nothing about settings.
const MIN_DOCUMENTS: f64 = 100.0;

/// Epochs that the data chooses are at least as many.
const MIN_OPEN_EPOCHS: usize = 4;

/// The smallest share of the effort that still says something about the settings.
pub(super) fn min_share(effort: Effort, num_documents: u64) -> f64 {
    match effort {
        Effort::Documents => MIN_DOCUMENTS / num_documents.max(1) as f64,
        Effort::Epochs(epochs) => 1.0 / epochs.unwrap_or(MIN_OPEN_EPOCHS) as f64,
    }
}

/// The share of the documents and the share of the epochs that a share of the effort is.
pub(super) fn shares(effort: Effort, share: f64) -> (f64, f64) {
    match effort {
        Effort::Documents => (share, 1.0),
        Effort::Epochs(_) => (1.0, share),
    }
}

/// What there is a share of.
pub(super) fn name(effort: Effort) -> &'static str {
    match effort {
        Effort::Documents => "documents",
        Effort::Epochs(_) => "epochs",
    }
}

/// What a step trains: equal ones give equal models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    settings: Settings,
    share: f64,
}

impl Work {
    /// Training with these settings and this share of the effort, of which only whole epochs count.
    pub(super) fn new(settings: Settings, effort: Effort, share: f64) -> Self {
        let share = match effort {
            Effort::Epochs(Some(epochs)) => {
                let whole = (epochs as f64 * share).round().max(1.0);
                whole / epochs as f64
            }
            Effort::Documents | Effort::Epochs(None) => share,
        };
        Self { settings, share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_or_epochs_are_cut() {
        assert_eq!(shares(Effort::Documents, 0.25), (0.25, 1.0));
        assert_eq!(min_share(Effort::Documents, 1000), 0.1);
        let epochs = Effort::Epochs(Some(15));
        assert_eq!(shares(epochs, 0.25), (1.0, 0.25));
        assert!((min_share(epochs, 10) - 1.0 / 15.0).abs() < 1e-12);
        assert_eq!(min_share(Effort::Epochs(None), 10), 0.25);
    }
}
