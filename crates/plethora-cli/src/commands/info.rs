//! `info`: what is in a model folder.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use plethora_core::artifact::{CONFIG_FILE, METRICS_FILE, ModelDetails, ModelReader};
use plethora_core::calibration::Calibration;
use plethora_core::grouped;
use plethora_system::{ENSEMBLE, EnsembleConfig, MemberFolder};
use serde::Serialize;
use serde_json::Value;

use crate::figures::{bytes, percent};
use crate::{calibration_report, registry, results};

const EXAMPLES: &str = "\
Examples:
  plethora info model
  plethora info model --json | jq .config.seed";

/// Metrics worth a line; `--json` has them all.
const SHOWN_METRICS: [&str; 8] = [
    "P@1", "P@3", "P@5", "R@5", "nDCG@5", "PSP@5", "microF1", "macroF1",
];

/// Show what a model folder holds, and check that it is undamaged
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InfoArgs {
    /// Model folder
    model: PathBuf,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// All that is known of a model.
#[derive(Serialize)]
struct ModelInfo {
    /// As it is shown, for JSON has no names that are not Unicode.
    path: String,
    format_version: u32,
    program_version: String,
    #[serde(flatten)]
    details: ModelDetails,
    /// Weights of a neural system.
    #[serde(rename = "n_parameters", skip_serializing_if = "Option::is_none")]
    num_parameters: Option<u64>,
    /// The models of an ensemble.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<MemberInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    size: u64,
    files: Vec<FileInfo>,
    config: Value,
    metrics: Option<Value>,
}

#[derive(Serialize)]
struct MemberInfo {
    name: String,
    weight: f64,
    #[serde(flatten)]
    details: ModelDetails,
    #[serde(rename = "n_parameters", skip_serializing_if = "Option::is_none")]
    num_parameters: Option<u64>,
    size: u64,
}

#[derive(Serialize)]
struct FileInfo {
    name: String,
    size: u64,
    sha256: String,
}

impl InfoArgs {
    /// Opens the model, which compares every file with its checksum, and tells.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        results::show(self.json, &self.read()?, ModelInfo::render)
    }

    fn read(&self) -> plethora_core::Result<ModelInfo> {
        let folder = ModelReader::open(&self.model)?;
        let manifest = folder.manifest();
        let files: Vec<FileInfo> = manifest
            .files
            .iter()
            .map(|(name, entry)| FileInfo {
                name: name.clone(),
                size: entry.size,
                sha256: entry.sha256.clone(),
            })
            .collect();
        let details = ModelDetails::of(&folder)?;
        Ok(ModelInfo {
            path: self.model.display().to_string(),
            format_version: manifest.format_version,
            program_version: manifest.program_version.clone(),
            num_parameters: registry().num_parameters(&folder)?,
            members: members(&folder)?,
            calibration: Calibration::of(&folder, details.num_labels as usize)?,
            details,
            size: files.iter().map(|file| file.size).sum(),
            files,
            config: folder.read_json(CONFIG_FILE)?,
            metrics: if folder.contains(METRICS_FILE) {
                Some(folder.read_json(METRICS_FILE)?)
            } else {
                None
            },
        })
    }
}

impl ModelInfo {
    /// What the model knows of documents, as its family counts it.
    fn render_inputs(&self) -> String {
        let details = &self.details;
        if details.system == ENSEMBLE {
            let taken = if details.takes_text {
                "texts"
            } else {
                "features"
            };
            return format!("members     {}, all take {taken}\n", self.members.len());
        }
        let count = grouped(details.num_features);
        if let Some(parameters) = self.num_parameters {
            return format!(
                "words       {count}\n\
                 parameters  {}\n\
                 devices     cpu and cuda from the same folder, wherever it was trained\n",
                grouped(parameters)
            );
        }
        let origin = if details.takes_text {
            "terms of texts"
        } else {
            "given with the documents"
        };
        format!("features    {count} ({origin})\n")
    }

    fn render_members(&self, text: &mut String) {
        if self.members.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\nmembers              system    weight      labels   documents         size"
        );
        for member in &self.members {
            let MemberInfo {
                name,
                weight,
                details,
                size,
                ..
            } = member;
            let _ = writeln!(
                text,
                "  {name:10} {:>14} {weight:>9} {:>11} {:>11} {:>12}",
                details.system,
                grouped(details.num_labels),
                grouped(details.num_documents),
                bytes(*size)
            );
        }
    }

    fn render(&self) -> String {
        let details = &self.details;
        let mut text = format!(
            "model       {}\n\
             system      {}\n\
             written by  plethora {}, format {}\n\
             labels      {}\n\
             documents   {}\n\
             {}\
             size        {}, all files as the manifest says\n",
            self.path,
            details.system,
            self.program_version,
            self.format_version,
            grouped(details.num_labels),
            grouped(details.num_documents),
            self.render_inputs(),
            bytes(self.size),
        );
        if !details.text_fields.is_empty() {
            let _ = writeln!(text, "text fields {}", details.text_fields.join(", "));
        }
        match &self.calibration {
            Some(calibration) => text.push_str(&calibration_report::describe(calibration)),
            None => text.push_str("calibrated  no\n"),
        }
        self.render_members(&mut text);
        text.push_str("\nfiles\n");
        let longest = self.files.iter().map(|file| file.name.len()).max();
        let width = longest.unwrap_or(0).max(28);
        for file in &self.files {
            let _ = writeln!(text, "  {:width$} {:>12}", file.name, bytes(file.size));
        }
        text.push_str("\nsettings\n");
        render_settings(&self.config, "", &mut text);
        if let Some(metrics) = &self.metrics {
            text.push_str("\nmetrics, in percent\n");
            let shown = SHOWN_METRICS
                .iter()
                .filter_map(|key| Some((key, metrics.get(key)?.as_f64()?)));
            for (key, value) in shown {
                let _ = writeln!(text, "  {key:28} {:>12}", percent(value));
            }
        }
        text
    }
}

/// The models of an ensemble; none for other systems.
fn members(folder: &ModelReader) -> plethora_core::Result<Vec<MemberInfo>> {
    if folder.manifest().kind != ENSEMBLE {
        return Ok(Vec::new());
    }
    let members = MemberFolder::all(folder, &EnsembleConfig::of(folder)?)?;
    members
        .into_iter()
        .map(|member| {
            let files = member.folder.manifest().files.values();
            Ok(MemberInfo {
                num_parameters: registry().num_parameters(&member.folder)?,
                size: files.map(|file| file.size).sum(),
                name: member.name,
                weight: member.weight,
                details: member.details,
            })
        })
        .collect()
}

/// Settings by their dotted keys, as `--set` takes them.
fn render_settings(value: &Value, key: &str, text: &mut String) {
    match value {
        Value::Object(entries) => {
            for (name, entry) in entries {
                let key = match key {
                    "" => name.clone(),
                    group => format!("{group}.{name}"),
                };
                render_settings(entry, &key, text);
            }
        }
        value => {
            let shown = value.as_str().map_or_else(|| value.to_string(), Into::into);
            let _ = writeln!(text, "  {key:28} {shown:>12}");
        }
    }
}
