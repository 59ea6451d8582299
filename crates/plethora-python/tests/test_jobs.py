"""Jobs of the command line, from Python: the same results, the same refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import run

import plethora

FIELDS = ("--text-field", "title,text")
TEXT_FIELD = ["title", "text"]
TEST = {"split": "test"}


@pytest.fixture(scope="module")
def models(train, tmp_path_factory) -> list[Path]:
    """Two saved models."""
    folder = tmp_path_factory.mktemp("models")
    kinds = {"parabel": plethora.Parabel, "one": plethora.OneVsAll}
    return [
        kind(seed=7).fit(train.texts, train.labels).save(folder / name)
        for name, kind in kinds.items()
    ]


def test_check_equals_the_program(program, catalogue):
    options = {"text_field": TEXT_FIELD, "where": {"split": "train"}}
    checked = plethora.check(
        catalogue, against=catalogue, against_where=TEST, n_jobs=1, **options
    )
    shown = run(
        program, "check", catalogue, *FIELDS, "--where", "split=train", "--json",
        "--against", catalogue, "--against-where", "split=test",
    )
    of_program = json.loads(shown)
    systems = [estimate["system"] for estimate in checked["estimates"]]
    assert systems == plethora.systems()
    # The program may have been built with more systems.
    known = [row for row in of_program["estimates"] if row["system"] in systems]
    assert checked == {**of_program, "estimates": known}
    assert checked["against"]["n_documents"] < checked["data"]["n_documents"]


def test_reports_compare_models_and_equal_those_of_the_program(
    program, catalogue, models, tmp_path
):
    options = {"text_field": TEXT_FIELD, "where": TEST}
    asked = {"top_k": [1, 5], "resamples": 100, **options}
    report = plethora.report(models, catalogue, tmp_path / "report", **asked)
    assert [model["name"] for model in report["models"]] == ["parabel", "one"]
    assert report["comparisons"][0]["first"] == "parabel"
    assert json.loads((tmp_path / "report" / "report.json").read_text()) == report
    assert (tmp_path / "report" / "report.html").is_file()
    run(
        program, "eval", *models, catalogue, *FIELDS, "--where", "split=test", "-k", "1,5",
        "--resamples", "100", "--report", tmp_path / "other",
    )
    other = json.loads((tmp_path / "other" / "report.json").read_text())
    for ours, theirs in zip(report["models"], other["models"]):
        assert ours["metrics"] == theirs["metrics"]
    with pytest.raises(plethora.FileError, match="overwrite=True"):
        plethora.report(models, catalogue, tmp_path / "report", **asked)
    plethora.report(models[:1], catalogue, tmp_path / "report", overwrite=True, **asked)


def test_searches_try_settings_and_can_be_resumed(catalogue, tmp_path):
    options = {"text_field": TEXT_FIELD, "where": {"split": "train"}, "n_jobs": 1}
    ranges = {"solver.cost": "log:0.1..10", "num_trees": [1, 2]}
    found = plethora.search(
        catalogue, tmp_path / "search", budget="5m", system="parabel", trials=3,
        method="random", ranges=ranges, keep_model=True, **options,
    )
    assert found["system"] == "parabel" and found["is_complete"]
    assert len(found["trials"]) == 3
    assert found["best"]["metrics"]["nDCG@5"] == max(
        trial["metrics"]["nDCG@5"] for trial in found["trials"]
    )
    assert plethora.load(tmp_path / "search" / "model").system == "parabel"
    again = plethora.search(
        catalogue, tmp_path / "search", budget="5m", system="parabel", trials=3,
        method="random", ranges=ranges, keep_model=True, resume=True, **options,
    )
    assert again["trials"] == found["trials"]
    with pytest.raises(plethora.ConfigError, match="did you mean `solver.cost`"):
        plethora.search(
            catalogue, tmp_path / "other", budget="5m", ranges={"solver.cots": "1,2"}, **options
        )


def test_calibrated_models_give_probabilities(catalogue, models, test, tmp_path):
    reading = {"text_field": TEXT_FIELD, "where": TEST}
    done = plethora.calibrate(
        models[0], catalogue, output=tmp_path / "model", thresholds="global", **reading
    )
    assert done["model"] == str(tmp_path / "model") and not done["is_replaced"]
    assert done["quality"]["ece_before"] >= 0
    scores = [
        [score for _, score in plethora.load(folder).predict(test.texts[:1], 5)[0]]
        for folder in (models[0], tmp_path / "model")
    ]
    assert scores[0] != scores[1]
    with pytest.raises(plethora.ConfigError, match="tuned"):
        plethora.report(
            models, catalogue, tmp_path / "report", tuned=True, scores="raw", **reading
        )
    with pytest.raises(plethora.ModelError, match="has no tuned thresholds"):
        plethora.report(models, catalogue, tmp_path / "report", tuned=True, **reading)


def test_ensembles_are_made_and_opened(catalogue, models, test, tmp_path):
    made = plethora.ensemble(models, tmp_path / "both", weights=[2, 1])
    assert made["combination"] == "mean"
    assert [member["weight"] for member in made["members"]] == [2, 1]
    both = plethora.load(tmp_path / "both")
    assert both.system == "ensemble" and both.predict(test.texts[:1], 3)
    stacked = plethora.ensemble(
        models, tmp_path / "stacked", fit=catalogue, link=True, text_field=TEXT_FIELD, where=TEST
    )
    assert stacked["combination"] == "stacked" and stacked["is_linked"]
    with pytest.raises(plethora.ConfigError, match="fit"):
        plethora.ensemble(models, tmp_path / "other", combination="stacked")
    with pytest.raises(plethora.ConfigError, match="at least two models"):
        plethora.ensemble(models[:1], tmp_path / "other")


def test_options_are_checked(catalogue, models, tmp_path):
    with pytest.raises(TypeError, match="text_fields"):
        plethora.check(catalogue, text_fields=["title"])
    with pytest.raises(plethora.ConfigError, match="isotonic"):
        plethora.calibrate(models[0], catalogue, method="linear", output=tmp_path / "model")
    with pytest.raises(plethora.ConfigError, match="n_jobs"):
        plethora.check(catalogue, n_jobs=0)
