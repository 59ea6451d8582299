"""How corpora are read, as the options of the command line."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, TypedDict, Union

PathLike = Union[str, "os.PathLike[str]"]


class Reading(TypedDict, total=False):
    """Options of everything that reads a corpus; see :func:`plethora.load_dataset`."""

    format: str | None
    text_field: str | Sequence[str] | None
    label_field: str | None
    id_field: str | None
    where: Mapping[str, str] | None
    labels_file: PathLike | None
    label_separator: str | None
    docs_limit: int | None


def corpus(
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
) -> dict[str, Any]:
    """A corpus as the extension module reads it."""
    fields = [text_field] if isinstance(text_field, str) else list(text_field or [])
    return {
        "path": os.fspath(path),
        "format": format,
        "text_fields": fields,
        "label_field": label_field,
        "id_field": id_field,
        "filters": [[field, str(value)] for field, value in (where or {}).items()],
        "labels_file": None if labels_file is None else os.fspath(labels_file),
        "label_separator": label_separator,
        "docs_limit": docs_limit,
    }
