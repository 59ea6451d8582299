//! Plans and outcomes of training without a named system, as tables.

use std::fmt::Write as _;

use plethora_core::grouped;
use plethora_jobs::auto::{AutoReport, HeldBackFigures, Plan};

use crate::figures::{bytes, duration, percent};

/// What would be trained, and why.
pub(crate) fn plan(plan: &Plan) -> String {
    let memory = plan
        .memory_bytes
        .map_or_else(|| "unknown".to_owned(), bytes);
    let size = plan.size;
    let mut text = format!(
        "data        {} documents, {} labels, {:.1} terms per document\n\
         machine     {} threads, {memory} of memory at hand\n\
         budget      {}; each member is trained {:.1} times on held-back parts, then on all documents\n\n",
        grouped(size.num_documents),
        grouped(size.num_labels),
        size.num_entries as f64 / size.num_documents.max(1) as f64,
        plan.num_threads,
        duration(plan.budget_s),
        plan.effort,
    );
    if let Some(encoder) = &plan.encoder {
        let _ = writeln!(text, "encoder     {encoder}\n");
    }
    let width = width(plan.members.iter().map(|member| member.name));
    for member in &plan.members {
        let verdict = match &member.left_out {
            Some(reason) => format!("left out: {reason}"),
            None if member.epoch_share < 1.0 => {
                format!("trained, {} % of its epochs", percent(member.epoch_share))
            }
            None => "trained".to_owned(),
        };
        let _ = writeln!(
            text,
            "{:<width$}  {:>8}  {:>9}  {verdict}",
            member.name,
            duration(member.estimated_s),
            bytes(member.memory_bytes),
        );
    }
    text
}

/// What came out.
pub(crate) fn report(report: &AutoReport) -> String {
    let consensus = "consensus";
    let names = report.members.iter().map(|member| member.name.as_str());
    let width = width(names.chain([consensus]));
    let mut text = format!(
        "{:<width$}     P@1     P@5          nDCG@5   PSP@5      time\n",
        "held-back documents"
    );
    for member in &report.members {
        let note = match (member.is_kept, member.saw_all) {
            (false, _) => "  left out: it adds nothing",
            (true, false) => "  without the held-back documents",
            (true, true) => "",
        };
        let time = duration(member.seconds);
        let _ = writeln!(
            text,
            "{}{note}",
            row(&member.name, width, member.held_back, &time)
        );
    }
    let time = duration(report.seconds);
    let _ = writeln!(text, "{}\n", row(consensus, width, report.consensus, &time));
    let stopped = if report.is_interrupted {
        ", stopped: the best so far"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "model       {} ({}, {}{stopped})\n\
         documents   {}, {} of them held back to judge by\n\
         labels      {}\n\
         time        {} of a budget of {}",
        report.model.display(),
        report.combination,
        bytes(report.model_bytes),
        grouped(report.plan.size.num_documents),
        grouped(report.num_held_back),
        grouped(report.plan.size.num_labels),
        time,
        duration(report.plan.budget_s),
    );
    text
}

fn row(name: &str, width: usize, figures: HeldBackFigures, time: &str) -> String {
    format!(
        "{name:<width$}  {:>6}  {:>6}  {:>6} \u{b1} {:<5}  {:>6}  {time:>8}",
        percent(figures.precision_at_1),
        percent(figures.precision_at_5),
        percent(figures.ndcg_at_5),
        percent(figures.ndcg_interval),
        percent(figures.psp_at_5),
    )
}

fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let longest = names.map(|name| name.chars().count()).max();
    longest.unwrap_or_default().max("held-back documents".len())
}
