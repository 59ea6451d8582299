"""Fitting, prediction, folders and pickles."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SMALL_PIECES, SMALL_WORDS, needs_neural

import plethora

TEXTS = ["Tides and harbours", "Wind over dunes", "Harbours in wind", "Tides at night"] * 3
LABELS = [["sea"], ["air"], ["sea", "air"], ["sea", "night"]] * 3


def small(**params):
    return plethora.Parabel(text__min_df=1, **params)


def test_rankings_have_the_best_label_first(parabel, test):
    rows = parabel.predict(test.texts, top_k=4)
    assert len(rows) == len(test.texts)
    for row in rows:
        scores = [score for _, score in row]
        assert 0 < len(row) <= 4 and scores == sorted(scores, reverse=True)
        assert all(isinstance(label, str) and isinstance(score, float) for label, score in row)
    assert parabel.predict(test.texts[:3], top_k=4) == rows[:3]
    least = parabel.predict(test.texts, top_k=4, threshold=0.5)
    assert least == [[pair for pair in row if pair[1] >= 0.5] for row in rows]
    assert parabel.predict([]) == []


def test_matrix_holds_the_same_scores(parabel, test):
    matrix = parabel.predict_csr(test.texts)
    assert matrix.shape == (len(test.texts), len(parabel.classes_))
    columns = {label: column for column, label in enumerate(parabel.classes_)}
    for number, row in enumerate(parabel.predict(test.texts)):
        assert {columns[label]: score for label, score in row} == {
            column: float(matrix[number, column]) for column in matrix[number].indices
        }


def test_label_matrices_keep_their_columns():
    labels = sp.csr_matrix([[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 0]] * 3)
    model = small().fit(TEXTS, labels)
    assert list(model.classes_) == ["0", "1", "2", "3"]
    scores = model.predict_csr(TEXTS)
    assert scores.shape == (12, 4) and scores[:, 3].nnz == 0
    assert scores.toarray().argmax(axis=1)[0] == 0
    assert model.score(TEXTS, labels) > 0.8
    dense = small().fit(TEXTS, labels.toarray(), label_names=["sea", "night", "air", "fire"])
    assert dense.predict(TEXTS[:1], 1)[0][0][0] == "sea"
    assert (dense.predict_csr(TEXTS) != scores).nnz == 0


def test_features_take_the_place_of_texts(test):
    features = sp.csr_matrix(np.eye(4, dtype=np.float64)[[0, 1, 2, 3] * 3])
    model = plethora.WideTree().fit(features, LABELS)
    assert model.predict(features[:1], 1)[0][0][0] == "sea"
    with pytest.raises(plethora.DataError, match="is a text, but the model was trained on features"):
        model.predict(TEXTS)
    with pytest.raises(plethora.DataError, match="no words to explain"):
        model.explain("tides", "sea")


def test_models_are_saved_and_loaded(parabel, test, tmp_path):
    expected = parabel.predict(test.texts)
    parabel.save(tmp_path / "model")
    loaded = plethora.load(tmp_path / "model", top_k=10)
    assert type(loaded) is plethora.Parabel
    assert loaded.predict(test.texts) == expected
    assert loaded.seed == 7 and loaded.get_params()["num_trees"] == 3
    assert loaded.settings() == parabel.settings()
    with pytest.raises(plethora.FileError, match="overwrite=True"):
        parabel.save(tmp_path / "model")
    parabel.save(tmp_path / "model", overwrite=True)
    assert loaded.predict(test.texts) == expected


def test_fit_writes_where_it_is_told(train, tmp_path):
    target = tmp_path / "model"
    model = small().fit(TEXTS, LABELS, output=target)
    assert model.path_ == target and (target / "manifest.json").is_file()
    assert plethora.load(target).predict(TEXTS) == model.predict(TEXTS)
    with pytest.raises(plethora.FileError):
        small().fit(TEXTS, LABELS, output=target)
    small().fit(TEXTS, LABELS, output=target, overwrite=True)


def test_temporary_models_go_with_their_classifier():
    model = small().fit(TEXTS, LABELS)
    folder = model.path_.parent
    assert folder.is_dir()
    del model
    assert not folder.exists()


def test_pickles_hold_the_path_of_saved_models_and_all_of_others(tmp_path):
    model = small(seed=3).fit(TEXTS, LABELS)
    expected = model.predict(TEXTS)
    whole = pickle.dumps(model)
    model.save(tmp_path / "model")
    path = pickle.dumps(model)
    assert len(path) < 1000 < len(whole)
    del model
    for pickled in (whole, path):
        again = pickle.loads(pickled)
        assert again.predict(TEXTS) == expected and again.seed == 3
    assert copy.deepcopy(again).predict(TEXTS) == expected
    assert pickle.loads(pickle.dumps(small(seed=4))).seed == 4


def test_explanations_point_into_the_text(parabel, test):
    text = "Ünïcode. " + test.texts[0]
    label = parabel.predict([text], 1)[0][0]
    found = parabel.explain(text, label[0])
    assert found["label"] == label[0] and found["method"] == "contributions"
    assert found["score"] == pytest.approx(label[1])
    assert found["spans"] and found["terms"]
    for span in found["spans"]:
        assert text[span["start"] : span["end"]] == span["text"]
        assert text.encode()[span["start_byte"] : span["end_byte"]].decode() == span["text"]
    with pytest.raises(plethora.DataError, match="the model has no label"):
        parabel.explain(text, "no such label")


def test_equal_seeds_give_equal_models_for_any_number_of_threads(train, test):
    rows = [
        plethora.Parabel(seed=7, n_jobs=n_jobs).fit(train.texts, train.labels).predict(test.texts)
        for n_jobs in (1, 3, -1)
    ]
    assert rows[0] == rows[1] == rows[2]


def test_validation_documents_are_measured():
    model = small().fit(TEXTS, LABELS, valid=(TEXTS, LABELS))
    assert model.report_["metrics"]["P@1"] > 0.5
    assert model.report_["n_labels"] == 3


@needs_neural
def test_attention_explains(train):
    model = plethora.AttentionXML(seed=3, n_jobs=1, **SMALL_WORDS)
    model.fit(train.texts[:120], train.labels[:120])
    found = model.explain(train.texts[0], train.labels[0][0])
    assert found["method"] == "attention" and not found["terms"]
    assert sum(span["weight"] for span in found["spans"]) == pytest.approx(1, abs=0.01)


@needs_neural
def test_neural_systems_validate_and_round_trip(train, test, tmp_path):
    model = plethora.LightXML(seed=3, n_jobs=1, **SMALL_PIECES)
    model.fit(train.texts, train.labels, valid=(test.texts, test.labels))
    rows = model.predict(test.texts, 5)
    assert pickle.loads(pickle.dumps(model)).predict(test.texts, 5) == rows
    model.save(tmp_path / "model")
    loaded = plethora.load(tmp_path / "model", n_jobs=1)
    assert loaded.predict(test.texts, 5) == rows
    assert 0 <= loaded.score(test.texts, test.labels) <= 1


def test_neighbours_explain(train):
    model = plethora.KNN(n_jobs=1).fit(train.texts, train.labels)
    label = model.predict(train.texts[:1], 1)[0][0][0]
    found = model.explain(train.texts[0], label)
    assert found["method"] == "neighbours"
    voters = [neighbour for neighbour in found["neighbours"] if neighbour["has_label"]]
    assert voters and all(0 < neighbour["similarity"] <= 1.001 for neighbour in voters)


def test_every_system_has_a_class():
    exported = [getattr(plethora, name) for name in plethora.__all__]
    classes = {kind.system for kind in exported if isinstance(getattr(kind, "system", None), str)}
    assert set(plethora.systems()) <= classes


@pytest.mark.skipif(plethora.has_neural_systems(), reason="built with neural systems")
def test_builds_without_neural_systems_say_so():
    assert "lightxml" not in plethora.systems()
    with pytest.raises(plethora.ConfigError, match="this build of plethora has no neural systems"):
        plethora.LightXML().fit(TEXTS, LABELS)
