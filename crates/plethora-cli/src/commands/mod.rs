//! One file per verb: its arguments, and what it does with them.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod ensemble;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod init;
pub(crate) mod labels;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod predict;
pub(crate) mod reproduce;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod split;
pub(crate) mod train;

use crate::args::{Cli, Verb};
use crate::session;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    let is_server = matches!(cli.verb, Verb::Serve(_));
    // Training opens what it has written itself, which may be larger than the memory that is left beside the documents.
    let is_training = matches!(cli.verb, Verb::Train(_) | Verb::Search(_));
    if cli.global.map_files || is_training {
        plethora_core::artifact::map_large_files();
    }
    let session = session::start(&cli.global, is_server)?;
    match cli.verb {
        Verb::Demo(args) => args.run(&session),
        Verb::Generate(args) => args.run(&session),
        Verb::Check(args) => args.run(&session),
        Verb::Convert(args) => args.run(&session),
        Verb::Split(args) => args.run(&session),
        Verb::Train(args) => args.run(&session),
        Verb::Search(args) => args.run(&session),
        Verb::Merge(args) => args.run(&session),
        Verb::Ensemble(args) => args.run(&session),
        Verb::Calibrate(args) => args.run(&session),
        Verb::Eval(args) => args.run(&session),
        Verb::Predict(args) => args.run(&session),
        Verb::Explain(args) => args.run(),
        Verb::Serve(args) => args.run(),
        Verb::Reproduce(args) => args.run(&session, cli.global.threads),
        Verb::Info(args) => args.run(),
        Verb::Labels(args) => args.run(&session),
        Verb::Init(args) => args.run(),
        Verb::Completions(args) => args.run(),
        Verb::Man(args) => args.run(),
    }
}
