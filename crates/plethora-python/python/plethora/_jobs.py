"""What the command line does with corpora and model folders, by the same names.

Data are files, or documents in memory: what :func:`plethora.load_dataset` gives, a pair of texts and
labels, or a table. Models are folders or classifiers. Results are what the commands print with
``--json``, as dictionaries that notebooks show as tables.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, Union

from . import _plethora
from ._errors import ConfigError
from ._inputs import Fields, Labels, Texts, documents, needed_labels, sources
from ._libtorch import share_with_torch
from ._progress import ProgressOption, listener
from ._reading import PathLike, Reading, corpus, vocabulary_file
from ._settings import Presets, num_threads, plain, request
from ._shown import Check, Report, Search

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._classifier import Classifier
    from ._dataset import Dataset

    Data = Union[PathLike, Dataset, tuple[Texts, Labels], Texts, _plethora.Documents]
    Model = Union[PathLike, Classifier]

# Options of reading that concern files alone.
_OF_FILES = ("format", "id_field", "where", "labels_file", "docs_limit")


def check(
    data: Data,
    *,
    against: Data | None = None,
    against_where: Mapping[str, str] | None = None,
    against_labels_file: PathLike | None = None,
    vocabulary: PathLike | None = None,
    vocabulary_languages: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> Check:
    """What is in a corpus, what looks wrong, and what training will cost: `plethora check`.

    Parameters
    ----------
    against
        Test corpus: looks for its documents among those of the first, and for labels it lacks.
        `against_where` replaces the `where` of the same field.
    vocabulary
        File with names of the labels, to look for those it lacks; `vocabulary_languages` as
        ``["de", "en"]`` chooses among languages.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    data_file, data_list = _source(data, reading)
    asked = {
        "data": data_file,
        "against": None,
        "vocabulary": vocabulary_file(vocabulary, vocabulary_languages),
        "num_threads": num_threads(n_jobs),
    }
    second: Reading = {**reading}
    if _is_path(against):
        second["where"] = {**(reading.get("where") or {}), **(against_where or {})}
        second["docs_limit"] = None
        if against_labels_file is not None:
            second["labels_file"] = against_labels_file
    asked["against"], against_list = _source(against, second)
    text = json.dumps(asked, default=plain)
    return Check(json.loads(_plethora.check(text, listener(progress), data_list, against_list)))


def search(
    data: Data,
    output: PathLike,
    *,
    budget: str,
    system: str | None = None,
    preset: Presets = None,
    settings: Mapping[str, Any] | None = None,
    ranges: Mapping[str, str | Sequence[Any]] | None = None,
    metric: str = "nDCG@5",
    method: str = "halving",
    trials: int = 27,
    valid: Data | None = None,
    valid_where: Mapping[str, str] | None = None,
    valid_share: float = 0.1,
    vocabulary: PathLike | None = None,
    vocabulary_languages: Sequence[str] = (),
    keep_model: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    _runner: Callable[[str], Any] | None = None,
    **reading: Unpack[Reading],
) -> Search:
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
    data_file, data_list = _source(data, reading)
    asked = {
        "data": data_file,
        "valid": None,
        "valid_share": valid_share,
        "vocabulary": vocabulary_file(vocabulary, vocabulary_languages),
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
    second: Reading = {**reading}
    if _is_path(valid):
        second["where"] = {**(reading.get("where") or {}), **(valid_where or {})}
        second["docs_limit"] = None
    asked["valid"], valid_list = _source(valid, second)
    text = json.dumps(asked, default=plain)
    # Trials that are trained elsewhere need files that are seen there.
    runner = None if _runner is None else _runner(text)
    found = _plethora.search(text, listener(progress), data_list, valid_list, runner)
    return Search(json.loads(found))


def _range(value: str | Sequence[Any]) -> str:
    return value if isinstance(value, str) else ",".join(str(choice) for choice in value)


def report(
    models: Model | Sequence[Model],
    data: Data,
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
) -> Report:
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
    data_file, data_list = _source(data, reading)
    asked = {
        "models": _paths(models),
        "data": data_file,
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
    text = json.dumps(asked, default=plain)
    found = json.loads(_plethora.report(text, listener(progress), data_list))
    return Report(found, os.fspath(output))


def calibrate(
    model: Model,
    data: Data,
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
    data_file, data_list = _source(data, reading)
    asked = {
        "model": _paths(model)[0],
        "data": data_file,
        "method": method,
        "by_frequency": by_frequency,
        "thresholds": thresholds,
        "depth": depth,
        "output": _path(output),
        "overwrite": overwrite,
        "machine": _machine(device, dtype, n_jobs),
    }
    text = json.dumps(asked, default=plain)
    done: dict[str, Any] = json.loads(_plethora.calibrate(text, listener(progress), data_list))
    return done


def ensemble(
    models: Sequence[Model],
    output: PathLike,
    *,
    combination: str | None = None,
    fit: Data | None = None,
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
        "mean", "noisy-or" or "reciprocal-rank", or with `fit` "stacked", "powers", "label-weights"
        or "fused"; if not given the mean, or "stacked" with `fit`.
    fit
        Documents with true labels to fit weights to; not those of the training data.
    link
        Leaves the models where they are instead of copying them.
    weights
        How much each model counts.
    depth
        Labels that each model ranks per document.
    **reading
        How to read `fit`, as :func:`plethora.load_dataset`.
    """
    fit_file, fit_list = _source(fit, reading)
    asked = {
        "models": _paths(models),
        "output": _path(output),
        "combination": combination,
        "fit": fit_file,
        "link": link,
        "weights": list(weights or []),
        "depth": depth,
        "overwrite": overwrite,
        "machine": _machine(device, dtype, n_jobs),
    }
    text = json.dumps(asked, default=plain)
    done: dict[str, Any] = json.loads(_plethora.ensemble(text, listener(progress), fit_list))
    return done


def _source(
    data: Data | None, reading: Reading
) -> tuple[dict[str, Any] | None, _plethora.Documents | None]:
    """A corpus as the extension module takes it: a file to read, or documents."""
    if data is None or isinstance(data, _plethora.Documents):
        return None, data
    if _is_path(data):
        return corpus(data, **reading), None  # type: ignore[arg-type]
    for option in _OF_FILES:
        if reading.get(option) is not None:
            raise ConfigError(f"{option}: concerns files, but the documents are in memory")
    unknown = set(reading) - set(Reading.__annotations__)
    if unknown:
        raise TypeError(f"unexpected keyword argument {sorted(unknown)[0]!r}")
    fields = Fields.of(
        reading.get("text_field"), reading.get("label_field"), reading.get("label_separator")
    )
    texts, labels = data if type(data) is tuple and len(data) == 2 else (data, None)
    found = needed_labels(sources(texts, labels, fields))
    return None, documents(found, found.columns)


def _is_path(data: object) -> bool:
    return isinstance(data, (str, os.PathLike))


def _path(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


def _paths(models: Model | Sequence[Model]) -> list[str]:
    several: list[Any] = list(models) if isinstance(models, (list, tuple)) else [models]
    folders: list[Any] = [getattr(model, "path_", model) for model in several]
    return [os.fspath(folder) for folder in folders]


def _machine(device: str, dtype: str, n_jobs: int | None) -> dict[str, Any]:
    share_with_torch(device)
    return {"device": device, "dtype": dtype, "num_threads": num_threads(n_jobs)}
