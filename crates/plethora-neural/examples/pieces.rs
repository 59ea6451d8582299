//! Prints the piece ids of each line of standard input: `pieces FOLDER [--json] < lines`.
//!
//! With `--json` a line is a JSON string, so that texts may have line breaks.
//! `testdata/pieces/compare_real.py` compares the output with `transformers`.

use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;

use plethora_neural::pretrained::Pieces;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, is_json) = match &*arguments {
        [folder] => (folder, false),
        [folder, flag] if flag == "--json" => (folder, true),
        _ => return Err("usage: pieces FOLDER [--json] < lines".into()),
    };
    let pieces = Pieces::open(Path::new(folder))?;
    let texts = io::stdin()
        .lock()
        .lines()
        .map(|line| match line? {
            line if is_json => Ok(serde_json::from_str(&line)?),
            line => Ok(line),
        })
        .collect::<Result<Vec<String>, io::Error>>()?;
    let mut output = BufWriter::new(io::stdout().lock());
    for ids in pieces.encode_all(&texts, usize::MAX).rows() {
        let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
        writeln!(output, "{}", ids.join(" "))?;
    }
    Ok(output.flush()?)
}
