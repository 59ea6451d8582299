//! Runs the pieces that test the claims of papers, each as the commands that users would type, and keeps what they measure.

mod child;
mod day;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use plethora_core::Error;
use plethora_jobs::figures::duration;
use plethora_jobs::papers::{Figures, Papers, Piece, Place, Results, Step, figures_of, report_of};
use serde::Serialize;

use crate::session::Session;
use child::{Ended, run_child};

/// Where figures are kept in the folder of a reproduction.
pub(crate) const RESULTS_FILE: &str = "results.jsonl";

/// Pieces on their way.
pub(crate) struct Runner<'a> {
    pub(crate) papers: &'a Papers,
    pub(crate) place: &'a Place,
    /// When to stop what runs, to be resumed later.
    pub(crate) deadline: Option<Instant>,
    /// Threads of each command; 0 takes all processors.
    pub(crate) threads: usize,
    pub(crate) session: &'a Session,
}

/// How all of them went.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// Pieces that were measured now.
    pub(crate) measured: Vec<String>,
    /// The piece that was stopped, and is resumed by the same command.
    pub(crate) stopped: Option<String>,
    /// Pieces that cannot be run here, and what they lack.
    pub(crate) lacking: Vec<(String, String)>,
    /// Pieces that failed, and where to read why.
    pub(crate) failed: Vec<(String, String)>,
    /// Pieces that no time was left for.
    pub(crate) left: usize,
}

impl Runner<'_> {
    /// Runs pieces one after another, until all were or the time is over. What is measured is added to `results` and to the
    /// file of the folder at once.
    pub(crate) fn run(&self, pieces: &[&Piece], results: &mut Results) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        for (number, piece) in pieces.iter().enumerate() {
            if let Some(lack) = self.papers.lacks(piece, self.place) {
                outcome.lacking.push((piece.name(), lack));
                continue;
            }
            if self.remaining().is_some_and(|left| left.is_zero()) {
                outcome.left = pieces.len() - number;
                break;
            }
            let started = Instant::now();
            self.session.progress().start(&piece.name(), None);
            match self.run_piece(piece)? {
                Ended::Well => {
                    let figures = self.figures(piece)?;
                    figures.append(&self.place.output.join(RESULTS_FILE))?;
                    results.add(figures);
                    let took = duration(started.elapsed().as_secs_f64());
                    self.session
                        .progress()
                        .finish(&format!("measured in {took}"));
                    outcome.measured.push(piece.name());
                }
                Ended::Badly => {
                    let log = self.log_of(piece).display().to_string();
                    self.session
                        .progress()
                        .finish(&format!("failed, see {log}"));
                    outcome.failed.push((piece.name(), log));
                }
                Ended::Stopped => {
                    self.session.progress().finish("stopped");
                    outcome.stopped = Some(piece.name());
                    outcome.left = pieces.len() - number - 1;
                    break;
                }
            }
        }
        Ok(outcome)
    }

    fn run_piece(&self, piece: &Piece) -> anyhow::Result<Ended> {
        let log = self.log_of(piece);
        for step in self.papers.steps(piece, self.place) {
            if is_there(&step.output) {
                continue;
            }
            let ended = run_child(&self.words(&step), &log, self.deadline)?;
            if ended != Ended::Well {
                return Ok(ended);
            }
        }
        Ok(Ended::Well)
    }

    fn words(&self, step: &Step) -> Vec<String> {
        let mut words = vec!["-j".to_owned(), self.threads.to_string()];
        words.extend(step.arguments.iter().cloned());
        words
    }

    fn figures(&self, piece: &Piece) -> anyhow::Result<Figures> {
        let report = report_of(piece, self.place);
        let needs = self.papers.needs(&piece.run);
        let file_name = |path: &Path| {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            name.unwrap_or_default()
        };
        let brought = needs.iter().filter_map(|need| match *need {
            "--vectors" => self.place.vectors.as_deref().map(file_name),
            _ => self
                .place
                .encoder
                .as_deref()
                .map(|encoder| file_name(Path::new(encoder))),
        });
        Ok(Figures {
            run: piece.run.clone(),
            data: piece.data.clone(),
            seed: piece.seed,
            arguments: self.papers.arguments(piece),
            metrics: figures_of(&report).context("reading what was measured")?,
            with: brought.collect::<Vec<String>>().join(", "),
            device: self.place.device.clone(),
            day: day::today(),
            source: String::new(),
            note: String::new(),
        })
    }

    fn remaining(&self) -> Option<Duration> {
        self.deadline
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    fn log_of(&self, piece: &Piece) -> PathBuf {
        self.place
            .output
            .join("logs")
            .join(format!("{}.log", piece.name()))
    }

    /// The corpus of a quick try, which is generated where it is not there.
    pub(crate) fn generate(&self) -> anyhow::Result<()> {
        let folder = self.place.data.clone();
        if folder.join(&self.papers.quick_data().files[0]).exists() {
            return Ok(());
        }
        let more = self
            .papers
            .quick_generator()
            .split_whitespace()
            .map(str::to_owned);
        let words = [
            "generate".to_owned(),
            "-o".into(),
            folder.display().to_string(),
        ];
        let words: Vec<String> = words.into_iter().chain(more).collect();
        let log = self.place.output.join("logs").join("generate.log");
        match run_child(&words, &log, None)? {
            Ended::Well => Ok(()),
            _ => Err(
                Error::data(format!("generating a corpus failed, see {}", log.display())).into(),
            ),
        }
    }
}

/// A model or a report that is complete: both appear as a whole.
fn is_there(output: &Path) -> bool {
    ["manifest.json", "report.json"]
        .iter()
        .any(|file| output.join(file).is_file())
}
