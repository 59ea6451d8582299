"""AttentionXML on the processor, beside plain PyTorch with the same shapes: a training step and inference.

Usage: python bench/attention_step.py target/release/plethora [--threads 2]

Needs torch 2.11 and a Plethora with the feature torch. Both train batches of 40 documents of 200 words with 1,000
labels, 300-wide trained word vectors, a BiLSTM of 2 x 256, one attention a label and a shared layer of 256. Plethora
runs as users run it, through files and the command line; its figures come from its own log and from the wall clock.
They take turns, three rounds, and the medians are printed as a Markdown table.
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

BATCH, LENGTH, LABELS, VOCABULARY, WIDTH, HIDDEN, LAYER = 40, 200, 1000, 20000, 300, 256, 256
STEPS = 30
PREDICTED = 1200


class AttentionXml(nn.Module):
    """As PyTorch users write it."""

    def __init__(self, is_packed):
        super().__init__()
        self.is_packed = is_packed
        self.words = nn.Embedding(VOCABULARY + 2, WIDTH, padding_idx=0, sparse=True)
        self.lstm = nn.LSTM(WIDTH, HIDDEN, batch_first=True, bidirectional=True)
        self.attention = nn.Linear(2 * HIDDEN, LABELS, bias=False)
        self.layer, self.output = nn.Linear(2 * HIDDEN, LAYER), nn.Linear(LAYER, 1)

    def forward(self, words, lengths):
        vectors = F.dropout(self.words(words), 0.2, self.training)
        if self.is_packed:
            packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
            states = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]
        else:
            states = self.lstm(vectors)[0]
        states = F.dropout(states, 0.5, self.training)
        scores = self.attention(states).transpose(1, 2)
        scores = scores.masked_fill((words == 0).unsqueeze(1), float("-inf"))
        contexts = torch.softmax(scores, -1) @ states
        return self.output(torch.relu(self.layer(contexts))).squeeze(-1)


def torch_round(is_packed):
    torch.manual_seed(1)
    model = AttentionXml(is_packed)
    dense = [p for name, p in model.named_parameters() if not name.startswith("words")]
    optimizers = [torch.optim.Adam(dense, lr=1e-3), torch.optim.SparseAdam([model.words.weight], lr=1e-3)]
    words = torch.randint(2, VOCABULARY + 2, (BATCH, LENGTH))
    lengths = torch.full((BATCH,), LENGTH)
    targets = (torch.rand(BATCH, LABELS) < 0.005).float()
    times = []
    for _ in range(STEPS // 3 + 2):
        start = time.perf_counter()
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        F.binary_cross_entropy_with_logits(model(words, lengths), targets).backward()
        for optimizer in optimizers:
            optimizer.step()
        times.append(time.perf_counter() - start)
    model.eval()
    with torch.no_grad():
        start = time.perf_counter()
        for _ in range(8):
            model(words, lengths).topk(5)
        inference = (time.perf_counter() - start) / (8 * BATCH)
    return statistics.median(times[2:]) * 1e3, inference * 1e3


def write_corpus(path, documents):
    draw = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(documents):
            text = " ".join(f"w{draw.randrange(VOCABULARY)}" for _ in range(LENGTH))
            labels = [f"L{number % LABELS}"] + [f"L{draw.randrange(LABELS)}" for _ in range(4)]
            file.write(json.dumps({"text": text, "labels": sorted(set(labels))}) + "\n")


def plethora_round(program, threads, folder):
    corpus, model = folder / "corpus.jsonl", folder / "model"
    settings = {
        "words.max_length": LENGTH, "words.min_df": 1, "vectors.width": WIDTH, "vectors.start": "random",
        "encoder.hidden": HIDDEN, "encoder.word_skip": "false", "head.layers": LAYER, "train.batch_size": BATCH,
        "train.epochs": 1, "train.valid_share": 0, "train.checkpoint_minutes": 60, "train.averaging": "none",
    }
    command = [program, "-q", "-j", str(threads), "train", corpus, "-o", model, "--system", "attentionxml", "--force"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    report = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    # All of training: validation and checkpoints are off.
    step = json.loads(report)["seconds"]["training"] / (PREDICTED / BATCH)
    inference = [inference_ms(program, threads, folder, dtype) for dtype in ("f32", "int8")]
    return step * 1e3, *inference


def inference_ms(program, threads, folder, dtype):
    seconds = []
    for name in ["half.jsonl", "corpus.jsonl"]:
        start = time.perf_counter()
        command = [program, "-q", "-j", str(threads), "predict", folder / "model", folder / name, "-k", "5", "--dtype", dtype]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    # Starting the program and opening the model cost the same in both, and cancel out.
    return 1e3 * (seconds[1] - seconds[0]) / (PREDICTED - PREDICTED // 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    rounds = {"PyTorch, packed sequences": [], "PyTorch, padded sequences": [], "Plethora": [], "Plethora, int8": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "corpus.jsonl", PREDICTED)
        write_corpus(folder / "half.jsonl", PREDICTED // 2)
        for _ in range(args.rounds):
            rounds["PyTorch, packed sequences"].append(torch_round(True))
            rounds["PyTorch, padded sequences"].append(torch_round(False))
            step, inference, in_int8 = plethora_round(args.program, args.threads, folder)
            rounds["Plethora"].append((step, inference))
            rounds["Plethora, int8"].append((step, in_int8))
    medians = {name: [statistics.median(column) for column in zip(*values)] for name, values in rounds.items()}
    print(f"| {args.threads} threads | training step, ms | inference, ms a document |\n| --- | --- | --- |")
    for name, (step, inference) in medians.items():
        print(f"| {name} | {step:.0f} | {inference:.2f} |")
    # The faster of the two, which only works where all documents are equally long, as they are here.
    best = medians["PyTorch, padded sequences"]
    for name in ("Plethora", "Plethora, int8"):
        step, inference = (ours / theirs for ours, theirs in zip(medians[name], best))
        print(f"| {name}, ratio to the second | {step:.2f} | {inference:.2f} |")


if __name__ == "__main__":
    main()
