"""Jobs with documents in memory and with classifiers: the same as with files and folders."""

from __future__ import annotations

import pytest

import plethora

FILE = {"text_field": ["title", "text"]}


def test_checks_and_reports_equal_those_of_files(catalogue, parabel, test, tmp_path):
    where = {"split": "test"}
    of_file = plethora.check(catalogue, where=where, n_jobs=1, **FILE)
    in_memory = plethora.check(test, n_jobs=1)
    assert in_memory["data"]["n_assignments"] == of_file["data"]["n_assignments"]
    assert in_memory["estimates"] == of_file["estimates"]
    assert repr(in_memory).startswith("<Check: ") and "wide-tree" in in_memory._repr_html_()
    options = {"resamples": 100, "n_jobs": 1}
    folder = parabel.save(tmp_path / "model")
    reports = [
        plethora.report(folder, catalogue, tmp_path / "file", where=where, **FILE, **options),
        plethora.report(parabel, (test.texts, test.labels), tmp_path / "memory", **options),
    ]
    assert reports[0]["models"][0]["metrics"] == reports[1]["models"][0]["metrics"]
    assert reports[1]._repr_html_().startswith("<iframe srcdoc=")
    assert len(repr(reports[1])) < 200


def test_searches_hold_documents_in_memory_back(train, tmp_path):
    found = plethora.search(
        train, tmp_path / "search", budget="5m", trials=2, method="random", n_jobs=1,
        ranges={"solver.cost": [0.5, 1]}, valid_share=0.25,
    )
    # Trials that had learnt from the documents they are measured on would find nearly all labels.
    assert found["best"]["metrics"]["P@5"] < 0.6
    assert 0.15 * len(train.ids) < found["n_valid_documents"] < 0.35 * len(train.ids)
    assert "solver.cost" in found._repr_html_() and "trials" in repr(found)


def test_classifiers_are_calibrated_in_memory(train, test, tmp_path):
    half = len(test.ids) // 2
    model = plethora.WideTree(seed=7).fit(train, output=tmp_path / "model")
    before = model.predict_proba(test.texts)
    with pytest.raises(plethora.DataError, match="has no tuned thresholds"):
        model.predict(test.texts, tuned=True)
    model.calibrate(test.texts[:half], test.labels[:half], thresholds="global")
    assert (before != model.predict_proba(test.texts)).nnz
    assert "yes" in model._repr_html_() and model.calibration_["quality"]
    tuned = model.predict(test.texts, tuned=True)
    assert 0 < sum(map(len, tuned)) < sum(map(len, model.predict(test.texts, 100)))
    plain = plethora.load(tmp_path / "model")
    assert (before != plain.predict_proba(test.texts)).nnz == 0
    saved = plethora.load(model.save(tmp_path / "calibrated"))
    assert saved.predict(test.texts, tuned=True) == tuned


def test_ensembles_are_fitted_in_memory(train, test, tmp_path):
    models = [plethora.WideTree(seed=7).fit(train), plethora.KNN().fit(train)]
    made = plethora.ensemble(models, tmp_path / "both", fit=test)
    assert made["combination"] == "stacked"
    assert plethora.load(tmp_path / "both").predict(test.texts[0])


def test_options_of_files_are_refused(test):
    with pytest.raises(plethora.ConfigError, match="where: concerns files"):
        plethora.check(test, where={"split": "test"})
    with pytest.raises(TypeError, match="text_fields"):
        plethora.check(test, text_fields=["title"])
