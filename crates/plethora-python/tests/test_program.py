"""The package and the command line give the same models and the same predictions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import SMALL_PIECES, SMALL_WORDS, needs_neural, run

import plethora

FIELDS = ("--text-field", "title,text")
# Documents to train neural systems on.
FEW = 120


def predictions(program: str, model: Path, catalogue: Path) -> list[list[tuple[str, np.float32]]]:
    lines = run(
        program, "predict", model, catalogue, *FIELDS, "--where", "split=test", "-k", "5"
    ).splitlines()
    return [
        [(entry.get("key", entry["label"]), np.float32(entry["score"]))
         for entry in json.loads(line)["predictions"]]
        for line in lines
    ]


def of_package(model: plethora.Classifier, texts: list[str]) -> list[list[tuple[str, np.float32]]]:
    return [[(label, np.float32(score)) for label, score in row] for row in model.predict(texts, 5)]


@pytest.mark.parametrize("system", ["wide-tree", "parabel", "bonsai", "one-vs-all"])
def test_linear_models_are_equal_to_the_last_bit(system, program, catalogue, train, test, tmp_path):
    run(
        program, "train", catalogue, *FIELDS, "--where", "split=train", "-o", tmp_path / "cli",
        "--system", system, "--seed", "7", "--set", "text.min_df=1",
    )
    model = plethora.Classifier(system, seed=7, text__min_df=1).fit(train.texts, train.labels)
    model.save(tmp_path / "python")
    manifests = [
        json.loads((tmp_path / name / "manifest.json").read_text())["files"]
        for name in ("cli", "python")
    ]
    for files in manifests:
        # The card names the fields of the corpus, which lists have none of.
        del files["README.md"]
    assert manifests[0] == manifests[1]
    expected = predictions(program, tmp_path / "cli", catalogue)
    assert len(expected) == len(test.texts) > 20
    assert of_package(model, test.texts) == expected
    assert predictions(program, tmp_path / "python", catalogue) == expected
    assert of_package(plethora.load(tmp_path / "cli"), test.texts) == expected


@needs_neural
@pytest.mark.parametrize(
    ("system", "settings"), [("attentionxml", SMALL_WORDS), ("lightxml", SMALL_PIECES)]
)
def test_neural_models_are_equal(system, settings, program, catalogue, train, test, tmp_path):
    options = []
    for key, value in settings.items():
        shown = ",".join(map(str, value)) if isinstance(value, list) else value
        if key == "encoder":
            options += ["--encoder", shown]
        else:
            options += ["--set", f"{key.replace('__', '.')}={shown}"]
    run(
        program, "-j", "1", "train", catalogue, *FIELDS, "--where", "split=train",
        "--docs-limit", FEW, "-o", tmp_path / "cli", "--system", system, "--seed", "3", *options,
    )
    model = plethora.Classifier(system, seed=3, n_jobs=1, **settings)
    model.fit(train.texts[:FEW], train.labels[:FEW])
    expected = predictions(program, tmp_path / "cli", catalogue)
    found = of_package(model, test.texts)
    assert [[label for label, _ in row] for row in found] == [
        [label for label, _ in row] for row in expected
    ]
    np.testing.assert_allclose(
        [score for row in found for _, score in row],
        [score for row in expected for _, score in row],
        rtol=1e-5,
    )


def test_evaluation_equals_the_program(program, catalogue, parabel, test, tmp_path):
    parabel.save(tmp_path / "model")
    of_program = json.loads(
        run(program, "eval", tmp_path / "model", catalogue, *FIELDS, "--where", "split=test", "--json")
    )
    measured = parabel.evaluate(test.texts, test.labels)
    for key in ("P@1", "nDCG@5", "PSP@3", "microF1", "macroF1", "n_docs"):
        assert measured[key] == of_program[key], key
    assert parabel.score(test.texts, test.labels) == measured["nDCG@5"]
