"""Classifiers, with the conventions of scikit-learn."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Sequence, TypeVar

import numpy as np
import scipy.sparse as sp

from . import _plethora
from ._errors import ConfigError, DataError, NotFittedError
from ._folder import TemporaryFolder, read_files, write_files
from ._inputs import Labels, Texts, column_names, documents, is_matrix, num_columns_of
from ._libtorch import share_with_torch
from ._progress import ProgressOption, listener
from ._reading import PathLike
from ._settings import nested, num_threads, plain, request

Ranking = list[tuple[str, float]]
Self = TypeVar("Self", bound="Classifier")

_OWN = ("top_k", "seed", "beam", "preset", "device", "dtype", "n_jobs", "progress")
_SCORE = "nDCG@5"


class Classifier:
    """A classifier of any system, by its name.

    Parameters
    ----------
    system
        Name of the system, one of :func:`plethora.systems`.
    top_k
        Labels that :meth:`predict` and :meth:`predict_csr` give a document, unless told otherwise.
    seed
        Seed of all random choices; equal seeds give equal models.
    beam
        Tree nodes kept per level in prediction, for systems with trees.
    preset
        Named changes of the system's settings.
    device, dtype
        Where neural systems compute ("cpu", "cuda", "cuda:1") and with which numbers ("auto",
        "f32", "bf16").
    n_jobs
        Threads of training and prediction; None and -1 stand for one per processor.
    progress
        None draws bars with tqdm in terminals and notebooks, True always, False never; a function
        is called with a :class:`plethora.Progress`.
    **settings
        Any other setting of the system, with two underscores for the dot: ``tree__max_leaf=50``.
    """

    system: str = "wide-tree"

    _model: _plethora.Model | None
    _folder: TemporaryFolder | None
    _saved: Path | None
    # Keys of a label matrix's columns, where there was one, and the column of each label.
    _columns: list[str] | None
    _column_of: np.ndarray[Any, Any] | None
    _keys: list[str]
    _names: list[str]

    def __init__(
        self,
        system: str = "wide-tree",
        *,
        top_k: int = 10,
        seed: int | None = None,
        beam: int | None = None,
        preset: str | None = None,
        device: str = "cpu",
        dtype: str = "auto",
        n_jobs: int | None = None,
        progress: ProgressOption = None,
        **settings: Any,
    ) -> None:
        self.system = system
        self.top_k = top_k
        self.seed = seed
        self.beam = beam
        self.preset = preset
        self.device = device
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.progress = progress
        self._settings = settings
        self._forget()

    # Parameters, as scikit-learn wants them.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; settings that nobody has changed are not among them."""
        params = {name: getattr(self, name) for name in self._own_names()}
        return {**params, **self._settings}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes parameters. Those of training count from the next :meth:`fit` on."""
        own = self._own_names()
        for name, value in params.items():
            if name in own:
                setattr(self, name, value)
            else:
                self._settings[name] = value
        return self

    def settings(self) -> dict[str, Any]:
        """All settings that :meth:`fit` would train with, those of the recipe among them."""
        resolved: dict[str, Any] = json.loads(_plethora.resolve(self._request()))
        return resolved

    def _own_names(self) -> tuple[str, ...]:
        return ("system", *_OWN) if type(self) is Classifier else _OWN

    def _request(self) -> str:
        options = {"seed": self.seed, "beam": self.beam}
        return request(self.system, self.preset, self.dtype, {**self._settings, **options})

    # Training.

    def fit(
        self: Self,
        texts: Texts,
        labels: Labels,
        valid: tuple[Texts, Labels] | None = None,
        *,
        label_names: Sequence[str] | None = None,
        vocabulary: PathLike | None = None,
        learn_names: bool = False,
        output: PathLike | None = None,
        overwrite: bool = False,
        resume: bool = False,
    ) -> Self:
        """Trains.

        Parameters
        ----------
        texts
            A list of str, or features as a sparse matrix, which linear systems take.
        labels
            A list of label names for each document, or an indicator matrix; the columns of the
            latter are named by their number unless `label_names` has names.
        valid
            Texts and labels to measure the model on; neural systems also stop early and choose
            their weights by them.
        vocabulary
            File with names, synonyms and parents of the labels.
        learn_names
            Learn from the names of the vocabulary, too, as from one short document each.
        output
            Folder for the model; without it the model is temporary until :meth:`save`.
        overwrite, resume
            Replace the model in `output`; resume an interrupted run of the same data.
        """
        columns = None
        if is_matrix(labels):
            columns = column_names(num_columns_of(labels), label_names)
        elif label_names is not None:
            raise DataError("label_names: the labels have names already")
        train = documents(texts, labels, columns)
        _check_labels(train, "labels", "learn from")
        held_out = None
        if valid is not None:
            held_out = documents(valid[0], valid[1], columns)
            _check_labels(held_out, "valid", "validate by")
        folder = TemporaryFolder() if output is None else None
        target = Path(output) if folder is None else folder.model  # type: ignore[arg-type]
        share_with_torch(self.device)
        run = {
            "output": str(target),
            "vocabulary": None if vocabulary is None else os.fspath(vocabulary),
            "device": self.device,
            "num_threads": self._num_threads(),
            "learn_names": learn_names,
            "overwrite": overwrite,
            "resume": resume,
        }
        report = self._train(json.dumps(run), train, held_out)
        self._forget()
        self.report_ = json.loads(report)
        self._adopt(target, folder, columns)
        return self

    def _train(
        self, run: str, train: _plethora.Documents, held_out: _plethora.Documents | None
    ) -> str:
        return _plethora.train(self._request(), run, train, held_out, listener(self.progress))

    # Prediction.

    def predict(
        self, texts: Texts, top_k: int | None = None, *, threshold: float | None = None
    ) -> list[Ranking]:
        """The best labels of each document with their scores, best first."""
        ends, ids, scores = self._rank(texts, top_k, threshold)
        keys = self._keys
        pairs = [(keys[label], score) for label, score in zip(ids.tolist(), scores.tolist())]
        return [pairs[start:end] for start, end in zip(ends.tolist(), ends[1:].tolist())]

    def predict_csr(
        self, texts: Texts, top_k: int | None = None, *, threshold: float | None = None
    ) -> sp.csr_matrix:
        """The same scores as a sparse matrix, with a column for each of :attr:`classes_`."""
        ends, ids, scores = self._rank(texts, top_k, threshold)
        columns = ids.astype(np.int64) if self._column_of is None else self._column_of[ids]
        num_columns = len(self._keys if self._columns is None else self._columns)
        shape = (len(ends) - 1, num_columns)
        matrix = sp.csr_matrix((scores, columns, ends), shape=shape)
        matrix.sort_indices()
        return matrix

    def evaluate(
        self,
        texts: Texts,
        labels: Labels,
        *,
        ks: Sequence[int] = (1, 3, 5),
        a: float = 0.55,
        b: float = 1.5,
        threshold: float = 0.5,
    ) -> dict[str, Any]:
        """All metrics of the rankings of documents whose labels are known, as `plethora eval`."""
        model = self._fitted()
        judged = documents(texts, labels, self._columns_for(labels))
        _check_labels(judged, "labels", "compare with")
        config = {"ks": list(ks), "a": a, "b": b, "threshold": threshold}
        asked = {"config": config, "beam": self.beam, "num_threads": self._num_threads()}
        measured = model.evaluate(judged, json.dumps(asked, default=plain), listener(self.progress))
        result: dict[str, Any] = json.loads(measured)
        return result

    def score(self, texts: Texts, labels: Labels) -> float:
        """nDCG@5."""
        return float(self.evaluate(texts, labels)[_SCORE])

    def explain(self, text: str, label: str) -> dict[str, Any]:
        """Which places of a text speak for a label and against it, as `plethora explain`."""
        found = json.loads(self._fitted().explain(text, label, self._num_threads()))
        # Always there, also for systems that have none of these.
        return {"network_score": None, "member": None, "neighbours": [], **found}

    # Folders.

    def save(self, path: PathLike, *, overwrite: bool = False) -> Path:
        """Copies the model to a folder, which appears when it is complete."""
        target = Path(path)
        self._fitted().copy_to(target, overwrite)
        self._saved = target.resolve()
        return target

    @property
    def path_(self) -> Path:
        """The folder of the model; that of a model that was not saved is temporary."""
        model = self._fitted()
        return self._saved or Path(model.path)

    # What is known of the labels.

    @property
    def classes_(self) -> np.ndarray[Any, Any]:
        """The labels in the order of the columns of :meth:`predict_csr`."""
        self._fitted()
        return np.asarray(self._keys if self._columns is None else self._columns, dtype=object)

    @property
    def label_names_(self) -> dict[str, str]:
        """The names of the labels, by what documents call them."""
        self._fitted()
        return dict(zip(self._keys, self._names))

    # Within.

    def _forget(self) -> None:
        self._model = None
        self._folder = None
        self._saved = None
        self._columns = None
        self._column_of = None
        self._keys = []
        self._names = []

    def _adopt(
        self, path: Path, folder: TemporaryFolder | None, columns: list[str] | None
    ) -> None:
        share_with_torch(self.device)
        model = _plethora.Model.open(path, self.device, self.dtype)
        self._keys, self._names, _ = model.labels()
        self._model, self._folder, self._columns = model, folder, columns
        self._saved = path.resolve() if folder is None else None
        self._column_of = None
        if columns is not None:
            places = {key: column for column, key in enumerate(columns)}
            self._column_of = np.asarray([places[key] for key in self._keys], dtype=np.int64)

    def _fitted(self) -> _plethora.Model:
        if self._model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self._model

    def _rank(self, texts: Texts, top_k: int | None, threshold: float | None) -> Any:
        model = self._fitted()
        count = self.top_k if top_k is None else top_k
        if int(count) < 1:
            raise ConfigError(f"top_k: must be at least 1, found {count}")
        if self.beam is not None and int(self.beam) < 1:
            raise ConfigError(f"beam: must be at least 1, found {self.beam}")
        asked = {
            "top_k": count,
            "beam": self.beam,
            "threshold": threshold,
            "num_threads": self._num_threads(),
        }
        return model.rank(documents(texts), json.dumps(asked, default=plain))

    def _columns_for(self, labels: Labels) -> list[str] | None:
        """The names of a label matrix's columns: those of fitting, or of the model."""
        if not is_matrix(labels):
            return None
        num_columns, columns = num_columns_of(labels), list(self.classes_)
        if num_columns != len(columns):
            raise DataError(
                f"labels: the matrix has {num_columns} columns, but classes_ has {len(columns)}"
            )
        return columns

    def _num_threads(self) -> int:
        return num_threads(self.n_jobs)

    def __repr__(self) -> str:
        usual = {"top_k": 10, "device": "cpu", "dtype": "auto"}
        shown = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not None and usual.get(name) != value
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        # No classifier to scikit-learn: its splitters then would refuse lists of label names.
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True, single_output=False),
            input_tags=InputTags(two_d_array=False, sparse=True, string=True),
        )

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"params": self.get_params(), "system": self.system}
        if self._model is not None:
            state["columns"] = self._columns
            if self._saved is not None:
                state["path"] = str(self._saved)
            else:
                state["files"] = read_files(Path(self._model.path))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["params"])  # type: ignore[misc]
        self.system = state["system"]
        if "path" in state:
            self._adopt(Path(state["path"]), None, state["columns"])
        elif "files" in state:
            folder = TemporaryFolder()
            write_files(folder.model, state["files"])
            self._adopt(folder.model, folder, state["columns"])


def load(path: PathLike, *, device: str = "cpu", dtype: str = "auto", **params: Any) -> Classifier:
    """Opens a model folder of any system, with the settings that it was trained with.

    `params` are those of :class:`Classifier` that do not concern training, as `top_k` and `n_jobs`.
    """
    from ._systems import class_of, systems

    folder = Path(path)
    share_with_torch(device)
    model = _plethora.Model.open(folder, device, dtype)
    system = json.loads(model.details())["system"]
    settings = nested(folder / "config.json") if system in systems() else {}
    of_system = class_of(system)
    settings = {**settings, "device": device, "dtype": dtype, **params}
    if of_system is Classifier:
        classifier = Classifier(system, **settings)
    else:
        classifier = of_system(**settings)
    classifier._adopt(folder, None, None)
    return classifier


def _check_labels(judged: _plethora.Documents, name: str, purpose: str) -> None:
    if len(judged) == 0:
        raise DataError("there are no documents")
    if not judged.has_labels():
        raise DataError(f"{name}: no document has labels, so there is nothing to {purpose}")
