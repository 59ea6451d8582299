//! `reproduce`: what papers claim, tested on one's own machine.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use plethora_core::Error;
use plethora_core::corpus::Output;
use plethora_jobs::papers::{Papers, Piece, Place, Results, Selection};
use plethora_jobs::search::parse_budget;
use plethora_system::Device;

use crate::device_args::parse as parse_device;
use crate::reproduction::{Outcome, RESULTS_FILE, Runner};
use crate::session::Session;
use crate::{interrupt, registry, results};

const EXAMPLES: &str = "\
Examples:
  plethora reproduce --list
  plethora reproduce --data DATA -o OUT --only PAPER/table-5 --seeds 1,2,3 --vectors glove.txt
  plethora reproduce --data DATA -o OUT --device cuda --encoder all-MiniLM-L6-v2 --budget 10m
  plethora reproduce -o OUT --quick --only parabel,bonsai
  plethora reproduce --results papers.jsonl --page papers.md

DATA is a folder with the files that --list names. Each piece (a run on some data with a seed) is trained and measured by
the commands that the page shows; what is measured is kept in OUT/results.jsonl, and the same command goes on with what
is missing, so that an hour can be spent in pieces of ten minutes. OUT/papers.md has every claim of the papers with
their figures, ours, and a verdict.";

/// Test what papers claim: their tables and figures, run by run, on data that you have
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// Folder with the corpora; without one nothing is run, and the page has what was measured elsewhere
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,

    /// Folder for models, reports, figures and the page
    #[arg(short, long, value_name = "FOLDER", required_unless_present_any = ["list", "page"])]
    #[arg(required_if_eq("quick", "true"))]
    output: Option<PathBuf>,

    /// Papers, claims as PAPER/table-5, runs, or presets for the presets of all papers; everything if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,

    /// Corpora to run on, by the names of --list; all that are there if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    on: Vec<String>,

    /// Seeds; each is a model of its own, and the page has their mean and spread
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1")]
    seeds: Vec<u64>,

    /// Time after which nothing starts and what runs is stopped, to be resumed by the same command, as 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    budget: Option<Duration>,

    /// Further figures for the page, as lines of JSON; what they have is not run again
    #[arg(long, value_name = "FILE")]
    results: Vec<PathBuf>,

    /// Write the page to this file, too
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// Run everything on a small generated corpus with tiny sizes: the figures mean nothing
    #[arg(long, conflicts_with_all = ["data", "on"])]
    quick: bool,

    /// Show claims, pieces and what they lack, and run nothing
    #[arg(long)]
    list: bool,

    /// File with pretrained word vectors for the runs that need some: GloVe, word2vec or fastText
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,

    /// Pretrained encoder for the runs that need one: a Hugging Face folder, or a name in its cache
    #[arg(long, value_name = "FOLDER")]
    encoder: Option<String>,

    /// Where neural systems compute: cpu, cuda (the first GPU) or cuda:N
    #[arg(long, value_name = "DEVICE", value_parser = parse_device, default_value = "cpu")]
    device: Device,

    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

impl ReproduceArgs {
    /// Runs what is missing and writes the page.
    pub(crate) fn run(&self, session: &Session, threads: usize) -> anyhow::Result<()> {
        let papers = Papers::new(registry());
        let pieces = papers.pieces(&Selection {
            only: self.only.clone(),
            data: self.on.clone(),
            seeds: self.seeds.clone(),
            is_quick: self.quick,
        })?;
        let mut known = Results::default();
        for path in &self.results {
            known.read(path)?;
        }
        let place = self.place(&papers);
        let own = place.output.join(RESULTS_FILE);
        if own.is_file() {
            known.read(&own)?;
        }
        if self.list {
            return results::print(&list(&papers, &pieces, &place, &known)).map_err(Into::into);
        }
        let runs = self.quick || self.data.is_some();
        if runs {
            interrupt::install();
        }
        let pages = self.pages(&place)?;
        let runner = Runner {
            papers: &papers,
            place: &place,
            deadline: self.budget.map(|budget| Instant::now() + budget),
            threads,
            session,
        };
        if self.quick {
            runner.generate()?;
        }
        let before = known.clone();
        let missing: Vec<&Piece> = papers.missing(&pieces, &before).filter(|_| runs).collect();
        let outcome = runner.run(&missing, &mut known)?;
        for mut page in pages {
            page.write(papers.page(&known).as_bytes())?;
            page.finish()?;
        }
        results::show(self.json, &outcome, told)?;
        if outcome.failed.is_empty() {
            return Ok(());
        }
        Err(Error::data(format!("{} of the pieces failed", outcome.failed.len())).into())
    }

    fn place(&self, papers: &Papers) -> Place {
        let output = self.output.clone().unwrap_or_default();
        let data = match &self.data {
            Some(data) => data.clone(),
            None if self.quick => output.join(&papers.quick_data().id),
            None => PathBuf::from("DATA"),
        };
        Place {
            data,
            output,
            vectors: self.vectors.clone(),
            encoder: self.encoder.clone(),
            device: self.device.to_string(),
        }
    }

    /// Files that cannot be written are told before the work.
    fn pages(&self, place: &Place) -> anyhow::Result<Vec<Output>> {
        let mut paths: Vec<PathBuf> = self.page.iter().cloned().collect();
        if self.output.is_some() {
            fs_err::create_dir_all(&place.output)?;
            paths.push(place.output.join("papers.md"));
        }
        let pages = paths.iter().map(|path| Output::create(path, true));
        Ok(pages.collect::<Result<_, _>>()?)
    }
}

/// Claims, and pieces with what they lack or whether they were measured.
fn list(papers: &Papers, pieces: &[Piece], place: &Place, known: &Results) -> String {
    let mut text = String::from("claims\n");
    for (paper, claim) in papers.claims() {
        let untestable = if claim.untestable.is_some() {
            " (not testable here)"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  {}/{}{untestable}  {}",
            paper.id, claim.id, claim.says
        );
    }
    text.push_str("\ndata\n");
    for data in &papers.data {
        let _ = writeln!(
            text,
            "  {}  {}: {}",
            data.id,
            data.about,
            data.files.join(", ")
        );
    }
    text.push_str("\npieces, each a run, its data and a seed\n");
    let missing: Vec<String> = papers.missing(pieces, known).map(Piece::name).collect();
    for piece in pieces {
        let state = if missing.contains(&piece.name()) {
            let expected = || papers.expected(piece, place);
            let state = papers.lacks(piece, place).or_else(expected);
            state.unwrap_or_else(|| "to be run".into())
        } else {
            "measured".to_owned()
        };
        let _ = writeln!(text, "  {}  {state}", piece.name());
    }
    text
}

/// What was done, for a person.
fn told(outcome: &Outcome) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "measured    {}", outcome.measured.len());
    for (piece, log) in &outcome.failed {
        let _ = writeln!(text, "failed      {piece}, see {log}");
    }
    for (piece, lack) in &outcome.lacking {
        let _ = writeln!(text, "not run     {piece}: {lack}");
    }
    if let Some(piece) = &outcome.stopped {
        let _ = writeln!(text, "stopped     {piece}; the same command resumes it");
    }
    if outcome.left > 0 {
        let _ = writeln!(
            text,
            "left        {}; the same command goes on",
            outcome.left
        );
    }
    text
}
