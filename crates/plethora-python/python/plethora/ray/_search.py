"""Searches whose trials are Ray tasks."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import ray

from .. import _plethora
from .._errors import Error
from .._jobs import search as search_here
from .._reading import PathLike
from .._shown import Search

# How long trials that are no longer wanted may take to notice.
_SECONDS_TO_END = 10


def search(
    data: PathLike,
    output: PathLike,
    *,
    num_cpus: float = 1,
    num_gpus: float = 0,
    max_retries: int = 3,
    **options: Any,
) -> Search:
    """Searches settings with trials that are trained side by side: `plethora search` on a cluster.

    Equal seeds give equal trials, and the folder is the one of `plethora search`, which can resume it.

    Parameters
    ----------
    data, output
        File, pattern or folder of documents, and the folder of the search, both seen by all nodes.
    num_cpus, num_gpus, max_retries
        What a trial takes of its node, and how often it is tried again where that was lost.
    **options
        As those of :func:`plethora.search` but for `keep_model`; the budget is that of the whole search.
    """
    folder = Path(output).absolute()
    resources = {"num_cpus": num_cpus, "num_gpus": num_gpus, "max_retries": max_retries}
    options = {"n_jobs": max(1, int(num_cpus)), **options}
    if num_gpus:
        options["device"] = "cuda"
    runner: list[_Runner] = []

    def make(request: str) -> _Runner:
        runner.append(_Runner(request, folder, resources))
        return runner[0]

    try:
        return search_here(os.path.abspath(os.fspath(data)), folder, _runner=make, **options)
    finally:
        for one in runner:
            one.end()


class _Runner:
    """Begins trials as tasks, and waits for them."""

    def __init__(self, request: str, folder: Path, resources: dict[str, Any]) -> None:
        self.request = request
        self.work = folder.with_name(f"{folder.name}.trials")
        self.task = _trial.options(**resources)
        self.waiting: dict[tuple[int, int], Any] = {}

    def begin(self, steps: list[tuple[int, int, float]]) -> None:
        for trial, rung, share in steps:
            work = str(self.work / f"{trial}-{rung}")
            self.waiting[trial, rung] = self.task.remote(self.request, trial, share, work)

    def wait(self, trial: int, rung: int) -> str:
        return json.dumps(ray.get(self.waiting.pop((trial, rung))))

    def end(self) -> None:
        tasks = list(self.waiting.values())
        for task in tasks:
            ray.cancel(task)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=_SECONDS_TO_END)
        shutil.rmtree(self.work, ignore_errors=True)


@ray.remote
def _trial(request: str, trial: int, share: float, work: str) -> dict[str, Any]:
    """Trains and measures one trial. Settings that cannot be trained are a result, too."""
    started = time.monotonic()
    Path(work).parent.mkdir(parents=True, exist_ok=True)
    metrics, message = {}, None
    try:
        metrics = json.loads(_plethora.search_trial(request, trial, share, work))
    except Error as error:
        message = str(error)
    return {"metrics": metrics, "message": message, "seconds": time.monotonic() - started}
