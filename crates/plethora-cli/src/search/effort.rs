//! What a trial gets less of in the early rungs of a search.

use crate::settings::SystemConfig;

/// Fewer documents say nothing about settings.
const MIN_DOCUMENTS: f64 = 100.0;

/// Epochs that the data chooses are at least as many.
#[cfg(feature = "torch")]
const MIN_OPEN_EPOCHS: usize = 4;

/// What the effort of training grows with, and can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Training documents, of linear systems.
    Documents,
    /// Epochs, of neural systems.
    #[cfg(feature = "torch")]
    Epochs,
}

/// What a step trains: equal ones give equal models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    config: SystemConfig,
    share: f64,
}

impl Effort {
    /// What settings leave to cut.
    pub(super) fn of(config: &SystemConfig) -> Self {
        match config {
            SystemConfig::Linear(_) | SystemConfig::Knn(_) => Self::Documents,
            #[cfg(feature = "torch")]
            SystemConfig::Neural(_) => Self::Epochs,
        }
    }

    /// The smallest share that still says something about the settings.
    pub(super) fn min_share(config: &SystemConfig, num_documents: u64) -> f64 {
        match config {
            SystemConfig::Linear(_) | SystemConfig::Knn(_) => {
                MIN_DOCUMENTS / num_documents.max(1) as f64
            }
            #[cfg(feature = "torch")]
            SystemConfig::Neural(config) => {
                let epochs = match config.train().epochs {
                    0 => MIN_OPEN_EPOCHS,
                    epochs => epochs,
                };
                1.0 / epochs as f64
            }
        }
    }

    /// The share of the documents and the share of the epochs that a share of the effort is.
    pub(super) fn shares(self, share: f64) -> (f64, f64) {
        match self {
            Self::Documents => (share, 1.0),
            #[cfg(feature = "torch")]
            Self::Epochs => (1.0, share),
        }
    }

    /// What there is a share of.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            #[cfg(feature = "torch")]
            Self::Epochs => "epochs",
        }
    }
}

impl Work {
    /// Training with these settings and this share of the effort.
    pub(super) fn new(config: SystemConfig, share: f64) -> Self {
        match &config {
            SystemConfig::Linear(_) | SystemConfig::Knn(_) => Self { config, share },
            #[cfg(feature = "torch")]
            SystemConfig::Neural(neural) => {
                let is_open = neural.train().epochs == 0;
                let reduced = neural.with_epoch_share(share);
                Self {
                    config: SystemConfig::Neural(Box::new(reduced)),
                    share: if is_open { share } else { 1.0 },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SettingsArgs;

    fn config(system: &str) -> SystemConfig {
        let args = SettingsArgs {
            system: Some(system.into()),
            ..SettingsArgs::default()
        };
        args.resolve_alone().unwrap()
    }

    #[test]
    fn linear_systems_get_fewer_documents() {
        let config = config("parabel");
        assert_eq!(Effort::of(&config).shares(0.25), (0.25, 1.0));
        assert_eq!(Effort::min_share(&config, 1000), 0.1);
        assert_ne!(Work::new(config.clone(), 0.5), Work::new(config, 1.0));
    }

    #[cfg(feature = "torch")]
    #[test]
    fn neural_systems_get_fewer_epochs() {
        let words = config("xml-cnn");
        assert_eq!(Effort::of(&words).shares(0.25), (1.0, 0.25));
        assert!((Effort::min_share(&words, 10) - 1.0 / 15.0).abs() < 1e-12);
        // Both are one epoch.
        assert_eq!(Work::new(words.clone(), 0.09), Work::new(words, 0.07));
        let open = config("lightxml");
        assert_eq!(Effort::min_share(&open, 10), 0.25);
        assert_ne!(Work::new(open.clone(), 0.5), Work::new(open, 1.0));
    }
}
