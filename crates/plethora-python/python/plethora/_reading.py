"""How corpora are read, as the options of the command line."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, TypedDict, Union

from ._errors import ConfigError

PathLike = Union[str, "os.PathLike[str]"]


class Reading(TypedDict, total=False):
    """Options of everything that reads a corpus; see :func:`plethora.load_dataset`."""

    format: str | None
    delimiter: str | None
    encoding: str | None
    text_field: str | Sequence[str] | None
    label_field: str | None
    label_columns: str | Sequence[str] | None
    group_rows: bool
    id_field: str | None
    where: Mapping[str, str] | None
    labels_file: PathLike | None
    label_separator: str | None
    docs_limit: int | None


def corpus(
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
) -> dict[str, Any]:
    """A corpus as the extension module reads it."""
    fields = [text_field] if isinstance(text_field, str) else list(text_field or [])
    columns = [label_columns] if isinstance(label_columns, str) else list(label_columns or [])
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise ValueError("path: expected at least one file")
    return {
        "path": os.fspath(paths[0]),
        "more_paths": [os.fspath(more) for more in paths[1:]],
        "format": format,
        "delimiter": delimiter,
        "encoding": encoding,
        "label_columns": columns,
        "group_rows": group_rows,
        "text_fields": fields,
        "label_field": label_field,
        "id_field": id_field,
        "filters": [[field, str(value)] for field, value in (where or {}).items()],
        "labels_file": None if labels_file is None else os.fspath(labels_file),
        "label_separator": label_separator,
        "docs_limit": docs_limit,
    }


def vocabulary_file(path: PathLike | None, languages: Sequence[str]) -> dict[str, Any] | None:
    """A file with names of labels, and the languages of those to take."""
    if path is None:
        if languages:
            raise ConfigError("vocabulary_languages: there is no vocabulary")
        return None
    if isinstance(languages, str):
        languages = languages.split(",")
    return {"path": os.fspath(path), "languages": list(languages)}
