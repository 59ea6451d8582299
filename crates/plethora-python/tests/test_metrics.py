"""Metrics against values by hand."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest
import scipy.sparse as sp

import plethora
from plethora import metrics

TRUE = [["a", "b"], ["c"], []]
PREDICTED = [["a", "c", "b"], ["a", "c"], ["a"]]
TRUE_MATRIX = sp.csr_matrix([[1, 1, 0], [0, 0, 1], [0, 0, 0]])
SCORES = sp.csr_matrix([[0.9, 0.1, 0.5], [0.7, 0.0, 0.6], [0.2, 0.0, 0.0]])


@pytest.mark.parametrize(("true", "predicted"), [(TRUE, PREDICTED), (TRUE_MATRIX, SCORES)])
def test_lists_and_matrices_give_the_values_by_hand(true, predicted):
    # Documents without labels count as 0; the ranking of the second is a, c.
    assert metrics.precision_at_k(true, predicted, k=1) == pytest.approx(1 / 3)
    assert metrics.precision_at_k(true, predicted, k=3) == pytest.approx((2 / 3 + 1 / 3) / 3)
    assert metrics.recall_at_k(true, predicted, k=2) == pytest.approx((1 / 2 + 1) / 3)
    first = (1 + 1 / log2(4)) / (1 + 1 / log2(3))
    second = 1 / log2(3)
    assert metrics.ndcg_at_k(true, predicted, k=3) == pytest.approx((first + second) / 3)


def test_rare_labels_weigh_more():
    train = [["a"]] * 90 + [["b"]] * 10
    true, predicted = [["a", "b"], ["b"]], [["a"], ["b"]]

    def inverse(count):
        c = (log(100) - 1) * 2.5**0.55
        return 1 + c * (count + 1.5) ** -0.55

    expected = (inverse(90) + inverse(10)) / (inverse(10) + inverse(10))
    assert metrics.psp_at_k(true, predicted, k=1, train=train) == pytest.approx(expected)
    assert metrics.psndcg_at_k(true, predicted, k=1, train=train) == pytest.approx(expected)
    assert metrics.psp_at_k(true, predicted, k=1, a=0.6, b=2.6, train=train) != expected


def test_predictions_of_a_classifier_are_taken_as_they_are(parabel, train, test):
    measured = parabel.evaluate(test.texts, test.labels)
    rows = parabel.predict(test.texts, top_k=20)
    alone = metrics.evaluate(test.labels, rows, train=train.labels)
    for key in ("P@1", "R@3", "nDCG@5", "PSP@5", "PSnDCG@3", "MRR", "microF1"):
        assert alone[key] == pytest.approx(measured[key], abs=1e-12), key
    columns = {label: column for column, label in enumerate(parabel.classes_)}
    known = [[columns[label] for label in row if label in columns] for row in test.labels]
    matrix = sp.lil_matrix((len(known), len(columns)), dtype=np.int8)
    for number, row in enumerate(known):
        matrix[number, row] = 1
    value = metrics.precision_at_k(matrix.tocsr(), parabel.predict_csr(test.texts), k=5)
    assert value == pytest.approx(measured["P@5"])


def test_mistakes_are_told():
    with pytest.raises(plethora.DataError, match="true labels of 3 documents, but rankings of 2"):
        metrics.precision_at_k(TRUE, PREDICTED[:2])
    with pytest.raises(plethora.DataError, match="a single str"):
        metrics.precision_at_k(["a", "b", "c"], PREDICTED)
    with pytest.raises(plethora.DataError, match="numbers of its columns"):
        metrics.precision_at_k(TRUE_MATRIX, PREDICTED)
    with pytest.raises(plethora.ConfigError, match="at least 1"):
        metrics.precision_at_k(TRUE, PREDICTED, k=0)
