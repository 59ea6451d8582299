//! From claims to pieces, each a run on some data with a seed.

use plethora_core::{Error, Result};

use super::catalogue::Papers;
use super::claims::Need;
use super::commands::Place;
use super::results::Results;

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Papers, claims (`PAPER/table-5`) or runs; all where none is named.
    pub only: Vec<String>,
    /// Corpora; all that are there where none is named.
    pub data: Vec<String>,
    /// Seeds of everything that has one.
    pub seeds: Vec<u64>,
    /// Whether everything runs on a generated corpus, and small.
    pub is_quick: bool,
}

/// A run on some data with a seed: what is run as a whole, or resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The run.
    pub run: String,
    /// The data.
    pub data: String,
    /// The seed.
    pub seed: u64,
    /// Whether it is small.
    pub is_quick: bool,
}

impl Papers {
    /// The pieces that are asked for, those that others are made of first.
    ///
    /// # Errors
    /// [`Error::Usage`] if a name is unknown.
    pub fn pieces(&self, selection: &Selection) -> Result<Vec<Piece>> {
        let mut wanted: Vec<(String, String)> = Vec::new();
        for (run, data) in self.chosen(&selection.only)? {
            let data = if selection.is_quick {
                &self.quick_data().id
            } else {
                &data
            };
            if selection.data.is_empty() || selection.data.contains(data) {
                self.add(&run, data, &mut wanted);
            }
        }
        let mut named = selection.data.iter();
        if let Some(id) = named.find(|id| self.data_of(id).is_none()) {
            return Err(Error::usage(format!(
                "--on: there is no data `{id}`; --list shows it"
            )));
        }
        let pieces = wanted.iter().flat_map(|(run, data)| {
            let seeds = self.seeds(run, &selection.seeds).iter();
            seeds.map(|&seed| Piece {
                run: run.clone(),
                data: data.clone(),
                seed,
                is_quick: selection.is_quick,
            })
        });
        Ok(pieces.collect())
    }

    /// Runs with data: those of claims and of presets.
    fn chosen(&self, only: &[String]) -> Result<Vec<(String, String)>> {
        let mut chosen = Vec::new();
        let mut is_known = vec![only.is_empty(); only.len()];
        let mut is_wanted = |names: &[&str]| {
            let mut places = (0..only.len()).filter(|&place| names.contains(&&*only[place]));
            let found = places.next();
            if let Some(place) = found {
                is_known[place] = true;
            }
            found.is_some() || only.is_empty()
        };
        for (paper, claim) in self.claims() {
            let claim_name = format!("{}/{}", paper.id, claim.id);
            for run in claim.runs() {
                if is_wanted(&[&paper.id, &claim_name, run]) {
                    let data = self.data_of_claim(claim).map(|data| data.id.clone());
                    chosen.extend(data.map(|data| (run.to_owned(), data)));
                }
            }
            // A claim without runs is a name, too.
            is_wanted(&[&paper.id, &claim_name]);
        }
        for run in &self.presets {
            if is_wanted(&["presets", run]) {
                chosen.extend(self.data.iter().map(|data| (run.clone(), data.id.clone())));
            }
        }
        match only.iter().zip(&is_known).find(|(_, is_known)| !**is_known) {
            Some((name, _)) => Err(Error::usage(format!(
                "--only: there is no paper, claim or run `{name}`; --list shows them"
            ))),
            None => Ok(chosen),
        }
    }

    /// Adds a run behind those that it is made of.
    fn add(&self, run: &str, data: &str, wanted: &mut Vec<(String, String)>) {
        for part in self.runs.get(run).into_iter().flat_map(|run| &run.of) {
            self.add(part, data, wanted);
        }
        let one = (run.to_owned(), data.to_owned());
        if !wanted.contains(&one) {
            wanted.push(one);
        }
    }

    /// The seeds of a run: one where nothing is drawn.
    fn seeds<'a>(&self, run: &str, seeds: &'a [u64]) -> &'a [u64] {
        if self.draws(run) {
            seeds
        } else {
            &seeds[..seeds.len().min(1)]
        }
    }

    fn draws(&self, run: &str) -> bool {
        let Some(run) = self.runs.get(run) else {
            return false;
        };
        let draws_itself = self
            .spec(run)
            .is_some_and(|spec| spec.option("seed").is_some());
        draws_itself || run.of.iter().any(|part| self.draws(part))
    }

    /// What a piece lacks, where it cannot be run here.
    pub fn lacks(&self, piece: &Piece, place: &Place) -> Option<String> {
        let data = self.data_of(&piece.data)?;
        let run = &self.runs[&piece.run];
        let needs = |need: Need| run.needs.contains(&need);
        let names = data.vocabulary.iter().filter(|_| needs(Need::Vocabulary));
        let mut files = data
            .files
            .iter()
            .chain(names)
            .map(|file| place.data.join(file));
        if let Some(file) = files.find(|file| !file.exists()) {
            return Some(format!("no {}", file.display()));
        }
        if run.past {
            return Some("a program of the past".into());
        }
        if run.of.is_empty() && self.spec(run).is_none() {
            return Some("this program does not have its system".into());
        }
        if (run.calibrated || run.fitted) && data.held.is_empty() {
            return Some("no validation documents".into());
        }
        if needs(Need::Encoder) && place.encoder.is_none() {
            return Some("no --encoder".into());
        }
        if needs(Need::Vectors) && place.vectors.is_none() && !piece.is_quick {
            return Some("no --vectors".into());
        }
        let part = |run: &String| Piece {
            run: run.clone(),
            ..piece.clone()
        };
        run.of.iter().find_map(|run| self.lacks(&part(run), place))
    }

    /// Pieces that were not measured yet.
    pub fn missing<'a>(
        &'a self,
        pieces: &'a [Piece],
        results: &'a Results,
    ) -> impl Iterator<Item = &'a Piece> {
        pieces.iter().filter(|piece| {
            !results.has(&piece.run, &piece.data, piece.seed, &self.arguments(piece))
        })
    }
}

impl Piece {
    /// What folders of it are called.
    pub fn name(&self) -> String {
        format!("{}.{}.{}", self.run, self.data, self.seed)
    }
}
