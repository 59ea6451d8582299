"""Models behind Ray Serve, with the JSON of `plethora serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._classifier import Classifier, load
from .._errors import Error

if TYPE_CHECKING:
    from starlette.requests import Request

_OWN = ("documents", "top_k", "threshold", "tuned")


def deployment(
    model: str | os.PathLike[str] | Classifier,
    *,
    name: str | None = None,
    num_replicas: int = 1,
    num_cpus: float = 1,
    num_gpus: float = 0,
    dtype: str = "auto",
    **options: Any,
) -> Any:
    """A model as an application for `ray.serve.run`.

    Every replica holds the model and answers `POST` as `plethora serve` answers
    ``/v1/models/NAME/predict``: ``{"documents": [...], "top_k": 5}``.

    Parameters
    ----------
    model
        Folder of the model, which all nodes see.
    name
        What answers call the model; the name of its folder if not given.
    num_replicas, num_cpus, num_gpus
        Number of replicas, and what each takes of its node.
    **options
        Further options of `ray.serve.deployment`.
    """
    from ray import serve

    path = os.path.abspath(os.fspath(model.path_ if isinstance(model, Classifier) else model))
    served: Any = serve.deployment(
        _Served,
        name=name or Path(path).name,
        num_replicas=num_replicas,
        ray_actor_options={"num_cpus": num_cpus, "num_gpus": num_gpus},
        **options,
    )
    opened = {
        "device": "cuda" if num_gpus else "cpu",
        "dtype": dtype,
        "n_jobs": max(1, int(num_cpus)),
    }
    return served.bind(path, name or Path(path).name, opened)


class _Served:
    """A replica: the model, and the way from a request to an answer."""

    def __init__(self, path: str, name: str, opened: dict[str, Any]) -> None:
        self.model = load(path, progress=False, **opened)
        self.name = name
        names = self.model.label_names_
        self.keys = list(names)
        self.names = list(names.values())

    async def __call__(self, request: Request) -> Any:
        import asyncio
        import json

        from starlette.responses import JSONResponse

        try:
            asked = json.loads(await request.body())
            ids, texts = _documents(asked)
        except ValueError as error:
            return JSONResponse({"title": "Bad Request", "status": 400, "detail": str(error)}, 400)
        ranked = {key: asked.get(key) for key in ("top_k", "threshold")}
        try:
            loop = asyncio.get_running_loop()
            work = lambda: self.model._rank(texts, **ranked, tuned=bool(asked.get("tuned")))
            ends, labels, scores = await loop.run_in_executor(None, work)
        except Error as error:
            problem = {"title": "Unprocessable Entity", "status": 422, "detail": str(error)}
            return JSONResponse(problem, 422)
        # The shortest digits that stand for a number of 32 bits, as in answers of the server.
        pairs = [
            {"label": self.names[label], "key": self.keys[label], "score": float(str(score)), "label_id": label}
            for label, score in zip(labels.tolist(), scores)
        ]
        results = [
            {"id": id, "predictions": pairs[start:end]}
            for id, start, end in zip(ids, ends.tolist(), ends[1:].tolist())
        ]
        return JSONResponse({"model": self.name, "results": results})


def _documents(asked: Any) -> tuple[list[str], list[str]]:
    """Ids and texts of a request."""
    if not isinstance(asked, dict) or not isinstance(asked.get("documents"), list):
        raise ValueError("expected an object with `documents`, a list of texts or objects with `text`")
    unknown = sorted(set(asked) - set(_OWN))
    if unknown:
        raise ValueError(f"unknown field `{unknown[0]}`, expected one of {', '.join(_OWN)}")
    if not asked["documents"]:
        raise ValueError("documents: expected at least one")
    ids, texts = [], []
    for number, document in enumerate(asked["documents"], 1):
        given = {"text": document} if isinstance(document, str) else document
        if not isinstance(given, dict) or not isinstance(given.get("text"), str):
            raise ValueError(f"document {number}: expected a text, or an object with `text`")
        ids.append(str(given.get("id", number)))
        texts.append(given["text"])
    return ids, texts
