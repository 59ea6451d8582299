"""Models whose pieces are trained as Ray tasks."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

import ray

from .._errors import ConfigError
from .._pieces import merge, train_piece
from .._reading import PathLike, Reading

if TYPE_CHECKING:
    import ray.data
    import ray.train
    from typing_extensions import Unpack

    Data = Union[PathLike, Sequence[PathLike], "ray.data.Dataset"]

_MODEL = "model"
_PIECES = "pieces"
_DOCUMENTS = "documents"

# A worker ends by itself once its node is gone.
_SECONDS_TO_END = 60


def train(
    system: str,
    data: Data,
    *,
    scaling_config: ray.train.ScalingConfig | None = None,
    run_config: ray.train.RunConfig | None = None,
    seed: int | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    vocabulary: PathLike | None = None,
    vocabulary_languages: Sequence[str] = (),
    learn_names: bool = False,
    overwrite: bool = False,
    **reading: Unpack[Reading],
) -> ray.train.Result:
    """Trains the pieces of a model on several machines, and merges them.

    The model is the same as one that a single process trains, to the last byte. A piece whose worker or
    node was lost is trained again by another. Which systems can be divided, and into how many pieces
    that are worth it, is in docs/scale.md.

    Parameters
    ----------
    data
        Files that all nodes see, or a Ray data set, which is written to the run's folder first.
    scaling_config
        `num_workers` is the number of pieces, `resources_per_worker` what each takes.
    run_config
        `storage_path` and `name` say which folder, seen by all nodes, gets the model;
        `failure_config.max_failures` how often a piece is tried again, 3 if not given.
    overwrite
        Replace a model that an earlier run of this name has left.
    **reading
        How to read, as :func:`plethora.load_dataset`.

    Returns
    -------
    A result whose `checkpoint` is the model folder, and whose `metrics` are figures of training.
    """
    folder = _folder(run_config)
    workers = _num_workers(scaling_config)
    pieces = [folder / _PIECES / f"{number}-of-{workers}" for number in range(workers)]
    model = folder / _MODEL
    if model.exists() and not overwrite:
        raise ConfigError(f"run_config: {model} exists already; choose another name or overwrite=True")
    asked = {
        "seed": seed,
        "preset": preset,
        "settings": dict(settings or {}),
        "vocabulary": None if vocabulary is None else os.path.abspath(os.fspath(vocabulary)),
        "vocabulary_languages": list(vocabulary_languages),
        "learn_names": learn_names,
        "n_jobs": _threads(scaling_config),
        **reading,
    }
    shutil.rmtree(folder / _PIECES, ignore_errors=True)
    (folder / _PIECES).mkdir(parents=True)
    files = _files(data, folder)
    task = _piece.options(**_resources(scaling_config), max_retries=_max_failures(run_config))
    waiting = [
        task.remote(system, files, str(piece), (number, workers), asked)
        for number, piece in enumerate(pieces)
    ]
    reports = _results(waiting)
    merged = merge(pieces, model, overwrite=overwrite, progress=False)
    shutil.rmtree(folder / _PIECES)
    shutil.rmtree(folder / _DOCUMENTS, ignore_errors=True)
    return _result({**merged, "pieces": reports}, model)


@ray.remote
def _piece(
    system: str, files: list[str], output: str, shard: tuple[int, int], asked: dict[str, Any]
) -> dict[str, Any]:
    """Trains one piece. A worker before may have been lost anywhere on the way, and what it has finished is
    in the folder."""
    lock = Path(output + ".training") / "lock"
    resume = lock.exists()
    if resume:
        _wait_for(lock)
    return train_piece(
        system, files, output, shard=shard, overwrite=True, resume=resume, progress=False, **asked
    )


def _wait_for(lock: Path) -> None:
    """Waits for a worker that has lost its node to notice it and end, for a while."""
    with open(lock, "rb") as file:
        for _ in range(_SECONDS_TO_END):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(1)


def _results(waiting: list[Any]) -> list[Any]:
    """The results of tasks in their order. The first that fails ends the others; its error is the one to
    show, not Ray's around it."""
    left = list(waiting)
    try:
        while left:
            done, left = ray.wait(left)
            ray.get(done)
        return list(ray.get(waiting))
    except ray.exceptions.RayTaskError as error:
        # Not by force: Ray 2.60 may end with a task that is just done, or give the worker to the next run before it ends.
        for task in left:
            ray.cancel(task)
        ray.wait(waiting, num_returns=len(waiting), timeout=_SECONDS_TO_END)
        raise error.cause or error from None


def _files(data: Data, folder: Path) -> list[str]:
    if isinstance(data, (str, os.PathLike)):
        return [os.path.abspath(os.fspath(data))]
    if isinstance(data, Sequence):
        return [os.path.abspath(os.fspath(path)) for path in data]
    target = folder / _DOCUMENTS
    shutil.rmtree(target, ignore_errors=True)
    data.write_parquet(str(target))
    return sorted(str(path) for path in target.glob("*.parquet"))


def _folder(run_config: ray.train.RunConfig | None) -> Path:
    path = None if run_config is None else run_config.storage_path
    if path is None:
        raise ConfigError(
            "run_config: name a folder that all nodes see: RunConfig(storage_path=..., name=...)"
        )
    if "://" in str(path):
        raise ConfigError(
            f"run_config: {path} is no folder; pieces are files, so mount the storage and name its folder"
        )
    assert run_config is not None
    return Path(path).absolute() / (run_config.name or "plethora")


def _num_workers(scaling_config: ray.train.ScalingConfig | None) -> int:
    workers = 1 if scaling_config is None else scaling_config.num_workers
    if not isinstance(workers, int) or workers < 1:
        raise ConfigError(f"scaling_config: expected a number of workers from 1 on, found {workers}")
    return workers


def _resources(scaling_config: ray.train.ScalingConfig | None) -> dict[str, Any]:
    """What each task takes of its node, in the words of `ray.remote`."""
    asked: Any = None if scaling_config is None else scaling_config.resources_per_worker
    given = dict(asked or {})
    options: dict[str, Any] = {"num_cpus": given.pop("CPU", 1)}
    if scaling_config is not None and scaling_config.use_gpu:
        options["num_gpus"] = given.pop("GPU", 1)
    return {**options, "resources": given} if given else options


def _threads(scaling_config: ray.train.ScalingConfig | None) -> int:
    return max(1, int(_resources(scaling_config)["num_cpus"]))


def _max_failures(run_config: ray.train.RunConfig | None) -> int:
    failures = None if run_config is None else run_config.failure_config
    return 3 if failures is None else failures.max_failures


def _result(metrics: dict[str, Any], model: Path) -> ray.train.Result:
    import ray.train

    checkpoint = ray.train.Checkpoint.from_directory(str(model))
    return ray.train.Result(
        metrics=metrics, checkpoint=checkpoint, error=None, path=str(model.parent)
    )
