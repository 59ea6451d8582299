"""Models that several processes train together: `plethora train --shard` and `plethora merge`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _plethora
from ._libtorch import share_with_torch
from ._progress import ProgressOption, listener
from ._reading import PathLike, Reading, corpus, vocabulary_file
from ._settings import num_threads, plain, request

if TYPE_CHECKING:
    from typing_extensions import Unpack


def train_piece(
    system: str,
    data: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    shard: tuple[int, int] | None,
    seed: int | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    vocabulary: PathLike | None = None,
    vocabulary_languages: Sequence[str] = (),
    learn_names: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Trains one share of a model on the documents of files: `plethora train --shard`.

    Every share reads all documents. All pieces together are a model for :func:`merge`.

    Parameters
    ----------
    shard
        Which share, from 0, and of how many, as ``(0, 3)``; None trains the whole model.
    output
        Folder for the piece.
    vocabulary, vocabulary_languages
        File with names of the labels, and the languages that they are taken of.
    settings
        Settings by their names, as ``{"tree__max_leaf": 50}``.
    overwrite, resume
        Replace what is in `output`; resume an interrupted run of the same data.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    options = {
        "shard": None if shard is None else f"{shard[0]}/{shard[1]}",
        "vocabulary": vocabulary_file(vocabulary, vocabulary_languages),
        "learn_names": learn_names,
        "overwrite": overwrite,
        "resume": resume,
        "device": device,
        "num_threads": num_threads(n_jobs),
    }
    chosen = request(system, preset, dtype, {**(settings or {}), "seed": seed})
    report = train_files(chosen, corpus(data, **reading), output, options, progress)
    assert report is not None
    return report


def train_files(
    chosen: str,
    data: dict[str, Any],
    output: PathLike,
    options: dict[str, Any],
    progress: ProgressOption,
) -> dict[str, Any] | None:
    """Trains on the documents of files; None where another process tells what came out."""
    share_with_torch(options["device"])
    asked = {
        "data": data,
        "valid": None,
        "settings": json.loads(chosen),
        "output": os.fspath(output),
        "shard": None,
        "together": False,
        **options,
    }
    text = json.dumps(asked, default=plain)
    report: dict[str, Any] | None = json.loads(_plethora.train_piece(text, listener(progress)))
    return report


def merge(
    pieces: Sequence[PathLike],
    output: PathLike,
    *,
    overwrite: bool = False,
    progress: ProgressOption = None,
) -> dict[str, Any]:
    """Makes a model of all its pieces, in any order: `plethora merge`.

    Its files are those of a model that one process has trained, to the last byte.
    """
    folders = [os.fspath(piece) for piece in pieces]
    merged = _plethora.merge(folders, os.fspath(output), overwrite, listener(progress))
    done: dict[str, Any] = json.loads(merged)
    return done
