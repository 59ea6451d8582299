"""What the command line does with corpora and model folders, by the same names.

Data are files, and models are folders, as of :meth:`Classifier.save` and :attr:`Classifier.path_`.
Results are what the commands print with ``--json``.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import _plethora
from ._libtorch import share_with_torch
from ._progress import Listener, ProgressOption, listener
from ._reading import PathLike, Reading, corpus
from ._settings import num_threads, plain, request

if TYPE_CHECKING:
    from typing_extensions import Unpack


def check(
    data: PathLike,
    *,
    against: PathLike | None = None,
    against_where: Mapping[str, str] | None = None,
    against_labels_file: PathLike | None = None,
    vocabulary: PathLike | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """What is in a corpus, what looks wrong, and what training will cost: `plethora check`.

    Parameters
    ----------
    against
        Test corpus: looks for its documents among those of the first, and for labels it lacks.
        `against_where` replaces the `where` of the same field.
    vocabulary
        File with names of the labels, to look for those it lacks.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    asked = {
        "data": corpus(data, **reading),
        "against": None,
        "vocabulary": _path(vocabulary),
        "num_threads": num_threads(n_jobs),
    }
    if against is not None:
        second: Reading = {**reading, "docs_limit": None}
        second["where"] = {**(reading.get("where") or {}), **(against_where or {})}
        if against_labels_file is not None:
            second["labels_file"] = against_labels_file
        asked["against"] = corpus(against, **second)
    return _run(_plethora.check, asked, progress)


