"""The metrics of the field, on rankings that any program made.

`true` has the true labels of each document: lists of labels, or an indicator matrix. The numbers 3 and
"3" are the same label. `predicted` has
a ranking of each: lists of labels, best first, or of pairs of label and score, as
:meth:`plethora.Classifier.predict` gives them; or a matrix of scores, whose stored entries are ranked.
Rankings that are shorter than `k` have misses in their missing places.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Hashable, Iterable, Sequence, Union

import numpy as np
import scipy.sparse as sp

from . import _plethora
from ._errors import ConfigError, DataError
from ._inputs import Labels, indicator, is_matrix, sources
from ._settings import plain

Predicted = Union[Sequence[Sequence[Any]], "sp.csr_matrix", "sp.csr_array", "np.ndarray[Any, Any]"]

__all__ = [
    "evaluate",
    "ndcg_at_k",
    "precision_at_k",
    "psndcg_at_k",
    "psp_at_k",
    "recall_at_k",
    "scorer",
]


def precision_at_k(true: Labels, predicted: Predicted, k: int = 5) -> float:
    """P@k: the part of the first k places that are true labels."""
    return _value(f"P@{k}", true, predicted, k)


def recall_at_k(true: Labels, predicted: Predicted, k: int = 5) -> float:
    """R@k: the part of the true labels that are in the first k places."""
    return _value(f"R@{k}", true, predicted, k)


def ndcg_at_k(true: Labels, predicted: Predicted, k: int = 5) -> float:
    """nDCG@k: hits weigh the more, the earlier they come."""
    return _value(f"nDCG@{k}", true, predicted, k)


def psp_at_k(
    true: Labels,
    predicted: Predicted,
    k: int = 5,
    a: float = 0.55,
    b: float = 1.5,
    train: Labels | None = None,
) -> float:
    """PSP@k: precision where rare labels weigh more.

    How rare they are is counted in `train`, the labels of the training documents, or in `true` where
    these are not given, which differs from what papers report.
    """
    return _value(f"PSP@{k}", true, predicted, k, a, b, train)


def psndcg_at_k(
    true: Labels,
    predicted: Predicted,
    k: int = 5,
    a: float = 0.55,
    b: float = 1.5,
    train: Labels | None = None,
) -> float:
    """PSnDCG@k: nDCG where rare labels weigh more; as :func:`psp_at_k`."""
    return _value(f"PSnDCG@{k}", true, predicted, k, a, b, train)


def evaluate(
    true: Labels,
    predicted: Predicted,
    *,
    ks: Sequence[int] = (1, 3, 5),
    a: float = 0.55,
    b: float = 1.5,
    threshold: float = 0.5,
    train: Labels | None = None,
) -> dict[str, Any]:
    """All metrics, with the keys of `plethora eval --json`."""
    ids = _Ids(true, predicted, train)
    counts, num_train = ids.train_counts(true if train is None else train)
    config = {"ks": list(ks), "a": a, "b": b, "threshold": threshold}
    rankings, is_ranked = ids.rankings(predicted)
    asked = {"config": config, "num_train_documents": num_train, "is_ranked": is_ranked}
    measured = _plethora.measure(
        ids.rows(true), rankings, counts, json.dumps(asked, default=plain)
    )
    result: dict[str, Any] = json.loads(measured)
    return result


def scorer(metric: str = "nDCG@5") -> Callable[[Any, Any, Labels], float]:
    """A scorer for scikit-learn: ``cross_val_score(model, texts, labels, scoring=scorer("P@5"))``.

    It takes classifiers of this package and pipelines that end with one.
    """
    _, _, depth = metric.partition("@")
    if depth and not (depth.isdecimal() and int(depth) > 0):
        raise ConfigError(f"metric: expected a name as P@5, found {metric}")
    k = int(depth) if depth else 1

    def score(estimator: Any, texts: Any, labels: Labels) -> float:
        predicted = estimator.predict(texts, top_k=max(k, 20))
        if is_matrix(labels):
            columns = {key: column for column, key in enumerate(estimator.classes_)}
            predicted = [[(columns[key], score) for key, score in row] for row in predicted]
        return _pick(evaluate(labels, predicted, ks=(k,)), metric)

    return score


def _value(
    metric: str,
    true: Labels,
    predicted: Predicted,
    k: int,
    a: float = 0.55,
    b: float = 1.5,
    train: Labels | None = None,
) -> float:
    return _pick(evaluate(true, predicted, ks=(k,), a=a, b=b, train=train), metric)


def _pick(measured: dict[str, Any], metric: str) -> float:
    value = measured.get(metric)
    if not isinstance(value, float):
        known = ", ".join(key for key, value in measured.items() if isinstance(value, float))
        raise ConfigError(f"metric: expected one of {known}, found {metric}")
    return value


class _Ids:
    """Numbers of labels: their columns where there is a matrix, else in the order they come."""

    def __init__(self, *of: Any) -> None:
        self._ids: dict[Hashable, int] = {}
        self._has_columns = any(part is not None and is_matrix(part) for part in of)

    def number(self, label: Any) -> int:
        if self._has_columns:
            if isinstance(label, (int, np.integer)) and label >= 0:
                return int(label)
            raise DataError(
                f"labels beside a matrix are numbers of its columns, found {label!r}"
            )
        if isinstance(label, (int, np.integer)):
            # Predictions name labels by their digits.
            label = str(label)
        return self._ids.setdefault(label, len(self._ids))

    def rows(self, labels: Any) -> tuple[Any, Any]:
        if is_matrix(labels):
            matrix = indicator(labels)
            return matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32)
        return self._pack([self.number(label) for label in _each(row)] for row in _rows(labels))

    def rankings(self, predicted: Any) -> tuple[tuple[Any, Any, Any], bool]:
        if is_matrix(predicted):
            matrix = sp.csr_matrix(predicted, dtype=np.float32, copy=True)
            matrix.sum_duplicates()
            starts = matrix.indptr.astype(np.int64)
            columns = matrix.indices.astype(np.uint32)
            return (starts, columns, np.ascontiguousarray(matrix.data)), False
        pairs = [[_scored(entry) for entry in _each(row)] for row in predicted]
        starts, labels = self._pack([self.number(label) for label, _ in row] for row in pairs)
        scores = [score for row in pairs for _, score in row]
        return (starts, labels, np.asarray(scores, dtype=np.float32)), True

    def train_counts(self, train: Any) -> tuple[Any, int]:
        starts, labels = self.rows(train)
        counts = np.bincount(labels.astype(np.int64)).astype(np.uint32)
        return counts, len(starts) - 1

    @staticmethod
    def _pack(rows: Iterable[list[int]]) -> tuple[Any, Any]:
        starts = [0]
        entries: list[int] = []
        for row in rows:
            entries.extend(row)
            starts.append(len(entries))
        return np.asarray(starts, dtype=np.int64), np.asarray(entries, dtype=np.uint32)


def _rows(labels: Any) -> Any:
    """The labels of each document, also out of a column of a table."""
    return sources([], labels).labels


def _scored(entry: Any) -> tuple[Any, float]:
    """A label with its score; one without any counts as assigned."""
    if isinstance(entry, tuple) and len(entry) == 2:
        return entry[0], float(entry[1])
    return entry, 1.0


def _each(row: Any) -> Any:
    if isinstance(row, (str, bytes)):
        raise DataError("expected a list of labels for each document, found a single str")
    return row
