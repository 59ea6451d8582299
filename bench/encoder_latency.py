"""all-MiniLM-L6-v2 on the processor: Plethora beside PyTorch and ONNX Runtime, batches of 1 and 32 documents of 128 pieces.

Usage: python bench/encoder_latency.py ENCODER target/release/examples/latency MODEL [--threads 2]

ENCODER is the folder of all-MiniLM-L6-v2, MODEL a Plethora model that was trained from it with document.max_length=128. Needs
torch 2.11, transformers, onnx, onnxruntime and sympy. The peers get token ids and give the last hidden states; Plethora gets texts and
gives ranked labels, so that its figures have tokenising and ranking in them. All take turns, three rounds; medians in ms.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("encoder")
parser.add_argument("latency", help="the example `latency` of plethora-neural")
parser.add_argument("model")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=3)
args = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(args.threads)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: E402
from onnxruntime.transformers.optimizer import optimize_model  # noqa: E402
from transformers import AutoModel, AutoTokenizer  # noqa: E402

LENGTH, BATCHES = 128, (1, 32)
torch.set_num_threads(args.threads)
tokenizer = AutoTokenizer.from_pretrained(args.encoder)
words = open(os.path.join(args.encoder, "vocab.txt"), encoding="utf-8").read().split("\n")
words = [word for word in words if word.isascii() and word.isalpha() and len(word) > 3]
text = " ".join(words[(17 * place) % len(words)] for place in range(4 * LENGTH))
ids = tokenizer(text, truncation=True, max_length=LENGTH, return_tensors="pt")["input_ids"]
assert ids.shape == (1, LENGTH)


def median_ms(run, seconds=6.0):
    for _ in range(2):
        run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def torch_peer(dtype):
    model = AutoModel.from_pretrained(args.encoder, dtype=dtype, add_pooling_layer=False).eval()

    def run(batch):
        inputs = ids.repeat(batch, 1)
        mask = torch.ones_like(inputs)
        with torch.inference_mode():
            return median_ms(lambda: model(input_ids=inputs, attention_mask=mask))

    return run


def onnx_file():
    model = AutoModel.from_pretrained(args.encoder, add_pooling_layer=False, attn_implementation="eager").eval()

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    path = os.path.join(tempfile.mkdtemp(), "encoder.onnx")
    axes = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}}
    torch.onnx.export(
        States(), (ids, torch.ones_like(ids)), path, input_names=list(axes), output_names=["states"],
        dynamic_axes={**axes, "states": {0: "batch", 1: "length"}}, opset_version=17, dynamo=False,
    )
    return path


def onnx_int8(path):
    """Its fused operations for BERT, and weights in eight bits, activations as they come."""
    fused = path.replace(".onnx", ".fused.onnx")
    shape = AutoModel.from_pretrained(args.encoder).config
    optimized = optimize_model(path, "bert", num_heads=shape.num_attention_heads, hidden_size=shape.hidden_size)
    optimized.save_model_to_file(fused)
    short = path.replace(".onnx", ".int8.onnx")
    options = {"DefaultTensorType": onnx.TensorProto.FLOAT}
    quantize_dynamic(fused, short, weight_type=QuantType.QInt8, per_channel=True, extra_options=options)
    return fused, short


def onnx_peer(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(batch):
        inputs = {"input_ids": np.tile(ids.numpy(), (batch, 1))}
        inputs["attention_mask"] = np.ones_like(inputs["input_ids"])
        return median_ms(lambda: session.run(None, inputs))

    return run


def plethora(dtype):
    def run(batch):
        command = [args.latency, args.model, dtype, str(batch), str(args.threads)]
        result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return json.loads(result.stdout)["median_ms"]

    return run


exported = onnx_file()
fused, in_int8 = onnx_int8(exported)
peers = {
    "ONNX Runtime, f32": onnx_peer(exported),
    "ONNX Runtime, f32, fused": onnx_peer(fused),
    "ONNX Runtime, int8": onnx_peer(in_int8),
    "PyTorch, f32": torch_peer(torch.float32),
    "PyTorch, bf16": torch_peer(torch.bfloat16),
    "Plethora, f32": plethora("f32"),
    "Plethora, bf16": plethora("bf16"),
    "Plethora, int8": plethora("int8"),
}
figures = {(name, batch): [] for name in peers for batch in BATCHES}
for _ in range(args.rounds):
    for name, run in peers.items():
        for batch in BATCHES:
            figures[name, batch].append(run(batch))
print("| " + " | ".join(["", *(f"batch {batch}, ms" for batch in BATCHES)]) + " |")
print("| --- |" + " --- |" * len(BATCHES))
medians = {key: statistics.median(times) for key, times in figures.items()}
for name in peers:
    print("| " + " | ".join([name, *(f"{medians[name, batch]:.1f}" for batch in BATCHES)]) + " |")
for batch in BATCHES:
    best = min((medians[name, batch], name) for name in peers if not name.startswith("Plethora"))
    ours = min((medians[name, batch], name) for name in peers if name.startswith("Plethora"))
    print(f"batch {batch}: {ours[1]} takes {ours[0] / best[0]:.2f} of the time of the best other, {best[1]}")
