//! How long a model of pieces takes to rank a batch: `latency MODEL DTYPE BATCH THREADS < TEXT`.
//!
//! Prints the median as JSON. `bench/encoder_latency.py` runs it beside other programs.

use std::error::Error;
use std::io::{Read as _, stdin};
use std::path::Path;
use std::time::{Duration, Instant};

use plethora_core::artifact::{ModelDetails, ModelReader};
use plethora_neural::NeuralModel as _;
use plethora_neural::pretrained::PieceModel;
use plethora_neural::set_num_threads;
use plethora_system::{Compute, Device, RankOptions};

const TIME: Duration = Duration::from_secs(6);

#[expect(clippy::print_stdout, reason = "a program of its own")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, dtype, batch, threads] = arguments.as_slice() else {
        return Err("usage: latency MODEL DTYPE BATCH THREADS < TEXT".into());
    };
    set_num_threads(threads.parse()?);
    let compute = Compute {
        device: Device::Cpu,
        precision: dtype.parse()?,
    };
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let texts = vec![text; batch.parse()?];
    let folder = ModelReader::open(Path::new(model))?;
    let details = ModelDetails::of(&folder)?;
    let model = PieceModel::open(&folder, details.num_labels as usize, compute)?;
    let options = RankOptions {
        top_k: 10,
        beam: None,
    };
    for _ in 0..2 {
        model.rank_texts(&texts, options)?;
    }
    let mut times = Vec::new();
    let started = Instant::now();
    while started.elapsed() < TIME || times.len() < 3 {
        let one = Instant::now();
        model.rank_texts(&texts, options)?;
        times.push(one.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    println!("{{\"median_ms\": {:.3}}}", times[times.len() / 2]);
    Ok(())
}
