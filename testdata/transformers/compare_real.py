"""Compares encoders of real size with `transformers`: states of every layer, and gradients.

Usage: python compare_real.py FOLDER... [--device DEVICE]   (from anywhere in the repository; needs
torch and transformers, and builds the example `hidden_states`)

Exits with 1 where a state is off by more than 1e-4, or a gradient by more than 1e-3 of its
parameter's largest.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from layout import own_layout
from make_golden import READ_LAYERS, batch, document_pieces

LENGTHS = [301, 120, 17]
STATE_TOLERANCE, GRADIENT_TOLERANCE = 1e-4, 1e-3
ROOT = Path(__file__).resolve().parents[2]


def reference(folder, documents, projection):
    model = AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    kind = model.config.model_type
    arguments = batch(documents, kind, model.config.pad_token_id)
    states = model(**arguments, output_hidden_states=True).hidden_states
    rows, pieces = range(len(documents)), document_pieces(kind, documents)
    vector = torch.cat([layer[rows, pieces] for layer in reversed(states[-READ_LAYERS:])], 1)
    (vector * projection).sum().backward()
    gradients = {name: parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
                 for name, parameter in model.named_parameters()}
    return arguments["input_ids"], states, own_layout(kind, gradients)


def ours(folder, ids, lengths, projection, device):
    with tempfile.TemporaryDirectory() as work:
        given, made = Path(work, "input.safetensors"), Path(work, "output.safetensors")
        save_file({"ids": ids, "lengths": lengths, "projection": projection}, given)
        subprocess.run(["cargo", "run", "--quiet", "--package", "plethora-neural", "--example", "hidden_states", "--",
                        str(Path(folder).resolve()), given, made, device], cwd=ROOT, check=True)
        return load_file(made)


def compare(folder, device):
    torch.manual_seed(1)
    config = AutoModel.from_pretrained(folder).config
    documents = [torch.randint(1000, config.vocab_size, (length,)).tolist() for length in LENGTHS]
    projection = torch.randn(len(documents), READ_LAYERS * config.hidden_size)
    ids, states, gradients = reference(folder, documents, projection)
    made = ours(folder, ids, torch.tensor(LENGTHS), projection, device)
    of_states = [max((made[f"states.{number}"][row, :length] - layer[row, :length]).abs().max().item()
                     for row, length in enumerate(LENGTHS)) for number, layer in enumerate(states)]
    of_gradients = {name: ((made[f"gradient.{name}"] - value).abs().max() / value.abs().max()).item()
                    for name, value in gradients.items() if value.abs().max() > 0}
    worst = max(of_gradients, key=of_gradients.get)
    print(f"{Path(folder).name}: {len(states)} states off by at most {max(of_states):.2e}, "
          f"{len(of_gradients)} gradients by at most {of_gradients[worst]:.2e} of their largest ({worst})")
    return max(of_states) <= STATE_TOLERANCE and of_gradients[worst] <= GRADIENT_TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    results = [compare(folder, arguments.device) for folder in arguments.folders]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
