"""Writes small random encoders of each architecture, and what `transformers` computes with them.

A folder for each architecture: config.json and weights as anybody's would be, and golden.safetensors
with hidden states, document vectors and gradients, computed in 64 bits.

Usage: python make_golden.py    (needs torch and transformers; the values were made with 2.11.0, 5.22.2)
"""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import (BertConfig, BertModel, DistilBertConfig, DistilBertModel, ElectraConfig, ElectraModel,
                          ModernBertConfig, ModernBertModel, MPNetConfig, MPNetModel, RobertaConfig, RobertaModel,
                          XLNetConfig, XLNetModel)

from layout import own_layout

WIDTH, HEADS, INNER, VOCABULARY, POSITIONS = 32, 4, 40, 60, 48
LENGTHS = [37, 11, 3]
# Layers whose document states are put side by side, the last one first.
READ_LAYERS = 2
HERE = Path(__file__).parent

PLAIN = {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_attention_heads": HEADS, "intermediate_size": INNER,
         "max_position_embeddings": POSITIONS}
CASES = {
    "bert": (BertModel, BertConfig(**PLAIN, num_hidden_layers=3, hidden_act="gelu")),
    "roberta": (RobertaModel, RobertaConfig(**PLAIN, num_hidden_layers=2, hidden_act="gelu_pytorch_tanh",
                                            type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1)),
    "mpnet": (MPNetModel, MPNetConfig(**PLAIN, num_hidden_layers=2, hidden_act="gelu_new", layer_norm_eps=1e-5)),
    "distilbert": (DistilBertModel, DistilBertConfig(
        vocab_size=VOCABULARY, dim=WIDTH, n_heads=HEADS, n_layers=2, hidden_dim=INNER,
        max_position_embeddings=POSITIONS, activation="relu")),
    "xlnet": (XLNetModel, XLNetConfig(vocab_size=VOCABULARY, d_model=WIDTH, n_head=HEADS, n_layer=3, d_inner=INNER,
                                      ff_activation="silu", clamp_len=20)),
    "electra": (ElectraModel, ElectraConfig(**PLAIN, embedding_size=16, num_hidden_layers=2)),
    # Layers 0 and 3 look at all pieces, the others at four to either side.
    "modernbert": (ModernBertModel, ModernBertConfig(
        **PLAIN, num_hidden_layers=4, local_attention=8, global_attn_every_n_layers=3, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, cls_token_id=1, sep_token_id=2)),
}
# The forms that weights are found in: number format and what stands before the names.
FORMS = {"bert": (torch.float32, ""), "roberta": (torch.float16, "roberta."), "mpnet": (torch.bfloat16, "mpnet."),
         "distilbert": (torch.bfloat16, ""), "xlnet": (torch.bfloat16, "transformer."),
         "electra": (torch.bfloat16, "electra."), "modernbert": (torch.bfloat16, "model.")}


def draw(model):
    """Numbers that 8 bits of precision hold exactly, so that every number format can store them."""
    for name, parameter in model.named_parameters():
        spread = 0.3 if parameter.dim() == 1 else 0.25
        values = torch.randn(parameter.shape) * spread
        if "norm" in name.lower() and name.endswith("weight"):
            values += 1
        # Half precision has fewer small numbers than brain floats: far below the others, they become zero.
        values[values.abs() < 1e-3] = 0
        parameter.data.copy_(values.bfloat16())


def batch(documents, kind, pad):
    """Documents padded on the right, as keyword arguments."""
    longest = max(map(len, documents))
    ids = torch.full((len(documents), longest), pad)
    mask = torch.zeros(len(documents), longest)
    types = torch.full((len(documents), longest), 3 if kind == "xlnet" else 0)
    for number, document in enumerate(documents):
        length = len(document)
        ids[number, :length] = torch.tensor(document)
        mask[number, :length] = 1
        types[number, :length] = 0
        if kind == "xlnet":
            types[number, length - 1] = 2
    arguments = {"input_ids": ids, "attention_mask": mask}
    if kind in ["bert", "electra", "xlnet"]:
        arguments["token_type_ids"] = types
    return arguments


