//! All papers, runs and data, and whether they go together.

use std::collections::BTreeMap;

use plethora_system::{Registry, SystemSpec};
use serde::Deserialize;

use super::claims::{Claim, Data, Need, Paper, Run};

/// Named by their first authors.
const PAPERS: [&str; 5] = [
    include_str!("../../data/papers/you.toml"),
    include_str!("../../data/papers/jiang.toml"),
    include_str!("../../data/papers/ye.toml"),
    include_str!("../../data/papers/zhu.toml"),
    include_str!("../../data/papers/wang.toml"),
];
const DATA: &str = include_str!("../../data/papers/data.toml");

/// Presets with such names have the settings of a paper or of its program.
const OF_PAPERS: [&str; 2] = ["paper", "program"];

/// All that is claimed, run and measured on.
#[derive(Debug)]
pub struct Papers {
    /// The papers.
    pub papers: Vec<Paper>,
    /// The corpora.
    pub data: Vec<Data>,
    /// By their names; runs of presets are among them.
    pub runs: BTreeMap<String, Run>,
    /// Runs that have a preset of a paper and nothing else, in the order of the registry.
    pub presets: Vec<String>,
    /// The corpus of a quick try, and what makes systems small there.
    pub(super) quick: Quick,
    /// The systems of runs.
    pub(super) registry: &'static Registry,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DataFile {
    data: Vec<Data>,
    quick: Quick,
}

/// The corpus of a quick try.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quick {
    /// A generated one.
    pub(super) data: Data,
    /// How it is generated.
    pub(super) generate: String,
    /// What makes a system small, by its name.
    pub(super) settings: BTreeMap<String, String>,
}

impl Papers {
    /// Reads the tables that the program brings along.
    ///
    /// # Panics
    /// If they do not go together, which a test finds.
    pub fn new(registry: &'static Registry) -> Self {
        let papers: Vec<Paper> = PAPERS.iter().map(|text| read(text)).collect();
        let DataFile { data, quick } = read(DATA);
        let presets = preset_runs(registry);
        let names = presets.iter().map(|run| run.id.clone()).collect();
        let declared = papers.iter().flat_map(|paper| paper.runs.iter().cloned());
        let runs = declared
            .chain(presets)
            .map(|run| (run.id.clone(), run))
            .collect();
        Self {
            papers,
            data,
            runs,
            presets: names,
            quick,
            registry,
        }
    }

    /// What does not go together, for a test: claims that name no run, runs that name no system or setting.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut missing = Vec::new();
        let mut miss = |place: &str, what: &str, name: &str| {
            missing.push(format!("{place}: there is no {what} `{name}`"));
        };
        for (paper, claim) in self.claims() {
            let place = format!("{}/{}", paper.id, claim.id);
            for run in claim.runs().filter(|run| !self.runs.contains_key(*run)) {
                miss(&place, "run", run);
            }
            for data in claim.data.iter().filter(|id| self.data_of(id).is_none()) {
                miss(&place, "data", data);
            }
            if claim.untestable.is_none() && (claim.rules.is_empty() || claim.data.is_empty()) {
                miss(
                    &place,
                    "rule, data or reason why it is untestable in",
                    &place,
                );
            }
            for printed in &claim.paper {
                let width = printed.metrics.as_ref().unwrap_or(&claim.metrics).len();
                if printed.rows.values().any(|row| row.len() != width) {
                    miss(&place, "figure per metric on", &printed.data);
                }
            }
        }
        for run in self.runs.values() {
            for part in run.of.iter().filter(|part| !self.runs.contains_key(*part)) {
                miss(&run.id, "run", part);
            }
            if run.of.is_empty() {
                let words: Vec<String> = run.train.split_whitespace().map(str::to_owned).collect();
                if let Err(error) = self.settings(&words).and_then(|settings| settings.config()) {
                    problems.push(format!("{}: {error}", run.id));
                }
            }
            match self.spec(run) {
                None if run.of.is_empty() => miss(&run.id, "system in", &run.train),
                Some(spec)
                    if run.needs.contains(&Need::Encoder) && spec.option("encoder").is_none() =>
                {
                    miss(&run.id, "encoder to give to", spec.name);
                }
                _ => {}
            }
        }
        problems.extend(missing);
        problems
    }

    /// All claims with their papers.
    pub fn claims(&self) -> impl Iterator<Item = (&Paper, &Claim)> {
        let papers = self.papers.iter();
        papers.flat_map(|paper| paper.claims.iter().map(move |claim| (paper, claim)))
    }

    /// A corpus by its name.
    pub fn data_of(&self, id: &str) -> Option<&Data> {
        let mut all = self.data.iter().chain([&self.quick.data]);
        all.find(|data| data.id == id)
    }

    /// The corpus of a quick try.
    pub fn quick_data(&self) -> &Data {
        &self.quick.data
    }

    /// How the corpus of a quick try is generated, as arguments of the program.
    pub fn quick_generator(&self) -> &str {
        &self.quick.generate
    }

    /// The corpora of a claim: those that it names, and the paper's own.
    pub fn data_of_claim<'a>(&'a self, claim: &'a Claim) -> impl Iterator<Item = &'a Data> {
        let own = claim.paper.iter().filter_map(|printed| {
            let mut all = self.data.iter();
            all.find(|data| data.own.as_deref() == Some(&printed.data))
        });
        let named = claim.data.iter().filter_map(|id| self.data_of(id));
        let mut seen = Vec::new();
        named.chain(own).filter(move |data| {
            let is_new = !seen.contains(&&*data.id);
            seen.push(&data.id);
            is_new
        })
    }

    /// The system that a run trains.
    pub(super) fn spec(&self, run: &Run) -> Option<&'static SystemSpec> {
        let name = after(&run.train, "--system")?;
        self.registry.systems().find(|spec| spec.name == name)
    }
}

impl Claim {
    /// The runs that it shows, each once, in the order in which it names them.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        let compared = self.rules.iter().flat_map(super::rule::Rule::runs);
        let mut seen: Vec<&str> = Vec::new();
        for run in compared.chain(self.beside.iter().map(String::as_str)) {
            if !seen.contains(&run) {
                seen.push(run);
            }
        }
        seen.into_iter()
    }
}

/// The word behind an option.
fn after<'a>(arguments: &'a str, option: &str) -> Option<&'a str> {
    let mut words = arguments.split_whitespace();
    words.find(|word| *word == option)?;
    words.next()
}

/// A run for every preset that has the settings of a paper or of its program.
fn preset_runs(registry: &Registry) -> Vec<Run> {
    let of_system = |spec: &'static SystemSpec| {
        let is_of_paper = |name: &str| OF_PAPERS.contains(&name.split('-').next().unwrap_or(name));
        let presets = spec.presets.iter().map(|preset| preset.name);
        presets
            .filter(move |name| is_of_paper(name))
            .map(move |name| {
                let options = [("encoder", Need::Encoder), ("vectors", Need::Vectors)];
                let needs = options
                    .iter()
                    .filter(|(option, _)| spec.option(option).is_some());
                Run {
                    id: format!("{}.{name}", spec.name),
                    about: format!("{}, preset {name}", spec.name),
                    train: format!("--system {} --preset {name}", spec.name),
                    needs: needs.map(|&(_, need)| need).collect(),
                    of: Vec::new(),
                    calibrated: false,
                    ensemble: None,
                    fitted: false,
                    past: false,
                    members: None,
                }
            })
    };
    registry.systems().flat_map(of_system).collect()
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> T {
    toml::from_str(text).expect("a test reads the tables of papers")
}
