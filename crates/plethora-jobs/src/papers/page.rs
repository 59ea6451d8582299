//! The page: every claim with the paper's figures, ours, the commands and a verdict.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::catalogue::Papers;
use super::claims::{Claim, Need, Paper};
use super::commands::Place;
use super::plan::Piece;
use super::results::{Figures, Results};
use super::statistics::standing;
use super::verdict::{Comparison, judge};

/// What stands above everything else.
const HEAD: &str = include_str!("../../data/papers/head.md");
/// What is shown of a preset's runs.
const PRESET_METRICS: [&str; 4] = ["P@1", "P@3", "P@5", "PSP@5"];

impl Papers {
    /// The page, in Markdown.
    pub fn page(&self, results: &Results) -> String {
        let mut page = HEAD.to_owned();
        self.write_data(&mut page);
        self.write_summary(results, &mut page);
        for paper in &self.papers {
            let _ = write!(page, "\n## {}\n\n{}\n", paper.title, paper.about);
            for claim in &paper.claims {
                self.write_claim(paper, claim, results, &mut page);
            }
        }
        self.write_presets(results, &mut page);
        page
    }

    fn write_data(&self, page: &mut String) {
        page.push_str(
            "\n## Data\n\n| data | what it is | files below `DATA` |\n| --- | --- | --- |\n",
        );
        for data in &self.data {
            let files: Vec<String> = data.files.iter().map(|file| format!("`{file}`")).collect();
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                data.id,
                data.about,
                files.join(", ")
            );
        }
    }

    fn write_summary(&self, results: &Results, page: &mut String) {
        page.push_str(
            "\n## All claims\n\n| claim | what it says | verdict | comparisons that agree |\n| --- | --- | --- | --- |\n",
        );
        for (paper, claim) in self.claims() {
            let data = self.data_ids(claim, results);
            let judged = judge(claim, &data, results);
            let found = judged.comparisons.iter().filter_map(|one| one.found);
            let (mut num_found, mut num_agreeing) = (0, 0);
            for one in found {
                num_found += 1;
                num_agreeing += usize::from(one.difference > 0.0);
            }
            let num_left = judged.comparisons.len() - num_found;
            let mut counts = String::new();
            if num_found > 0 {
                let _ = write!(counts, "{num_agreeing} of {num_found}");
            }
            if num_found > 0 && num_left > 0 {
                let _ = write!(counts, "; {num_left} not run");
            }
            let name = format!("{}/{}", paper.id, claim.id);
            let place = anchor(&name);
            let _ = writeln!(
                page,
                "| [{name}](#{place}) | {} | **{}** | {counts} |",
                claim.says, judged.verdict
            );
        }
    }

    fn write_claim(&self, paper: &Paper, claim: &Claim, results: &Results, page: &mut String) {
        let data = self.data_ids(claim, results);
        let judged = judge(claim, &data, results);
        let name = format!("{}/{}", paper.id, claim.id);
        let _ = write!(
            page,
            "\n### {name}\n\n{} **{}**",
            claim.says,
            capital(&judged.verdict.to_string())
        );
        match &claim.untestable {
            Some(reason) => {
                let _ = writeln!(page, ": {reason}");
            }
            None => page.push_str(".\n"),
        }
        if let Some(note) = &claim.note {
            let _ = write!(page, "\n{note}\n");
        }
        write_printed(claim, page);
        if claim.untestable.is_some() {
            return;
        }
        self.write_measured(claim, &data, results, page);
        write_comparisons(&judged.comparisons, page);
        if claim.ranks {
            write_standing(claim, &data, results, page);
        }
        let _ = write!(
            page,
            "\n    plethora reproduce --data DATA -o OUT --only {name}\n"
        );
    }

    /// A row for each run and its data, and for those that were not run what they are.
    fn write_measured(&self, claim: &Claim, data: &[&str], results: &Results, page: &mut String) {
        let _ = write!(
            page,
            "\n| ours | data | {} | seeds | by |\n",
            claim.metrics.join(" | ")
        );
        let _ = writeln!(
            page,
            "| --- | --- |{} --- | --- |",
            " ---: |".repeat(claim.metrics.len())
        );
        for data in data {
            for run in claim.runs() {
                let found = results.of(run, data);
                let about = self.runs.get(run).map_or("", |run| &run.about);
                let (cells, seeds, by) = if found.is_empty() {
                    (
                        vec![String::new(); claim.metrics.len()],
                        String::new(),
                        "not run yet".into(),
                    )
                } else {
                    let cells = claim
                        .metrics
                        .iter()
                        .map(|metric| cell(results, run, data, metric));
                    (cells.collect(), seeds(&found), provenance(&found))
                };
                let _ = writeln!(
                    page,
                    "| `{run}`: {about} | {data} | {} | {seeds} | {by} |",
                    cells.join(" | ")
                );
            }
        }
    }

    fn write_presets(&self, results: &Results, page: &mut String) {
        let _ = write!(
            page,
            "\n## Presets of papers\n\nEvery preset with the settings of a paper or of its program, its command on eurlex57k \
             (other data: other files), and what it gave there. `plethora reproduce --only presets` runs all of them.\n\n\
             | run | {} | seeds | by |\n| --- |{} --- | --- |\n",
            PRESET_METRICS.join(" | "),
            " ---: |".repeat(PRESET_METRICS.len())
        );
        let data = &self.data[0].id;
        for run in &self.presets {
            let found = results.of(run, data);
            let cells = PRESET_METRICS
                .map(|metric| cell(results, run, data, metric))
                .join(" | ");
            let by = if found.is_empty() {
                "not run yet".into()
            } else {
                provenance(&found)
            };
            let _ = writeln!(page, "| `{run}` | {cells} | {} | {by} |", seeds(&found));
        }
        page.push('\n');
        for run in &self.presets {
            let _ = writeln!(page, "    {}", self.command(run, data));
        }
    }

    /// What trains a run, with places for what users have.
    pub(super) fn command(&self, run: &str, data: &str) -> String {
        let place = Place {
            data: PathBuf::from("DATA"),
            output: PathBuf::from("OUT"),
            vectors: Some(PathBuf::from("VECTORS")),
            encoder: Some("ENCODER".into()),
            device: "cuda".into(),
        };
        let piece = Piece {
            run: run.to_owned(),
            data: data.to_owned(),
            seed: 1,
            is_quick: false,
        };
        let steps = self.steps(&piece, &place);
        let training = steps
            .first()
            .map(|step| step.arguments.join(" "))
            .unwrap_or_default();
        format!("plethora {}", training.replace(" --resume", ""))
    }

    /// What users have to bring for a run, as they say it.
    pub fn needs(&self, run: &str) -> Vec<&'static str> {
        let needs = self
            .runs
            .get(run)
            .map(|run| run.needs.as_slice())
            .unwrap_or_default();
        let said = needs.iter().filter_map(|need| match need {
            Need::Vectors => Some("--vectors"),
            Need::Encoder => Some("--encoder"),
            Need::Vocabulary => None,
        });
        said.collect()
    }

    /// The stand-ins of a claim, and the paper's own data where something was measured on it.
    fn data_ids<'a>(&'a self, claim: &'a Claim, results: &Results) -> Vec<&'a str> {
        let is_shown = |id: &&str| {
            claim.data.iter().any(|named| named == id)
                || claim.runs().any(|run| !results.of(run, id).is_empty())
        };
        self.data_of_claim(claim)
            .map(|data| data.id.as_str())
            .filter(is_shown)
            .collect()
    }
}

