//! From pieces to the commands that users would type.

use std::path::{Path, PathBuf};

use plethora_system::SystemSpec;

use super::catalogue::Papers;
use super::claims::{Data, Need, Run};
use super::plan::Piece;

/// Depths of rankings that are measured, in all papers the same.
const DEPTHS: &str = "1,3,5";

/// Where things are.
#[derive(Debug, Clone)]
pub struct Place {
    /// Folder with corpora.
    pub data: PathBuf,
    /// Folder for models and reports.
    pub output: PathBuf,
    /// File with word vectors.
    pub vectors: Option<PathBuf>,
    /// Folder or name of an encoder.
    pub encoder: Option<String>,
    /// The device of neural systems.
    pub device: String,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What the program is told.
    pub arguments: Vec<String>,
    /// What comes out: there is nothing to do where it is there.
    pub output: PathBuf,
}

impl Papers {
    /// What a run is told beside data, files and folders: what its figures are of.
    pub fn arguments(&self, piece: &Piece) -> String {
        let run = &self.runs[&piece.run];
        if run.of.is_empty() {
            return self.train_arguments(run, piece).join(" ");
        }
        let mut words = vec![run.of.join(" + ")];
        words.extend(run.calibrated.then(|| "calibrated".to_owned()));
        words.extend(run.ensemble.clone());
        words.extend(run.members.map(|count| format!("--members {count}")));
        words.join(", ")
    }

    pub(super) fn train_arguments(&self, run: &Run, piece: &Piece) -> Vec<String> {
        let mut arguments = words(&run.train);
        let Some(spec) = self.spec(run) else {
            return arguments;
        };
        let data = self.data_of(&piece.data);
        // Where the settings are those of a paper, nothing else is to change them.
        let is_of_paper =
            run.train.contains("--preset paper") || run.train.contains("--preset program");
        let of_data = data
            .filter(|_| !is_of_paper)
            .and_then(|data| data.settings.get(spec.name));
        let of_quick = piece
            .is_quick
            .then(|| self.quick.settings.get(spec.name))
            .flatten();
        for settings in [of_data, of_quick].into_iter().flatten() {
            arguments.extend(words(settings));
        }
        arguments
    }

    /// The commands of a piece, in their order; the last one measures.
    pub fn steps(&self, piece: &Piece, place: &Place) -> Vec<Step> {
        let run = &self.runs[&piece.run];
        let Some(data) = self.data_of(&piece.data) else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        let model = model_of(piece, place);
        let parts: Vec<PathBuf> = run
            .of
            .iter()
            .map(|part| {
                let part = model_of(
                    &Piece {
                        run: part.clone(),
                        ..piece.clone()
                    },
                    place,
                );
                if !run.calibrated {
                    return part;
                }
                let calibrated = PathBuf::from(format!("{}.calibrated", part.display()));
                let arguments = [
                    vec!["calibrate".into(), shown(&part)],
                    filled(&data.held, place),
                    to(&calibrated),
                ];
                steps.push(Step {
                    arguments: arguments.concat(),
                    output: calibrated.clone(),
                });
                calibrated
            })
            .collect();
        let names: Vec<String> = parts.iter().map(|part| shown(part)).collect();
        if run.of.is_empty() {
            steps.push(self.training(run, piece, data, place, &model));
        } else if let Some(ensemble) = &run.ensemble {
            let mut arguments = [vec!["ensemble".into()], names.clone(), words(ensemble)].concat();
            if run.fitted {
                arguments.extend(fitted(&data.held, place));
            }
            arguments.extend(["--link".into()]);
            arguments.extend(to(&model));
            steps.push(Step {
                arguments,
                output: model.clone(),
            });
        }
        let measured = match (&run.ensemble, run.of.is_empty()) {
            (None, false) => names,
            _ => vec![shown(&model)],
        };
        let report = report_of(piece, place);
        let mut arguments = [vec!["eval".into()], measured, filled(&data.test, place)].concat();
        arguments.extend([
            "-k".into(),
            DEPTHS.into(),
            "--report".into(),
            shown(&report),
        ]);
        arguments.extend(
            run.members
                .into_iter()
                .flat_map(|count| ["--members".into(), count.to_string()]),
        );
        if self.is_neural(run) {
            arguments.extend(["--device".into(), place.device.clone()]);
        }
        steps.push(Step {
            arguments,
            output: report,
        });
        steps
    }

    fn training(&self, run: &Run, piece: &Piece, data: &Data, place: &Place, model: &Path) -> Step {
        let mut arguments = vec!["train".to_owned()];
        arguments.extend(filled(&data.train, place));
        arguments.extend(self.train_arguments(run, piece));
        let spec = self.spec(run);
        if spec.is_some_and(SystemSpec::uses_devices) {
            arguments.extend(filled(&data.valid, place));
            arguments.extend(["--device".into(), place.device.clone()]);
        }
        for need in &run.needs {
            let given = match need {
                Need::Vectors => place
                    .vectors
                    .as_deref()
                    .map(|file| ("--vectors", shown(file))),
                Need::Encoder => place.encoder.clone().map(|encoder| ("--encoder", encoder)),
                Need::Vocabulary => {
                    let file = data.vocabulary.as_ref().map(|file| place.data.join(file));
                    file.map(|file| ("--vocabulary", shown(&file)))
                }
            };
            arguments.extend(
                given
                    .into_iter()
                    .flat_map(|(option, value)| [option.to_owned(), value]),
            );
        }
        if spec.is_some_and(|spec| spec.option("seed").is_some()) {
            arguments.extend(["--seed".into(), piece.seed.to_string()]);
        }
        arguments.extend(to(model));
        arguments.push("--resume".into());
        Step {
            arguments,
            output: model.to_owned(),
        }
    }

    fn is_neural(&self, run: &Run) -> bool {
        let parts = run.of.iter().filter_map(|part| self.runs.get(part));
        self.spec(run).is_some_and(SystemSpec::uses_devices)
            || parts.into_iter().any(|part| self.is_neural(part))
    }
}

/// The folder of a piece's model.
pub(super) fn model_of(piece: &Piece, place: &Place) -> PathBuf {
    place.output.join("models").join(piece.name())
}

/// The folder of a piece's report.
pub fn report_of(piece: &Piece, place: &Place) -> PathBuf {
    place.output.join("reports").join(piece.name())
}

fn to(folder: &Path) -> Vec<String> {
    vec!["-o".into(), shown(folder)]
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn words(arguments: &str) -> Vec<String> {
    arguments.split_whitespace().map(str::to_owned).collect()
}

/// Arguments with the folder of data in its place.
fn filled(arguments: &str, place: &Place) -> Vec<String> {
    let data = shown(&place.data);
    words(arguments)
        .into_iter()
        .map(|word| word.replace("{}", &data))
        .collect()
}

/// Documents as `--fit` takes them: the file behind it, filters as they are.
fn fitted(arguments: &str, place: &Place) -> Vec<String> {
    [vec!["--fit".to_owned()], filled(arguments, place)].concat()
}
