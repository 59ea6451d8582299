//! Values of real encoders, to be compared with those of `transformers`: the part of
//! `testdata/transformers/compare_real.py` that is this crate's.

use std::collections::BTreeMap;
use std::path::Path;

use plethora_core::Error;
use tch::{Kind, Tensor};

use super::{Architecture, PieceInput, Pooling, Transformer, TransformerConfig, Weights};
use crate::guard::guarded;
use crate::parameters::DenseParametersBuilder;
use crate::{Result, open_device};
use plethora_system::Device;

/// Runs the encoder of a Hugging Face folder on documents and writes every layer's states, the
/// documents' vectors, and the gradients of the vectors' sum after a product with given numbers.
///
/// `input` is a safetensors file with `ids` (documents x pieces), `lengths` and `projection`
/// (documents x width of all layers that are read); `output` will be one with `states.N`, `vector`
/// and `gradient.NAME`.
pub fn write_encoder_values(
    folder: &Path,
    input: &Path,
    output: &Path,
    device: Device,
) -> Result<()> {
    guarded(|| {
        let given: BTreeMap<String, Tensor> =
            Tensor::read_safetensors(input)?.into_iter().collect();
        let values = encoder_values(folder, &given, input, device)?;
        Ok(Tensor::write_safetensors(&values, output)?)
    })
}

fn encoder_values(
    folder: &Path,
    given: &BTreeMap<String, Tensor>,
    input: &Path,
    device: Device,
) -> Result<Vec<(String, Tensor)>> {
    let device = open_device(device)?;
    let take = |name: &str| match given.get(name) {
        Some(tensor) => Ok(tensor.to_device(device)),
        None => Err(Error::input(input, None, format!("`{name}` is missing"))),
    };
    let (ids, lengths, projection) = (take("ids")?, take("lengths")?, take("projection")?);
    let architecture = Architecture::read(folder)?;
    let config = TransformerConfig {
        folder: folder.display().to_string(),
        layers: projection.size()[1] as usize / architecture.width(),
        pooling: Pooling::Cls,
        dropout: 0.0,
        attention_dropout: 0.0,
        train_distances: true,
        checkpointing: false,
    };
    let mut builder = DenseParametersBuilder::default();
    let weights = Weights::Folder(folder);
    let transformer = Transformer::new(&architecture, &config, &mut builder, weights)?;
    let parameters = builder.finish(device);
    let places = Tensor::arange(ids.size()[1], (Kind::Int64, device));
    let pieces = PieceInput {
        ids: &ids,
        lengths: &lengths,
        mask: Some(&places.lt_tensor(&lengths.unsqueeze(1))),
        is_training: true,
        drops: false,
        seed: 0,
    };
    let states = tch::no_grad(|| transformer.hidden_states(&parameters, &pieces));
    let mut values: Vec<(String, Tensor)> = states
        .into_iter()
        .enumerate()
        .map(|(number, states)| (format!("states.{number}"), states))
        .collect();
    let trace = transformer.forward(&parameters, &pieces);
    values.push(("vector".to_owned(), trace.vector.detach()));
    (&trace.vector * projection).sum(None).backward();
    transformer.backward(&parameters, &pieces, trace);
    let gradients = parameters.iter();
    values.extend(gradients.map(|(name, leaf)| (format!("gradient.{name}"), leaf.grad())));
    let to_host = |(name, value): (String, Tensor)| (name, value.to_device(tch::Device::Cpu));
    Ok(values.into_iter().map(to_host).collect())
}
