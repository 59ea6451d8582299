//! Writes what an encoder computes, for `testdata/transformers/compare_real.py`.
//!
//! Usage: `hidden_states FOLDER INPUT OUTPUT [DEVICE]`

use std::error::Error;
use std::path::Path;

use plethora_neural::write_encoder_values;
use plethora_system::Device;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (files, device) = match arguments.as_slice() {
        [folder, input, output] => ([folder, input, output], Device::Cpu),
        [folder, input, output, device] => ([folder, input, output], device.parse()?),
        _ => return Err("usage: hidden_states FOLDER INPUT OUTPUT [DEVICE]".into()),
    };
    let [folder, input, output] = files.map(Path::new);
    Ok(write_encoder_values(folder, input, output, device)?)
}