def search(
    data: PathLike,
    output: PathLike,
    *,
    budget: str,
    system: str | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    ranges: Mapping[str, str | Sequence[Any]] | None = None,
    metric: str = "nDCG@5",
    method: str = "halving",
    trials: int = 27,
    valid: PathLike | None = None,
    valid_where: Mapping[str, str] | None = None,
    valid_share: float = 0.1,
    vocabulary: PathLike | None = None,
    keep_model: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Searches settings that rank validation documents best: `plethora search`.

    Parameters
    ----------
    output
        Folder for the search: `trials.jsonl`, `best.toml`, with `keep_model` the best model.
    budget
        Time for all trials, as "30m" or "1h30m".
    system, preset, settings
        What trials have in common; settings by their names, as ``{"tree__max_leaf": 50}``.
    ranges
        Settings to vary, as ``{"solver.cost": "log:0.1..10", "num_trees": [1, 3, 5]}``; the
        system's own ranges if not given.
    metric, method, trials
        What to make large, "halving" or "random", and how many trials at most.
    valid, valid_where, valid_share
        Documents to measure trials on, or the share of `data` that no trial learns from.
    resume
        Resumes a search of the same data and arguments.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    chosen = system or _plethora.system_specs()[0][0]
    asked = {
        "data": corpus(data, **reading),
        "valid": None,
        "valid_share": valid_share,
        "vocabulary": _path(vocabulary),
        "output": _path(output),
        "settings": json.loads(request(chosen, preset, dtype, settings or {})),
        "ranges": [f"{key}={_range(value)}" for key, value in (ranges or {}).items()],
        "method": method,
        "trials": trials,
        "metric": metric,
        "budget": budget,
        "keep_model": keep_model,
        "overwrite": overwrite,
        "resume": resume,
        "machine": _machine(device, dtype, n_jobs),
    }
    if valid is not None:
        second: Reading = {**reading, "docs_limit": None}
        second["where"] = {**(reading.get("where") or {}), **(valid_where or {})}
        asked["valid"] = corpus(valid, **second)
    return _run(_plethora.search, asked, progress)


def _range(value: str | Sequence[Any]) -> str:
    return value if isinstance(value, str) else ",".join(str(choice) for choice in value)


def report(
    models: PathLike | Sequence[PathLike],
    data: PathLike,
    output: PathLike,
    *,
    top_k: Sequence[int] = (1, 3, 5),
    threshold: float = 0.5,
    scores: str = "prob",
    tuned: bool = False,
    a: float = 0.55,
    b: float = 1.5,
    depth: int | None = None,
    beam: int | None = None,
    resamples: int = 1000,
    seed: int = 1,
    overwrite: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Compares models on the same documents: `plethora eval MODEL... DATA --report OUTPUT`.

    Writes `report.html`, `report.md` and `report.json`, and returns the last of them.

    Parameters
    ----------
    top_k
        Depths of the ranking to measure at.
    threshold, tuned
        The score from which on labels count as assigned, or the models' tuned thresholds.
    scores
        "prob" for probabilities of calibrated models, "raw" for their own scores.
    depth
        Labels to rank per document; 100 if not given.
    resamples, seed
        Bootstrap draws for intervals, and their seed.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    asked = {
        "models": _paths(models),
        "data": corpus(data, **reading),
        "output": _path(output),
        "overwrite": overwrite,
        "config": {"ks": list(top_k), "a": a, "b": b, "threshold": threshold},
        "beam": beam,
        "depth": depth,
        "scores": scores,
        "tuned": tuned,
        "bootstrap": {"resamples": resamples, "seed": seed},
        "machine": _machine(device, dtype, n_jobs),
    }
    return _run(_plethora.report, asked, progress)


def calibrate(
    model: PathLike,
    data: PathLike,
    *,
    method: str = "isotonic",
    by_frequency: bool = False,
    thresholds: str | None = None,
    depth: int = 100,
    output: PathLike | None = None,
    overwrite: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Turns a model's scores into probabilities, and tunes thresholds: `plethora calibrate`.

    Parameters
    ----------
    data
        Documents with true labels that the model was not trained on.
    method
        "isotonic", or "platt" for few true labels.
    by_frequency
        Fits frequent, middling and rare labels separately.
    thresholds
        Tunes thresholds for F1: "global", "band" or "label".
    output
        Folder for the calibrated model; without it the model itself is replaced. Classifiers that
        are open keep what they have loaded.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    asked = {
        "model": _path(model),
        "data": corpus(data, **reading),
        "method": method,
        "by_frequency": by_frequency,
        "thresholds": thresholds,
        "depth": depth,
        "output": _path(output),
        "overwrite": overwrite,
        "machine": _machine(device, dtype, n_jobs),
    }
    return _run(_plethora.calibrate, asked, progress)


def ensemble(
    models: Sequence[PathLike],
    output: PathLike,
    *,
    combination: str | None = None,
    fit: PathLike | None = None,
    link: bool = False,
    weights: Sequence[float] | None = None,
    depth: int = 100,
    overwrite: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Combines trained models into one, which :func:`plethora.load` opens: `plethora ensemble`.

    Parameters
    ----------
    combination
        "mean", "noisy-or", "reciprocal-rank" or "stacked"; if not given the mean, or "stacked"
        with `fit`.
    fit
        Documents with true labels to fit the weights of a stacked ensemble to.
    link
        Leaves the models where they are instead of copying them.
    weights
        How much each model counts.
    depth
        Labels that each model ranks per document.
    **reading
        How to read `fit`, as :func:`plethora.load_dataset`.
    """
    asked = {
        "models": _paths(models),
        "output": _path(output),
        "combination": combination,
        "fit": None if fit is None else corpus(fit, **reading),
        "link": link,
        "weights": list(weights or []),
        "depth": depth,
        "overwrite": overwrite,
        "machine": _machine(device, dtype, n_jobs),
    }
    return _run(_plethora.ensemble, asked, progress)


def _path(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


def _paths(models: PathLike | Sequence[PathLike]) -> list[str]:
    several = [models] if isinstance(models, (str, os.PathLike)) else models
    return [os.fspath(model) for model in several]


def _machine(device: str, dtype: str, n_jobs: int | None) -> dict[str, Any]:
    share_with_torch(device)
    return {"device": device, "dtype": dtype, "num_threads": num_threads(n_jobs)}


def _run(
    job: Callable[[str, Listener | None], str], asked: dict[str, Any], progress: ProgressOption
) -> dict[str, Any]:
    done: dict[str, Any] = json.loads(job(json.dumps(asked, default=plain), listener(progress)))
    return done