def document_pieces(kind, documents):
    return [len(document) - 1 if kind == "xlnet" else 0 for document in documents]


def states_of(kind, model, documents):
    """The embeddings and what each layer makes of them; the last states of ModernBERT are those behind its last norm."""
    output = model(**batch(documents, kind, model.config.pad_token_id), output_hidden_states=True)
    return [*output.hidden_states[:-1], output.last_hidden_state]


def compute(kind, model, documents, projection):
    """Hidden states, the vectors of the documents, and gradients of the projected vectors' sum."""
    # Behind the end of a document ModernBERT computes no numbers where no real piece is near, which would spread.
    groups = [[document] for document in documents] if kind == "modernbert" else [documents]
    read = [states_of(kind, model, group) for group in groups]
    longest = max(map(len, documents))
    padded = [[torch.nn.functional.pad(layer, (0, 0, 0, longest - layer.shape[1])) for layer in states] for states in read]
    states = [torch.cat(layers) for layers in zip(*padded)]
    rows, pieces = range(len(documents)), document_pieces(kind, documents)
    vector = torch.cat([layer[rows, pieces] for layer in reversed(states[-READ_LAYERS:])], 1)
    (vector * projection).sum().backward()
    gradients = {name: parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
                 for name, parameter in model.named_parameters()}
    return states, vector, own_layout(kind, gradients)


def save_weights(kind, model, config, folder):
    dtype, prefix = FORMS[kind]
    config.architectures = [type(model).__name__]
    values = {prefix + name: value.to(dtype).contiguous() for name, value in model.state_dict().items()
              if "position_ids" not in name}
    assert all(torch.equal(value.double(), model.state_dict()[name[len(prefix):]].double())
               for name, value in values.items()), "a number was rounded"
    if kind == "bert":
        # Names of the first BERT files, and what language models have beside the encoder.
        values = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
                  for name, value in values.items()}
        values["embeddings.position_ids"] = torch.arange(POSITIONS)
    if kind != "distilbert":
        save_file(values, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        names = sorted(values)
        halves = [names[: len(names) // 2], names[len(names) // 2:]]
        files = [f"model-{number}-of-00002.safetensors" for number in ["00001", "00002"]]
        for file, half in zip(files, halves):
            save_file({name: values[name] for name in half}, folder / file, metadata={"format": "pt"})
        index = {"metadata": {}, "weight_map": {name: file for file, half in zip(files, halves) for name in half}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")
    (folder / "config.json").write_text(json.dumps(config.to_dict(), indent=1, sort_keys=True, default=str) + "\n")


def is_kept(name):
    """All of the first layer and what lies below; of the others what is small."""
    return "layer." not in name or "layer.0." in name or name.endswith(("bias", "norm.weight"))


def main():
    for number, (kind, (model_class, config)) in enumerate(CASES.items()):
        torch.manual_seed(number)
        folder = HERE / kind
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if hasattr(config, "_attn_implementation"):
            config._attn_implementation = "eager"
        model = model_class(config)
        draw(model)
        save_weights(kind, model, config, folder)
        model = model.double().eval()
        documents = [torch.randint(5, VOCABULARY, (length,)).tolist() for length in LENGTHS]
        projection = torch.randn(len(documents), READ_LAYERS * WIDTH).float().double()
        states, vector, gradients = compute(kind, model, documents, projection)
        golden = {"ids": torch.tensor(sum(documents, [])), "lengths": torch.tensor(LENGTHS),
                  "vector": vector, "projection": projection}
        for layer, of_layer in enumerate(states):
            golden[f"states.{layer}"] = torch.cat([of_layer[row, :length] for row, length in enumerate(LENGTHS)])
        golden.update({f"gradient.{name}": value for name, value in gradients.items() if is_kept(name)})
        if kind == "mpnet":
            distances = torch.arange(-600, 601)
            golden["buckets"] = model.encoder.relative_position_bucket(-distances)
        golden = {name: (value.float() if value.is_floating_point() else value.int()).detach().contiguous()
                  for name, value in golden.items()}
        save_file(golden, folder / "golden.safetensors")
        assert load_file(folder / "golden.safetensors").keys() == golden.keys()


if __name__ == "__main__":
    main()
