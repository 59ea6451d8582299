"""Documents per second of `plethora.ray.predict` with one and two actors, beside `plethora predict`.

    python bench/ray_predict.py MODEL DOCUMENTS.jsonl --program target/release/plethora [--actors 1 2]

All get one thread per actor. What is timed on Ray starts when the cluster is up and ends when all rankings are on
the disk, loading of the model included, as in the time of the program.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import ray
import ray.data

import plethora
import plethora.ray

BLOCKS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("documents", type=Path)
    parser.add_argument("--program", default="plethora")
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    fields = plethora.load(given.model).text_fields_
    with tempfile.TemporaryDirectory() as folder:
        rows = [json.loads(line) for line in given.documents.open()]
        table = pa.table({name: [row[name] for row in rows] for name in ("id", *fields)})
        parts = Path(folder) / "documents"
        parts.mkdir()
        for part in range(BLOCKS):
            start, end = (len(rows) * number // BLOCKS for number in (part, part + 1))
            parquet.write_table(table.slice(start, end - start), parts / f"{part:03}.parquet")
        of_program = len(rows) / timed(lambda: of_cli(given, Path(folder) / "ranked.jsonl"))
        print(f"plethora predict, 1 thread: {of_program:,.0f} documents/s")
        ray.init(num_cpus=max(given.actors) + 1, log_to_driver=False)
        for actors in given.actors:
            target = Path(folder) / f"ranked-{actors}"
            rate = len(rows) / timed(lambda: of_ray(given.model, parts, target, actors))
            print(f"plethora.ray.predict, {actors} actors: {rate:,.0f} documents/s, {rate / of_program:.2f}")


def timed(work) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def of_cli(given: argparse.Namespace, output: Path) -> None:
    command = [given.program, "predict", given.model, given.documents, "-o", output, "-q", "-j", "1"]
    subprocess.run([str(part) for part in command], check=True)


def of_ray(model: str, parts: Path, target: Path, actors: int) -> None:
    documents = ray.data.read_parquet(str(parts))
    plethora.ray.predict(documents, model, concurrency=actors).write_parquet(str(target))


if __name__ == "__main__":
    main()
