"""Models in MLflow: tracked, registered and served as every `pyfunc` model is.

>>> import plethora.mlflow
>>> plethora.mlflow.log_model(model, name="subjects")                # doctest: +SKIP
>>> mlflow.pyfunc.load_model("models:/subjects/1").predict(texts)    # doctest: +SKIP

MLflow is imported when one of these functions is called, and may be `mlflow-skinny`.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any

from ._classifier import Classifier, load
from ._plethora import VERSION

__all__ = ["log_model", "save_model"]

_LOADER = "plethora.mlflow"
_FOLDER = "model"


def save_model(model: Classifier, path: str | Path, **options: Any) -> None:
    """Writes a model as MLflow has them; `options` are those of `mlflow.pyfunc.save_model`."""
    import mlflow

    with tempfile.TemporaryDirectory(prefix="plethora-") as folder:
        kept = model.save(Path(folder) / _FOLDER)
        mlflow.pyfunc.save_model(path=str(path), **_arguments(model, kept, options))


def log_model(model: Classifier, name: str = "model", **options: Any) -> Any:
    """Logs a model to the active run; `options` are those of `mlflow.pyfunc.log_model`."""
    import mlflow

    with tempfile.TemporaryDirectory(prefix="plethora-") as folder:
        kept = model.save(Path(folder) / _FOLDER)
        return mlflow.pyfunc.log_model(name=name, **_arguments(model, kept, options))


def _arguments(model: Classifier, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    from mlflow.models import ModelSignature
    from mlflow.types.schema import Array, ColSpec, DataType, Object, ParamSchema, ParamSpec
    from mlflow.types.schema import Property, Schema

    ranked = Array(
        Object([Property("label", DataType.string), Property("score", DataType.double)])
    )
    fields = model.text_fields_
    # A single column needs no name, so that lists of texts are taken, too.
    names: list[str | None] = [None] if len(fields) == 1 else [*fields]
    signature = ModelSignature(
        inputs=Schema([ColSpec(DataType.string, name) for name in names]),
        outputs=Schema([ColSpec(ranked, "predictions")]),
        params=ParamSchema(
            [
                ParamSpec("top_k", DataType.long, 10),
                ParamSpec("threshold", DataType.double, 0.0),
            ]
        ),
    )
    usual = {
        "loader_module": _LOADER,
        "data_path": str(folder),
        "signature": signature,
        "pip_requirements": [f"plethora=={VERSION}", "pandas"],
    }
    return {**usual, **options}


class _PyFunc:
    """What `mlflow.pyfunc` calls."""

    def __init__(self, model: Classifier) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """A row for each document, with a list of labels and scores."""
        # Type checkers would read all of pandas.
        pandas: Any = importlib.import_module("pandas")
        texts = model_input
        if isinstance(texts, pandas.DataFrame) and texts.shape[1] == 1:
            texts = texts.iloc[:, 0]
        asked = params or {}
        threshold = asked.get("threshold") or None
        ranked = self.model.predict(texts, int(asked.get("top_k", 10)), threshold=threshold)
        rows = [[{"label": label, "score": score} for label, score in row] for row in ranked]
        index = getattr(model_input, "index", None)
        has_index = index is not None and not callable(index)
        return pandas.DataFrame({"predictions": rows}, index=index if has_index else None)

    def get_raw_model(self) -> Classifier:
        """The classifier."""
        return self.model


def _load_pyfunc(path: str) -> _PyFunc:
    """Called by MLflow with the folder of the model, or the one that it is in."""
    folder = Path(path)
    inner = folder / _FOLDER
    return _PyFunc(load(inner if inner.is_dir() else folder))
