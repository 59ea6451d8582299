"""What the tests share: a generated catalogue, the program to compare with, small systems."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import plethora

ROOT = Path(__file__).resolve().parents[3]
ENCODER = ROOT / "testdata" / "encoder"
SMALL_PIECES = {
    "encoder": str(ENCODER),
    "encoder__layers": 2,
    "document__max_length": 24,
    "train__batch_size": 16,
    "train__epochs": 2,
}
SMALL_WORDS = {
    "vectors__width": 16,
    "words__max_length": 40,
    "head__layers": [16],
    "train__batch_size": 16,
    "train__epochs": 2,
}

needs_neural = pytest.mark.skipif(
    not plethora.has_neural_systems(), reason="built without neural systems"
)


@pytest.fixture(scope="session")
def program() -> str:
    """The command line of the same version."""
    named = os.environ.get("PLETHORA_BINARY") or shutil.which("plethora")
    if named is None:
        pytest.skip("PLETHORA_BINARY does not name the program to compare with")
    return named


@pytest.fixture(scope="session")
def catalogue(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Invented library records."""
    folder = tmp_path_factory.mktemp("catalogue")
    run(program, "generate", "-o", folder / "c", "-n", "800", "--labels", "100", "--seed", "5")
    return folder / "c" / "documents.jsonl"


@pytest.fixture(scope="session")
def train(catalogue: Path) -> plethora.Dataset:
    return plethora.load_dataset(catalogue, text_field=["title", "text"], where={"split": "train"})


@pytest.fixture(scope="session")
def test(catalogue: Path) -> plethora.Dataset:
    return plethora.load_dataset(catalogue, text_field=["title", "text"], where={"split": "test"})


@pytest.fixture(scope="session")
def parabel(train: plethora.Dataset) -> plethora.Classifier:
    """A fitted model that tests must not change."""
    return plethora.Parabel(seed=7).fit(train.texts, train.labels)


def run(*command: object) -> str:
    """Runs a program and returns what it prints."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
