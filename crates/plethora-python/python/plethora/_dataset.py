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


def load_dataset(
    path: PathLike,
    *,
    format: str | None = None,
    text_field: str | Sequence[str] | None = None,
    label_field: str | None = None,
    id_field: str | None = None,
    where: Mapping[str, str] | None = None,
    labels_file: PathLike | None = None,
    label_separator: str | None = None,
    docs_limit: int | None = None,
    progress: ProgressOption = None,
) -> Dataset:
    """Reads a corpus: JSONL, CSV, TSV, XMC, fastText, Annif and others, plain or compressed.

    The format is told by the content. `where` keeps documents whose fields have these values, as
    ``where={"split": "train"}``.
    """
    asked = corpus(
        path,
        format=format,
        text_field=text_field,
        label_field=label_field,
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
