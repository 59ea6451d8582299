//! What all requests share.

use std::sync::Arc;

use plethora_core::LabelId;
use plethora_system::Registry;

use crate::api_key::ApiKey;
use crate::feedback::FeedbackFile;
use crate::host::HostNames;
use crate::large_answers::AnswerBudget;
use crate::metrics::Metrics;
use crate::model::ServedModel;
use crate::problem::Problem;
use crate::served_models::{ServedModels, Slot};
use crate::traces::Traces;
use crate::{Error, Limits, ModelSource, Result, ServeConfig};

/// State of a server.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) models: Arc<ServedModels>,
    pub(crate) metrics: Metrics,
    pub(crate) limits: Limits,
    pub(crate) api_key: Option<ApiKey>,
    pub(crate) host_names: HostNames,
    pub(crate) feedback: Option<Arc<FeedbackFile>>,
    pub(crate) answers: AnswerBudget,
    pub(crate) traces: Option<Traces>,
}

/// The state as handlers get it.
pub(crate) type SharedApp = Arc<App>;

impl App {
    /// Opens models and files.
    pub(crate) fn open(
        systems: &'static Registry,
        config: &ServeConfig,
        sources: &[ModelSource],
        traces: Option<Traces>,
    ) -> Result<Self> {
        config.validate()?;
        let host_names = HostNames::new(&config.allow_hosts)?;
        let metrics = Metrics::new();
        let feedback = match &config.feedback {
            Some(path) => {
                let file =
                    FeedbackFile::open(path, config.feedback_max_bytes).map_err(Error::Core)?;
                Some(Arc::new(file))
            }
            None => None,
        };
        Ok(Self {
            models: Arc::new(ServedModels::open(systems, config, sources, &metrics)?),
            metrics,
            limits: config.limits,
            api_key: config.api_key.as_deref().map(ApiKey::new),
            host_names,
            feedback,
            answers: AnswerBudget::default(),
            traces,
        })
    }

    /// The place of a model.
    pub(crate) fn slot(&self, id: &str) -> Result<&Slot, Problem> {
        self.models.slot(id).ok_or_else(|| {
            let ids: Vec<&str> = (self.models.slots().iter())
                .map(|slot| slot.id.as_str())
                .collect();
            Problem::not_found(format!(
                "there is no model `{id}`; there are: {}",
                ids.join(", ")
            ))
        })
    }

    /// The version of a model that answers now.
    pub(crate) fn model(&self, id: &str) -> Result<Arc<ServedModel>, Problem> {
        self.slot(id).map(Slot::current)
    }
}

/// The label with a number, which must be one of the model's.
pub(crate) fn known_label(model: &ServedModel, number: u32) -> Result<LabelId, Problem> {
    if (number as usize) < model.labels.len() {
        return Ok(LabelId(number));
    }
    Err(Problem::not_found(format!(
        "there is no label number {number}, the model has {}",
        model.labels.len()
    )))
}
