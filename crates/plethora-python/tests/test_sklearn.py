"""The conventions of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MultiLabelBinarizer
from sklearn.utils.validation import check_is_fitted

import plethora
from plethora.metrics import scorer


def test_parameters_are_read_set_and_cloned():
    model = plethora.Parabel(seed=7, tree__max_leaf=50)
    assert model.get_params()["tree__max_leaf"] == 50
    copied = clone(model).set_params(seed=8, beam=20, solver__cost=2)
    assert (model.seed, copied.seed, copied.beam) == (7, 8, 20)
    settings = copied.settings()
    assert settings["tree"]["max_leaf"] == 50 and settings["solver"]["cost"] == 2
    assert (settings["seed"], settings["beam"]) == (8, 20)
    assert clone(plethora.Classifier("bonsai")).system == "bonsai"
    assert repr(model) == "Parabel(seed=7, tree__max_leaf=50)"


def test_numbers_of_numpy_are_numbers():
    model = plethora.Parabel(seed=np.int64(3), solver__cost=np.float32(2), num_trees=np.uint8(1))
    assert model.settings()["num_trees"] == 1


def test_fitted_models_are_known_as_such(parabel):
    check_is_fitted(parabel)


def test_pipelines_end_with_a_classifier(train, test):
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = make_pipeline(lower, plethora.Parabel(seed=7))
    pipeline.set_params(parabel__num_trees=1)
    pipeline.fit(train.texts, train.labels)
    assert len(pipeline.predict(test.texts, top_k=3)[0]) == 3
    assert pipeline.score(test.texts, test.labels) > 0.3
    assert list(pipeline.classes_) == list(pipeline[-1].classes_)


def test_features_of_scikit_learn_are_taken(train, test):
    pipeline = make_pipeline(TfidfVectorizer(), plethora.WideTree(seed=7))
    assert pipeline.fit(train.texts, train.labels).score(test.texts, test.labels) > 0.3


def test_cross_validation_takes_lists_and_matrices(train):
    model = plethora.WideTree(seed=7)
    as_lists = cross_val_score(model, train.texts, train.labels, cv=3, scoring=scorer("P@1"))
    # Cross-validation of scikit-learn takes dense matrices of labels only.
    matrix = MultiLabelBinarizer().fit_transform(train.labels)
    as_matrix = cross_val_score(model, train.texts, matrix, cv=3, scoring=scorer("P@1"))
    assert as_lists.shape == (3,) and (as_lists > 0.3).all()
    np.testing.assert_allclose(as_lists, as_matrix, atol=0.05)
    assert (cross_val_score(model, train.texts, train.labels, cv=2) > 0.3).all()


def test_search_over_settings_runs_in_processes(train):
    grid = {"tree__max_leaf": [10, 100], "num_trees": [1]}
    model = plethora.Parabel(seed=7, n_jobs=1)
    search = GridSearchCV(model, grid, cv=2, scoring=scorer("nDCG@3"), n_jobs=2)
    search.fit(train.texts, train.labels)
    assert search.best_params_["tree__max_leaf"] in (10, 100)
    assert search.best_estimator_.predict(train.texts[:1])


def test_scorers_name_what_they_do_not_know(parabel, test):
    with pytest.raises(plethora.ConfigError, match="P@0"):
        scorer("P@0")
    with pytest.raises(plethora.ConfigError, match="expected one of"):
        scorer("precision@5")(parabel, test.texts, test.labels)
    assert sp.issparse(parabel.predict_csr(test.texts))
