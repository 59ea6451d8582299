//! The trained part of a model folder, whatever family it is of.

use plethora_core::artifact::{ModelDetails, ModelReader};
use plethora_core::corpus::LabelSpace;
use plethora_core::text::TfIdf;
use plethora_core::{Error, Result};
use plethora_linear::knn::{KNN, KnnConfig, KnnModel};
use plethora_linear::{CONFIG_FILE, LinearConfig, LinearModel};
#[cfg(feature = "torch")]
use plethora_neural::{NeuralConfig, NeuralModel};

use crate::{Compute, ENSEMBLE, EnsembleModel, System};

/// Opens the trained part of a model, and what makes the features of a linear one.
pub(crate) fn open_system(
    folder: &ModelReader,
    details: &ModelDetails,
    labels: &LabelSpace,
    compute: Compute,
) -> Result<(System, Option<TfIdf>)> {
    let kind = folder.manifest().kind.as_str();
    if plethora_linear::recipe(kind).is_some() {
        let (model, tfidf) = open_linear(folder, details)?;
        Ok((System::Linear(model), tfidf))
    } else if kind == KNN {
        let (model, tfidf) = open_knn(folder, details)?;
        Ok((System::Knn(model), tfidf))
    } else if kind == ENSEMBLE {
        let model = EnsembleModel::open(folder, details, labels, compute)?;
        Ok((System::Ensemble(model), None))
    } else {
        Ok((open_neural(folder, details, compute)?, None))
    }
}

fn open_linear(
    folder: &ModelReader,
    details: &ModelDetails,
) -> Result<(LinearModel, Option<TfIdf>)> {
    let tfidf = open_tfidf(folder, details)?;
    let num_features = details.num_features as usize;
    let config: LinearConfig = folder.read_json(CONFIG_FILE)?;
    let model = LinearModel::open(folder, config, num_features, details.num_labels as usize)
        .map_err(|error| as_model_error(error, folder))?;
    Ok((model, tfidf))
}

fn open_knn(folder: &ModelReader, details: &ModelDetails) -> Result<(KnnModel, Option<TfIdf>)> {
    let tfidf = open_tfidf(folder, details)?;
    let config: KnnConfig = folder.read_json(CONFIG_FILE)?;
    let num_features = details.num_features as usize;
    let model = KnnModel::open(folder, config, num_features, details.num_labels as usize)
        .map_err(|error| as_model_error(error, folder))?;
    Ok((model, tfidf))
}

/// What makes the features of texts; absent where documents come as features.
fn open_tfidf(folder: &ModelReader, details: &ModelDetails) -> Result<Option<TfIdf>> {
    if !details.takes_text {
        return Ok(None);
    }
    let tfidf = TfIdf::load_from(folder.folder())?;
    if tfidf.num_features() != details.num_features as usize {
        return Err(Error::model(
            folder.folder(),
            "the terms of the text features do not fit the manifest",
        ));
    }
    Ok(Some(tfidf))
}

#[cfg(feature = "torch")]
fn open_neural(folder: &ModelReader, details: &ModelDetails, compute: Compute) -> Result<System> {
    if plethora_neural::recipe(&folder.manifest().kind).is_none() {
        return Err(unknown_system(folder));
    }
    // Asked for by the user, so it is no fault of the model if it is not there.
    compute.device.open()?;
    let config: NeuralConfig = folder.read_json(CONFIG_FILE)?;
    let model = NeuralModel::open(
        folder,
        config,
        details.num_labels as usize,
        compute.device,
        compute.precision.into(),
    )
    .map_err(|error| as_model_error(error.into(), folder))?;
    Ok(System::Neural(model))
}

#[cfg(not(feature = "torch"))]
fn open_neural(folder: &ModelReader, _: &ModelDetails, _: Compute) -> Result<System> {
    if crate::NEURAL_SYSTEMS.contains(&folder.manifest().kind.as_str()) {
        return Err(Error::model(
            folder.folder(),
            format!(
                "`{}` is a neural system, and this program was built without them",
                folder.manifest().kind
            ),
        ));
    }
    Err(unknown_system(folder))
}

fn unknown_system(folder: &ModelReader) -> Error {
    Error::model(
        folder.folder(),
        format!(
            "this program does not know the system `{}`",
            folder.manifest().kind
        ),
    )
}

/// Settings that cannot work are the user's mistake elsewhere, but damage in a model.
pub(crate) fn as_model_error(error: Error, folder: &ModelReader) -> Error {
    match error {
        Error::Config { .. } => Error::model(&folder.folder().join(CONFIG_FILE), error.to_string()),
        other => other,
    }
}
