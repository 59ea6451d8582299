"""Classifiers, with the conventions of scikit-learn."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Sequence, TypeVar, overload

import numpy as np
import scipy.sparse as sp

from . import _plethora
from ._errors import ConfigError, DataError, NotFittedError
from ._folder import TemporaryFolder, read_files, write_files
from ._inputs import Fields, Labels, Sources, Texts, documents, is_matrix, needed_labels
from ._inputs import TEXT_FIELD, num_columns_of, sources
from ._libtorch import share_with_torch
from ._progress import ProgressOption, listener
from ._reading import PathLike, vocabulary_file
from ._settings import Presets, changed, nested, num_threads, plain, request
from ._shown import Explanation, Metrics, classifier_html

Ranking = list[tuple[str, float]]
Self = TypeVar("Self", bound="Classifier")

_OWN = ("top_k", "seed", "beam", "preset", "device", "dtype", "n_jobs", "progress")
_SCORE = "nDCG@5"

# How deep documents are ranked where a threshold decides, as for metrics and for tuning.
_DEPTH = 100


class Classifier:
    """A classifier of any system, by its name.

    Parameters
    ----------
    system
        Name of the system, one of :func:`plethora.systems`.
    top_k
        Labels that :meth:`predict` and :meth:`predict_csr` give a document, unless told otherwise:
        with a ``threshold`` and no ``top_k``, they give all labels that reach it.
    seed
        Seed of all random choices; equal seeds give equal models.
    beam
        Tree nodes kept per level in prediction, for systems with trees.
    preset
        Named changes of the system's settings, or several, of which later ones win.
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
    # Where texts and labels are in tables.
    _fields: Fields

    def __init__(
        self,
        system: str = "wide-tree",
        *,
        top_k: int = 10,
        seed: int | None = None,
        beam: int | None = None,
        preset: Presets = None,
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
        labels: Labels | None = None,
        valid: tuple[Texts, Labels] | Texts | None = None,
        *,
        text_field: str | Sequence[str] | None = None,
        label_field: str | None = None,
        label_separator: str | None = None,
        label_names: Sequence[str] | None = None,
        vocabulary: PathLike | None = None,
        vocabulary_languages: Sequence[str] = (),
        learn_names: bool = False,
        output: PathLike | None = None,
        overwrite: bool = False,
        resume: bool = False,
    ) -> Self:
        """Trains.

        Parameters
        ----------
        texts
            A list of str; a column or table of pandas, polars, Arrow or Hugging Face; or features
            as a sparse matrix, which linear systems take.
        labels
            A list of labels for each document, names or whole numbers; an indicator matrix, whose
            columns are named by their number unless `label_names` has names; or a column or table
            of these. If not given, they are in a column of `texts`.
        valid
            Texts and labels to measure the model on, or a table with both; neural systems also
            stop early and choose their weights by them.
        text_field, label_field
            Columns of tables: "text" and "labels" if not given. Texts of several are joined. The
            model remembers them.
        label_separator
            What separates labels, where those of a document are one str.
        label_names
            Names of the columns of an indicator matrix, or of labels that are numbers.
        vocabulary
            File with names, synonyms and parents of the labels.
        vocabulary_languages
            Languages of the names to take, as ``["de", "en"]``: labels are called by the first.
        learn_names
            Learn from the names of the vocabulary, too, as from one short document each.
        output
            Folder for the model; without it the model is temporary until :meth:`save`.
        overwrite, resume
            Replace the model in `output`; resume an interrupted run of the same data.
        """
        fields = Fields.of(text_field, label_field, label_separator)
        found = needed_labels(sources(texts, labels, fields, label_names))
        columns = found.columns
        train = documents(found, columns)
        _check_labels(train, "labels", "learn from")
        held_out = None
        if valid is not None:
            pair = valid if isinstance(valid, tuple) and len(valid) == 2 else (valid, None)
            judged = needed_labels(sources(pair[0], pair[1], fields))
            held_out = documents(judged, columns)
            _check_labels(held_out, "valid", "validate by")
        folder = TemporaryFolder() if output is None else None
        target = Path(output) if folder is None else folder.model  # type: ignore[arg-type]
        share_with_torch(self.device)
        run = {
            "output": str(target),
            "vocabulary": vocabulary_file(vocabulary, vocabulary_languages),
            "device": self.device,
            "num_threads": self._num_threads(),
            "learn_names": learn_names,
            "text_fields": found.text_fields,
            "overwrite": overwrite,
            "resume": resume,
        }
        report = self._train(json.dumps(run), train, held_out)
        self._forget()
        self.report_ = json.loads(report)
        self._adopt(target, folder, columns)
        self._fields = fields._replace(text=tuple(found.text_fields))
        return self

    def _train(
        self, run: str, train: _plethora.Documents, held_out: _plethora.Documents | None
    ) -> str:
        return _plethora.train(self._request(), run, train, held_out, listener(self.progress))

    # Prediction.

    @overload
    def predict(  # type: ignore[overload-overlap]
        self,
        texts: str,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        tuned: bool = False,
    ) -> Ranking: ...

    @overload
    def predict(
        self,
        texts: Texts,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        tuned: bool = False,
    ) -> list[Ranking]: ...

    def predict(
        self,
        texts: str | Texts,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        tuned: bool = False,
    ) -> Ranking | list[Ranking]:
        """The best labels of each document with their scores, best first; of one for a single str.

        `threshold` leaves out labels with lower scores, `tuned` those below the thresholds that
        :meth:`calibrate` has tuned; then :attr:`top_k` does not count, only an own `top_k`.
        """
        ends, ids, scores = self._rank(texts, top_k, threshold, tuned)
        keys = self._keys
        pairs = [(keys[label], score) for label, score in zip(ids.tolist(), scores.tolist())]
        if isinstance(texts, str):
            return pairs
        return [pairs[start:end] for start, end in zip(ends.tolist(), ends[1:].tolist())]

    def predict_csr(
        self,
        texts: str | Texts,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        tuned: bool = False,
    ) -> sp.csr_matrix:
        """The same scores as a sparse matrix, with a column for each of :attr:`classes_`."""
        ends, ids, scores = self._rank(texts, top_k, threshold, tuned)
        columns = ids.astype(np.int64) if self._column_of is None else self._column_of[ids]
        num_columns = len(self._keys if self._columns is None else self._columns)
        shape = (len(ends) - 1, num_columns)
        matrix = sp.csr_matrix((scores, columns, ends), shape=shape)
        matrix.sort_indices()
        return matrix

    def predict_proba(self, texts: str | Texts, top_k: int = _DEPTH) -> sp.csr_matrix:
        """Probabilities of the best labels of each document as a sparse matrix, 0 for all others.

        They are scores as of :meth:`predict_csr`; how well these can be read as probabilities is a
        matter of :meth:`calibrate`.
        """
        return self.predict_csr(texts, top_k)

    def calibrate(
        self: Self,
        texts: Texts,
        labels: Labels | None = None,
        *,
        method: str = "isotonic",
        by_frequency: bool = False,
        thresholds: str | None = None,
        depth: int = _DEPTH,
    ) -> Self:
        """Makes probabilities of scores with documents that the model was not trained on.

        The options are those of :func:`plethora.calibrate`. A folder that the model was saved to
        stays as it is; :meth:`save` writes the calibrated model.
        """
        from ._jobs import calibrate

        folder, columns, fields = TemporaryFolder(), self._columns, self._fields
        self.calibration_ = calibrate(
            self,
            self._judged(texts, labels),
            method=method,
            by_frequency=by_frequency,
            thresholds=thresholds,
            depth=depth,
            output=folder.model,
            device=self.device,
            dtype=self.dtype,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        self._adopt(folder.model, folder, columns)
        self._fields = fields
        return self

    def evaluate(
        self,
        texts: Texts,
        labels: Labels | None = None,
        *,
        ks: Sequence[int] = (1, 3, 5),
        a: float = 0.55,
        b: float = 1.5,
        threshold: float = 0.5,
    ) -> Metrics:
        """All metrics of the rankings of documents whose labels are known, as `plethora eval`."""
        model = self._fitted()
        judged = self._judged(texts, labels)
        config = {"ks": list(ks), "a": a, "b": b, "threshold": threshold}
        asked = {"config": config, "beam": self.beam, "num_threads": self._num_threads()}
        measured = model.evaluate(judged, json.dumps(asked, default=plain), listener(self.progress))
        return Metrics(json.loads(measured))

    def score(self, texts: Texts, labels: Labels | None = None) -> float:
        """nDCG@5."""
        return float(self.evaluate(texts, labels)[_SCORE])

    def explain(self, text: str, label: str) -> Explanation:
        """Which places of a text speak for a label and against it, as `plethora explain`."""
        found = json.loads(self._fitted().explain(text, label, self._num_threads()))
        # Always there, also for systems that have none of these.
        usual: dict[str, Any] = {"network_score": None, "member": None, "neighbours": []}
        return Explanation({**usual, **found}, text)

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

    @property
    def text_fields_(self) -> list[str]:
        """Columns of tables that :meth:`predict` reads texts from."""
        self._fitted()
        return list(self._fields.text or (TEXT_FIELD,))

    # Within.

    def _forget(self) -> None:
        self._model = None
        self._folder = None
        self._saved = None
        self._columns = None
        self._column_of = None
        self._keys = []
        self._names = []
        self._fields = Fields()

    def _adopt(
        self, path: Path, folder: TemporaryFolder | None, columns: list[str] | None
    ) -> None:
        share_with_torch(self.device)
        model = _plethora.Model.open(path, self.device, self.dtype)
        self._keys, self._names, _ = model.labels()
        self._model, self._folder, self._columns = model, folder, columns
        self._saved = path.resolve() if folder is None else None
        self._fields = Fields(tuple(json.loads(model.details()).get("text_fields", ())))
        self._column_of = None
        if columns is not None:
            places = {key: column for column, key in enumerate(columns)}
            self._column_of = np.asarray([places[key] for key in self._keys], dtype=np.int64)

    def _fitted(self) -> _plethora.Model:
        if self._model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self._model

    def _rank(
        self, texts: str | Texts, top_k: int | None, threshold: float | None, tuned: bool
    ) -> Any:
        model = self._fitted()
        # A threshold alone says which labels are wanted.
        limited = top_k is None and threshold is None and not tuned
        count = self.top_k if limited else top_k
        if count is not None and int(count) < 1:
            raise ConfigError(f"top_k: must be at least 1, found {count}")
        if self.beam is not None and int(self.beam) < 1:
            raise ConfigError(f"beam: must be at least 1, found {self.beam}")
        asked = {
            "top_k": count,
            "beam": self.beam,
            "threshold": threshold,
            "tuned": tuned,
            "num_threads": self._num_threads(),
        }
        found = sources([texts] if isinstance(texts, str) else texts, None, self._fields)
        found = found._replace(labels=None)
        return model.rank(documents(found), json.dumps(asked, default=plain))

    def _judged(self, texts: Texts, labels: Labels | None) -> _plethora.Documents:
        """Documents with their true labels."""
        found = needed_labels(sources(texts, labels, self._fields))
        judged = documents(found, self._columns_for(found))
        _check_labels(judged, "labels", "compare with")
        return judged

    def _columns_for(self, found: Sources) -> list[str] | None:
        """The names of a label matrix's columns: those of fitting, or of the model."""
        if not is_matrix(found.labels):
            return self._columns
        num_columns, columns = num_columns_of(found.labels), list(self.classes_)
        if found.has_names:
            return found.columns
        if num_columns != len(columns):
            raise DataError(
                f"labels: the matrix has {num_columns} columns, but classes_ has {len(columns)}"
            )
        return columns

    def _num_threads(self) -> int:
        return num_threads(self.n_jobs)

    def __repr__(self) -> str:
        usual = {"top_k": 10, "device": "cpu", "dtype": "auto", "objective": "nDCG@5"}
        own = {name: getattr(self, name) for name in self._own_names()}
        shown = {name: value for name, value in own.items() if usual.get(name) != value}
        if "beam" in shown:
            # Loaded models have that of their settings.
            shown.update(changed(self.system, self.preset, {"beam": shown.pop("beam")}))
        shown.update(changed(self.system, self.preset, self._settings))
        parts = (f"{name}={value!r}" for name, value in shown.items() if value is not None)
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        details = None if self._model is None else json.loads(self._model.details())
        folder = None if self._saved is None else str(self._saved)
        is_calibrated = self._model is not None and self._model.is_calibrated()
        return classifier_html(repr(self), details, folder, is_calibrated)

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
            state["fields"] = tuple(self._fields)
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
        if "fields" in state:
            self._fields = Fields(*state["fields"])


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
