"""Texts, features and labels as users have them, in the form of the extension module."""

from __future__ import annotations

import ast
from typing import Any, Iterable, NamedTuple, Protocol, Sequence, Union

import numpy as np
import scipy.sparse as sp

from . import _plethora, _tables
from ._errors import DataError


class Shaped(Protocol):
    """A table or column of pandas, polars or Hugging Face, a table of Arrow, a matrix."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class ArrowArray(Protocol):
    """A column of an Arrow table."""

    def to_pylist(self) -> list[Any]: ...


Texts = Union[Sequence[str], Shaped, ArrowArray]
"""Texts, features as a sparse matrix with a row for each document, or a column or table with texts."""

Labels = Union[Sequence[Iterable[Union[str, int]]], Shaped, ArrowArray]
"""The labels of each document, or an indicator matrix or table with a column for each label."""

TEXT_FIELD = "text"
LABEL_FIELD = "labels"


class Fields(NamedTuple):
    """Where texts and labels are in a table, and what separates the labels of a cell."""

    text: tuple[str, ...] = ()
    label: str | None = None
    separator: str | None = None

    @staticmethod
    def of(
        text_field: str | Sequence[str] | None,
        label_field: str | None,
        label_separator: str | None,
    ) -> Fields:
        text = (text_field,) if isinstance(text_field, str) else tuple(text_field or ())
        return Fields(text, label_field, label_separator)


class Sources(NamedTuple):
    """Texts and labels in their simplest forms: lists or sparse matrices."""

    texts: Any
    labels: Any
    columns: list[str] | None
    """Names of labels by number: of the columns of a matrix, or of numbers in lists."""
    text_fields: list[str]
    """Columns of a table that texts came from."""
    has_names: bool = False
    """Whether the columns of a label matrix were named, as those of a table are."""


def sources(
    texts: Any,
    labels: Any = None,
    fields: Fields = Fields(),
    label_names: Sequence[str] | None = None,
) -> Sources:
    """Takes texts and labels out of tables and pairs."""
    # A corpus of load_dataset has both.
    if labels is None and hasattr(texts, "_fields"):
        texts, labels = texts.texts, texts.labels
    text_fields: list[str] = []
    if _tables.is_table(texts):
        table, text_fields = texts, list(fields.text or (TEXT_FIELD,))
        texts = _tables.texts(table, text_fields)
        if labels is None and (fields.label or LABEL_FIELD) in _tables.column_names(table):
            labels = _tables.column(table, fields.label or LABEL_FIELD, "label_field")
            labels = _cells(labels, fields.separator)
        elif labels is None and fields.label is not None:
            _tables.column(table, fields.label, "label_field")
    elif _tables.is_column(texts):
        texts = ["" if _tables.is_missing(text) else text for text in _tables.cells(texts)]
    columns, given = None, labels
    if labels is not None:
        labels, columns = _labels(labels, fields.separator, label_names)
    has_names = label_names is not None or _tables.is_table(given)
    return Sources(texts, labels, columns, text_fields, has_names)


def needed_labels(found: Sources) -> Sources:
    """The same, where there must be labels."""
    if found.labels is None:
        where = "no column `labels`; name another with label_field=, or pass" if found.text_fields else "pass"
        raise DataError(f"labels: {where} the labels of each document")
    return found


def documents(found: Sources, columns: Sequence[str] | None = None) -> _plethora.Documents:
    """Documents; `columns` names the columns of a label matrix, by their number where absent."""
    texts: Any = found.texts
    keys = None if found.labels is None else label_lists(found.labels, columns)
    if is_sparse(texts):
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


def label_lists(labels: Any, columns: Sequence[str] | None = None) -> list[Any]:
    """The labels of each document by their keys."""
    if not is_matrix(labels):
        return list(labels) if columns is None else [_named(row, columns) for row in labels]
    matrix = indicator(labels)
    names = column_names(matrix.shape[1], columns)
    ends = matrix.indptr
    entries = matrix.indices
    return [
        [names[column] for column in entries[start:end]] for start, end in zip(ends, ends[1:])
    ]


def is_sparse(values: object) -> bool:
    """True for a sparse matrix."""
    return bool(sp.issparse(values))


def is_matrix(labels: object) -> bool:
    """True for a matrix of labels, false for lists of them."""
    return is_sparse(labels) or getattr(labels, "ndim", 1) == 2


def num_columns_of(labels: Any) -> int:
    """The number of columns of a matrix of labels."""
    return int(labels.shape[1])


def indicator(labels: Any) -> sp.csr_matrix:
    """A matrix of labels without entries that are 0."""
    if not is_sparse(labels):
        others = np.asarray(labels)[~np.isin(labels, (0, 1))]
        if others.size:
            raise DataError(
                f"labels: expected a matrix of 0 and 1, found {others[0]}; numbers of labels come "
                "as lists"
            )
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


def _labels(
    labels: Any, separator: str | None, label_names: Sequence[str] | None
) -> tuple[Any, list[str] | None]:
    """Labels as lists or a matrix, with the names of numbers."""
    if _tables.is_table(labels):
        names = _tables.column_names(labels)
        content = _tables.numbers(labels)
        if len(content) == 1 and any(hasattr(cell, "__len__") for cell in content[0]):
            labels = _cells(content[0], separator)
        else:
            return _of_columns(content, names), column_names(len(names), label_names or names)
    elif _tables.is_column(labels):
        labels = _cells(_tables.cells(labels), separator)
    elif separator is not None and not is_matrix(labels):
        labels = _cells(list(labels), separator)
    if is_matrix(labels):
        return labels, column_names(num_columns_of(labels), label_names)
    if label_names is None:
        return labels, None
    names = column_names(len(label_names), label_names)
    if not any(isinstance(label, (int, np.integer)) for row in labels for label in row):
        raise DataError("label_names: the labels have names already")
    return labels, names


def _of_columns(content: list[list[Any]], names: list[str]) -> sp.csr_matrix:
    """An indicator matrix of columns of 0 and 1."""
    for name, values in zip(names, content):
        for value in values:
            if value not in (0, 1, None) and not _tables.is_missing(value):
                raise DataError(f"labels: expected 0 or 1 in column `{name}`, found {value!r}")
    rows = [[value == 1 for value in values] for values in content]
    return sp.csr_matrix(np.asarray(rows, dtype=np.int8).T)


def _cells(values: list[Any], separator: str | None) -> list[Any]:
    """The labels of each cell: a list, or a str of several with a separator between."""
    filled = [[] if _tables.is_missing(value) else value for value in values]
    are_lists = separator is None and all(_is_written_list(v) for v in filled if isinstance(v, str))
    return [_cell(value, separator, are_lists) for value in filled]


def _cell(value: Any, separator: str | None, is_list: bool) -> Any:
    if not isinstance(value, str):
        return [value] if isinstance(value, (int, np.integer)) else value
    if separator is not None:
        return [part.strip() for part in value.split(separator) if part.strip()]
    if is_list:
        try:
            return ast.literal_eval(value)
        except (SyntaxError, ValueError):
            raise DataError(f"labels: expected a list, found {value!r}") from None
    return value


def _is_written_list(value: str) -> bool:
    """True for a list that was written to a file as text, as pandas does with those in cells."""
    return value.startswith("[") and value.endswith("]")


def _named(row: Any, names: Sequence[str]) -> Any:
    """Labels of which numbers are replaced by their names."""
    if isinstance(row, str) or not hasattr(row, "__iter__"):
        return row
    named = []
    for label in row:
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
            if not 0 <= label < len(names):
                raise DataError(f"labels: there are {len(names)} label_names, none has the number {label}")
            label = names[int(label)]
        named.append(label)
    return named
