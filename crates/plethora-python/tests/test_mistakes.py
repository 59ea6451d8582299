"""What goes wrong is an exception that says what was expected."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import plethora

TEXTS = ["Tides and harbours", "Wind over dunes"] * 3
LABELS = [["sea"], ["air"]] * 3


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (TEXTS, LABELS[:3], "there are 6 documents, but labels of 3"),
        ([*TEXTS[:5], 5], LABELS, r"texts\[5\]: expected a str, found int"),
        ("Tides", LABELS, "found a single str"),
        (TEXTS, ["sea"] * 6, r"labels\[0\]: expected a list of str, found a single str"),
        (TEXTS, [["sea"], [3.5]] * 3, r"labels\[1\]: expected a list of str, found float in it"),
        (TEXTS, [["sea"], None] * 3, r"labels\[1\]: expected a list of str, found NoneType"),
        (TEXTS, [[""], ["sea"]] * 3, "an empty label"),
        (["\ud800", *TEXTS[:5]], LABELS, "not valid Unicode"),
        (TEXTS, [[]] * 6, "no document has labels, so there is nothing to learn from"),
        ([], [], "there are no documents"),
        (np.eye(6), LABELS, "scipy.sparse"),
        (sp.csr_matrix(np.full((6, 2), np.nan)), LABELS, "not finite"),
    ],
)
def test_documents_that_cannot_be_used(texts, labels, message):
    with pytest.raises(plethora.DataError, match=message):
        plethora.Parabel().fit(texts, labels)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tree__max_leaff": 3}, "did you mean `tree.max_leaf`"),
        ({"tree__max_leaf": "many"}, "tree.max_leaf: expected a whole number"),
        ({"num_trees": 0}, "num_trees: must be from 1 to 1000"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"preset": "paper"}, "preset: parabel has no presets"),
        ({"preset": ["paper", "demo"]}, "preset: parabel has no presets"),
        ({"device": "gpu"}, "gpu"),
        ({"dtype": "f16"}, "dtype"),
        ({"n_jobs": 0}, "n_jobs: must be at least 1"),
        ({"n_jobs": 100_000}, "n_jobs: must be at most"),
        ({"tree__max_leaf": object()}, "is no value of a setting"),
    ],
)
def test_settings_that_cannot_work(params, message):
    with pytest.raises(plethora.ConfigError, match=message):
        plethora.Parabel(**params).fit(TEXTS, LABELS)


def test_unknown_systems_are_refused_with_the_nearest():
    with pytest.raises(plethora.ConfigError, match="did you mean `parabel`"):
        plethora.Classifier("parable").fit(TEXTS, LABELS)


def test_models_must_be_fitted_first():
    for act in (lambda m: m.predict(TEXTS), lambda m: m.save("x"), lambda m: m.classes_):
        with pytest.raises(plethora.NotFittedError, match="call fit first"):
            act(plethora.Parabel())


def test_folders_that_are_no_models(tmp_path):
    with pytest.raises(plethora.Error):
        plethora.load(tmp_path / "nothing")
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(plethora.ModelError):
        plethora.load(tmp_path)


def test_damaged_models_are_refused(parabel, tmp_path):
    parabel.save(tmp_path / "model")
    weights = next((tmp_path / "model").rglob("*.safetensors"))
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    with pytest.raises(plethora.ModelError):
        plethora.load(tmp_path / "model")


def test_corpora_name_file_and_line(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"text": "Tides", "labels": ["sea"]}\n{"text": 3}\n')
    with pytest.raises(plethora.DataError, match=r"corpus\.jsonl:2"):
        plethora.load_dataset(corpus)
    with pytest.raises(plethora.FileError, match="cannot read"):
        plethora.load_dataset(tmp_path / "missing.jsonl")
    with pytest.raises(plethora.ConfigError, match="format"):
        plethora.load_dataset(corpus, format="excel")


def test_hints_are_arguments_and_paths_stay_as_they_are(tmp_path):
    folder = tmp_path / "models--ada--engine"
    folder.mkdir()
    corpus = folder / "corpus.csv"
    corpus.write_text("id,body\n1,Tides\n")
    with pytest.raises(plethora.DataError, match='models--ada--engine.*with text_field="body"$'):
        plethora.load_dataset(corpus, format="csv")
    with pytest.raises(plethora.ConfigError, match=r"^label_separator: .*; check format=$"):
        plethora.load_dataset(corpus, format="fasttext", label_separator="|")
    with pytest.raises(plethora.DataError, match="; text__min_df=1 keeps rare terms$"):
        plethora.Parabel(text__min_df=5).fit(TEXTS, LABELS)


def test_every_exception_is_of_the_package_and_of_the_usual_kind():
    assert issubclass(plethora.DataError, (plethora.Error, ValueError))
    for kind in ("DataError", "ConfigError", "ModelError", "FileError", "ComputeError"):
        assert issubclass(getattr(plethora, kind), plethora.Error)
    assert issubclass(plethora.FileError, OSError)
