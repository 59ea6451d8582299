"""What one GPU can show of training in several processes: NCCL with one, and two that share the GPU.

    python3 bench/ranks_gpu.py -o FOLDER [--steps 100] [--labels 20000]

Needs the Python package with neural systems and PyTorch 2.11 with CUDA: the documents are made up, the
encoder is that of the tests. Every run has the same batches in 32 bits, without dropout; for each the largest
difference of its mean losses from those of one process is printed, and the seconds from start to model.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BATCH = 64

# Name, processes, how they hear each other.
RUNS = [
    ("one process", 1, "ring"),
    ("NCCL, one process", 1, "nccl"),
    ("two processes, gloo", 2, "gloo"),
    ("two processes, ring", 2, "ring"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    corpus = given.output / "documents.jsonl"
    write_corpus(corpus, given.steps * BATCH, given.labels)
    print(f"{given.labels:,} labels, {given.steps} steps of {BATCH} documents")
    for form in ("flat", "exact"):
        expected: dict[int, float] = {}
        for name, count, backend in RUNS:
            if backend == "nccl" and given.device == "cpu":
                continue
            model = given.output / f"{form}-{count}-{backend}"
            seconds = train(corpus, model, form, count, backend, given.device)
            found = read_log(model)
            expected = expected or found
            common = found.keys() & expected.keys()
            worst = max(abs(found[step] / expected[step] - 1) for step in common)
            print(
                f"{form:5} {name:20} {seconds:6.1f} s, "
                f"mean loss {found[max(found)]:.4f}, at most {worst:.1e} from one process",
                flush=True,
            )


def write_corpus(path: Path, count: int, num_labels: int) -> None:
    """Documents whose labels follow from their words."""
    drawn = random.Random(7)
    with path.open("w") as file:
        for number in range(count):
            labels = {int(num_labels * drawn.random() ** 2) for _ in range(3)}
            words = [f"w{label % 997} v{label % 89}" for label in labels for _ in range(4)]
            document = {
                "id": str(number),
                "text": " ".join(words),
                "labels": [f"label {label}" for label in sorted(labels)],
            }
            file.write(json.dumps(document) + "\n")


def train(
    corpus: Path, model: Path, form: str, count: int, backend: str, device: str
) -> float:
    """Seconds from start to model."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    settings = {
        "encoder.folder": ROOT / "testdata" / "encoder",
        "encoder.layers": 2,
        "encoder.dropout": 0,
        "encoder.attention_dropout": 0,
        "document.dropout": 0,
        "document.max_length": 32,
        "head.form": form,
        "head.bottleneck": 0,
        "train.batch_size": BATCH,
        "train.accumulate": 1,
        "train.epochs": 1,
        "train.valid_max": 200,
        "train.return_held_back": "false",
    }
    command = [sys.executable, "-m", "plethora.distributed", "train", str(corpus)]
    command += ["-o", str(model), "--system", "lightxml", "--seed", "1", "--force"]
    command += ["--device", device, "--dtype", "f32", "--backend", backend]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    variables = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(count)}
    started = time.perf_counter()
    # All share the first GPU.
    ranks = [
        subprocess.Popen(
            command,
            env={**os.environ, **variables, "RANK": str(rank), "LOCAL_RANK": "0"},
        )
        for rank in range(count)
    ]
    codes = [rank.wait() for rank in ranks]
    if any(codes):
        raise SystemExit(f"{form}, {count} processes with {backend}: exit codes {codes}")
    return time.perf_counter() - started


def read_log(model: Path) -> dict[int, float]:
    """The mean loss up to each step that the log has."""
    losses, last, total = {}, 0, 0.0
    for line in (model / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "loss" in record:
            step = record["step"]
            # A record has the mean since the one before, and when that was, the clock decides.
            total += record["loss"] * (step - last)
            losses[step], last = total / step, step
    return losses


if __name__ == "__main__":
    main()
