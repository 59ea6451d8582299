"""Servers for the programs of others. PLETHORA names the program, target/debug/plethora if not given."""

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = os.environ.get("PLETHORA", str(ROOT / "target/debug/plethora"))
TEXTS = ["Tides and harbours of the North Sea", "A history of glass", "Wind over dunes", "Glass furnaces", ""]
LABELS = [["sea"], ["glass"], ["air", "sea"], ["glass"], ["air"]]


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


@contextmanager
def served(*arguments):
    """The address of a server."""
    command = [PROGRAM, "serve", *map(str, arguments), "--port", "0", "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        assert address.startswith("http"), f"the server did not start: {command}"
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Models of two systems that read texts by an encoder, an ensemble with one of them, and one that does not."""
    folder = tmp_path_factory.mktemp("models")
    rows = [{"text": text, "labels": labels} for text, labels in zip(TEXTS[:4], LABELS)] * 8
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    encoder = ["--encoder", ROOT / "testdata/encoder", "--set", "document.max_length=24", "--quiet"]
    names = folder / "names.tsv"
    names.write_text("sea\tThe sea\nglass\tGlass and glaziers\nair\tAir and winds\n")
    run("train", data, "--system", "siamese", "--preset", "zero-shot", "--vocabulary", names, *encoder, "-o", folder / "siamese")
    run("train", data, "--system", "dense", *encoder, "-o", folder / "dense")
    run("train", data, "--system", "wide-tree", "--quiet", "-o", folder / "wide-tree")
    run("ensemble", folder / "wide-tree", folder / "dense", "--quiet", "-o", folder / "both")
    return folder


@pytest.fixture(scope="session")
def address(folder):
    models = [folder / name for name in ("siamese", "dense", "both", "wide-tree")]
    with served(*models, "--api-key", "sesame") as address:
        yield address
