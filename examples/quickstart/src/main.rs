//! Trains a system on documents in memory, measures it, ranks labels for a new text and says why.
//!
//! ```text
//! cargo run -p quickstart
//! ```
#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::error::Error;
use std::sync::Arc;

use plethora::corpus::{Content, Document, DocumentList};
use plethora::settings::Assignment;
use plethora::{Corpus, NoProgress, RankOptions, Session, TrainingJob, registry};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let model = folder.path().join("model");

    // Any system of the registry, with settings by their names in its recipe.
    let mut settings = registry().recipe("parabel")?;
    settings.assign(&Assignment::parse("text.min_df=1", "quickstart")?)?;

    // A corpus in memory; `Corpus::of_file` reads one of any format.
    let books = Corpus::of_documents("books", DocumentList::new(books(), None));
    let job = TrainingJob {
        valid: Some(books.clone()),
        ..TrainingJob::new(books, settings, &model)
    };
    let report = job.run(&Session::new(Arc::new(NoProgress)))?;
    let precision = report
        .metrics
        .and_then(|measured| measured.evaluation.get("P@1"));
    println!("{} labels, P@1 {precision:?}", report.num_labels);

    let predictor = registry().open(&model)?;
    let text = "Harbours and their tides";
    let document = book(0, text, "");
    let options = RankOptions {
        top_k: 2,
        beam: None,
    };
    for scored in &predictor.rank(&[document], options)?[0] {
        println!(
            "{:.3} {}",
            scored.score,
            predictor.labels().label(scored.label).name
        );
        for term in &predictor.explain(text, scored.label)?.terms {
            println!("      {:+.3} {}", term.contribution, term.term);
        }
    }
    Ok(())
}

fn books() -> Vec<Document> {
    let shelves = [
        (
            "Sea",
            [
                "harbours and tides",
                "tides of the moon",
                "ships in harbours",
            ],
        ),
        (
            "Bees",
            ["honey and hives", "a swarm of bees", "wax, bees and honey"],
        ),
    ];
    let all = shelves.iter().flat_map(|(label, texts)| {
        let texts = texts.iter();
        texts.map(move |text| (*label, *text))
    });
    let all = all.enumerate();
    all.map(|(number, (label, text))| book(number, text, label))
        .collect()
}

fn book(number: usize, text: &str, label: &str) -> Document {
    Document {
        id: number.to_string(),
        content: Content::Text(text.to_owned()),
        labels: vec![label.to_owned()],
    }
}
