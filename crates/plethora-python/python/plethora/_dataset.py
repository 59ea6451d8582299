"""Corpora of any format that the command line reads."""

from __future__ import annotations

import json
from typing import Mapping, NamedTuple, Sequence

import numpy as np
import scipy.sparse as sp

from . import _plethora
from ._inputs import Texts
from ._progress import ProgressOption, listener
from ._reading import PathLike, corpus


class Dataset(NamedTuple):
    """A corpus: ``texts, labels = dataset[:2]`` are what :meth:`Classifier.fit` takes."""

    texts: Texts
    """A str for each document, or features as a sparse matrix."""
    labels: list[list[str]]
    """The labels of each document."""
    ids: list[str]
    """The id of each document, or its place, counted from 1."""
    label_names: dict[str, str]
    """Names of labels, where the corpus brings a file of them."""

    def __repr__(self) -> str:
        labels = {label for row in self.labels for label in row}
        kind = "features" if sp.issparse(self.texts) else "texts"
        return f"<Dataset: {len(self.ids):,} documents ({kind}), {len(labels):,} labels>"


def load_dataset(
    path: PathLike | Sequence[PathLike],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    text_field: str | Sequence[str] | None = None,
    label_field: str | None = None,
    label_columns: str | Sequence[str] | None = None,
    group_rows: bool = False,
    id_field: str | None = None,
    where: Mapping[str, str] | None = None,
    labels_file: PathLike | None = None,
    label_separator: str | None = None,
    docs_limit: int | None = None,
    progress: ProgressOption = None,
) -> Dataset:
    """Reads a corpus: JSONL, CSV, Parquet, Arrow, XMC, fastText, Annif and others, plain or compressed.

    `path` is a file, a pattern such as ``"part-*.jsonl"``, a folder, or several of them. The format,
    the delimiter of a CSV and the encoding are told by the content. `label_columns` names columns of
    0 and 1 that each stand for a label, as ``["sea", "air"]`` or ``"sea..air"``; `group_rows` makes
    one document of neighbouring rows with the same id. `where` keeps documents whose fields have these values, as
    ``where={"split": "train"}``.
    """
    asked = corpus(
        path,
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        text_field=text_field,
        label_field=label_field,
        label_columns=label_columns,
        group_rows=group_rows,
        id_field=id_field,
        where=where,
        labels_file=labels_file,
        label_separator=label_separator,
        docs_limit=docs_limit,
    )
    ids, texts, features, labels, names = _plethora.read_dataset(
        json.dumps(asked), listener(progress)
    )
    if features is None:
        return Dataset(texts, labels, ids, dict(names))
    starts, columns, values, num_columns = features
    shape = (len(ids), num_columns)
    matrix = sp.csr_matrix((values, columns.astype(np.int64), starts), shape=shape)
    return Dataset(matrix, labels, ids, dict(names))
