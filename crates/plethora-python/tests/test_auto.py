"""Members chosen by the data."""

import json

import plethora
import pytest


def test_auto_gives_a_model_that_ranks_and_is_saved(train, test, tmp_path):
    model = plethora.Auto(budget="30s", n_jobs=1, progress=False)
    assert model.get_params()["budget"] == "30s"
    model.fit(train.texts, train.labels)
    names = [member["name"] for member in model.report_["members"]]
    assert len(names) >= 3 and model.report_["consensus"]["nDCG@5"] > 0.1
    ranked = model.predict(test.texts[:3], top_k=4)
    assert [len(ranking) for ranking in ranked] == [4, 4, 4]
    saved = model.save(tmp_path / "model")
    assert plethora.load(saved).predict(test.texts[:3], top_k=4) == ranked


def test_wrong_choices_are_refused(train):
    with pytest.raises(plethora.ConfigError, match="budget: expected a time"):
        plethora.Auto(budget="soon").fit(train.texts, train.labels)
    with pytest.raises(plethora.ConfigError, match="objective: expected nDCG@5"):
        plethora.Auto(objective="beauty").fit(train.texts, train.labels)