fn write_printed(claim: &Claim, page: &mut String) {
    let mut before: Option<&[String]> = None;
    for printed in &claim.paper {
        let metrics = printed.metrics.as_deref().unwrap_or(&claim.metrics);
        if before != Some(metrics) {
            let _ = write!(
                page,
                "\n| the paper | its data | {} |\n",
                metrics.join(" | ")
            );
            let _ = writeln!(page, "| --- | --- |{}", " ---: |".repeat(metrics.len()));
            before = Some(metrics);
        }
        for (system, figures) in &printed.rows {
            let figures: Vec<String> = figures.iter().map(|&figure| number(figure)).collect();
            let _ = writeln!(
                page,
                "| {system} | {} | {} |",
                printed.data,
                figures.join(" | ")
            );
        }
    }
}

fn write_comparisons(comparisons: &[Comparison<'_>], page: &mut String) {
    let said = |one: &Comparison<'_>| {
        let Some(found) = one.found else {
            return format!("- `{}` on {}: not run yet\n", one.rule.text, one.data);
        };
        let says = if found.difference > 0.0 { "yes" } else { "no" };
        let spread = if found.is_within_spread {
            ", within the spread of the seeds"
        } else {
            ""
        };
        format!(
            "- `{}` on {}: {says}, {:+.2}{spread}\n",
            one.rule.text, one.data, found.difference
        )
    };
    page.push('\n');
    page.extend(comparisons.iter().map(said));
}

fn write_standing(claim: &Claim, data: &[&str], results: &Results, page: &mut String) {
    let runs: Vec<&str> = claim.runs().collect();
    let Some(found) = standing(&runs, data, &claim.metrics, results) else {
        return;
    };
    let of_run = |(run, rank, p): &(&str, f64, Option<f64>)| match p {
        Some(p) => format!("`{run}` {rank:.2} (p {})", probability(*p)),
        None => format!("`{run}` {rank:.2}"),
    };
    let runs: Vec<String> = found.runs.iter().map(of_run).collect();
    let _ = write!(
        page,
        "\nAverage rank over {} figures, with Wilcoxon's signed rank test against the best: {}.\n",
        found.num_figures,
        runs.join(", ")
    );
}

/// A mean, and the standard deviation over seeds where there are several.
fn cell(results: &Results, run: &str, data: &str, metric: &str) -> String {
    match results.spread(run, data, metric) {
        None => String::new(),
        Some(spread) => match spread.deviation {
            Some(deviation) => format!("{:.2} ± {deviation:.2}", spread.mean),
            None => format!("{:.2}", spread.mean),
        },
    }
}

fn seeds(found: &[&Figures]) -> String {
    let seeds: Vec<String> = found
        .iter()
        .map(|figures| figures.seed.to_string())
        .collect();
    seeds.join(", ")
}

/// Where, when, with what and by whom it was measured.
fn provenance(found: &[&Figures]) -> String {
    let mut said: Vec<String> = Vec::new();
    for figures in found {
        let source = match figures.source.as_str() {
            "" => String::new(),
            source => format!("[{source}]({source})"),
        };
        let parts = [
            &figures.with,
            &figures.device,
            &figures.day,
            &source,
            &figures.note,
        ];
        let parts: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        let line = parts.join(", ");
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said.join("; ")
}

fn number(figure: f64) -> String {
    if figure.is_nan() {
        "lost".into()
    } else {
        format!("{figure:.2}")
    }
}

fn probability(p: f64) -> String {
    if p < 0.001 {
        format!("{p:.1e}")
    } else {
        format!("{p:.3}")
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// What Markdown renderers call a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || "- ".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
