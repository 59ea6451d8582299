"""Texts, features and labels as users have them, in the form of the extension module."""

from __future__ import annotations

from typing import Any, Iterable, Sequence, Union

import numpy as np
import scipy.sparse as sp

from . import _plethora
from ._errors import DataError

Texts = Union[Sequence[str], "sp.csr_matrix", "sp.csr_array"]
"""Texts, or features as a sparse matrix with a row for each document."""

Labels = Union[Sequence[Iterable[str]], "sp.csr_matrix", "sp.csr_array", "np.ndarray[Any, Any]"]
"""The labels of each document, or an indicator matrix with a column for each label."""


def documents(
    texts: Texts, labels: Labels | None = None, columns: Sequence[str] | None = None
) -> _plethora.Documents:
    """Documents; `columns` names the columns of a label matrix, by their number where absent."""
    keys = None if labels is None else label_lists(labels, columns)
    if sp.issparse(texts):
        matrix = sp.csr_matrix(texts, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        return _plethora.Documents.of_features(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.uint32),
            np.ascontiguousarray(matrix.data),
            matrix.shape[1],
            keys,
        )
    if isinstance(texts, (str, bytes)):
        raise DataError("texts: expected a list of str, found a single str")
    if getattr(texts, "ndim", 1) != 1:
        raise DataError("texts: expected a list of str, or features as a scipy.sparse matrix")
    return _plethora.Documents.of_texts(list(texts), keys)


def label_lists(labels: Labels, columns: Sequence[str] | None = None) -> list[list[str]]:
    """The labels of each document by their keys."""
    if not is_matrix(labels):
        return list(labels)
    matrix = indicator(labels)
    names = column_names(matrix.shape[1], columns)
    ends = matrix.indptr
    entries = matrix.indices
    return [
        [names[column] for column in entries[start:end]] for start, end in zip(ends, ends[1:])
    ]


def is_matrix(labels: object) -> bool:
    """True for a matrix of labels, false for lists of them."""
    return bool(sp.issparse(labels)) or getattr(labels, "ndim", 1) == 2


def num_columns_of(labels: Any) -> int:
    """The number of columns of a matrix of labels."""
    return int(labels.shape[1])


def indicator(labels: Any) -> sp.csr_matrix:
    """A matrix of labels without entries that are 0."""
    matrix = sp.csr_matrix(labels, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def column_names(num_columns: int, columns: Sequence[str] | None) -> list[str]:
    """The keys of a label matrix's columns."""
    if columns is None:
        return [str(column) for column in range(num_columns)]
    names = [str(name) for name in columns]
    if len(names) != num_columns:
        raise DataError(f"label_names: expected {num_columns} names, found {len(names)}")
    if len(set(names)) != num_columns:
        raise DataError("label_names: expected a different name for each column")
    return names
