"""Extreme multi-label text classification: raw texts and label names in, ranked label names out.

>>> import plethora
>>> model = plethora.Parabel(seed=7).fit(texts, labels)     # doctest: +SKIP
>>> model.predict(["Tides and harbours"], top_k=5)          # doctest: +SKIP
"""

from . import _libtorch

_libtorch.prepare()

from . import metrics
from ._auto import Auto
from ._classifier import Classifier, load
from ._dataset import Dataset, load_dataset
from ._errors import (
    ComputeError,
    ConfigError,
    DataError,
    Error,
    FileError,
    ModelError,
    NotFittedError,
)
from ._jobs import calibrate, check, ensemble, report, search
from ._pieces import merge, train_piece
from ._plethora import VERSION as __version__
from ._progress import Progress
from ._shown import Check, Explanation, Metrics, Report, Search
from ._systems import (
    APLCXLNet,
    AttentionXML,
    AttentionXMLPLT,
    Bonsai,
    Dense,
    KNN,
    Lexical,
    LightAttention,
    LightXML,
    OneVsAll,
    Parabel,
    Siamese,
    TReaderXML,
    WideTree,
    XMLCNN,
    XMLRNN,
    XRTransformer,
    has_neural_systems,
    systems,
)

__all__ = [
    "APLCXLNet",
    "AttentionXML",
    "Auto",
    "AttentionXMLPLT",
    "Bonsai",
    "Check",
    "Classifier",
    "ComputeError",
    "ConfigError",
    "DataError",
    "Dataset",
    "Dense",
    "Error",
    "Explanation",
    "FileError",
    "KNN",
    "Lexical",
    "LightAttention",
    "LightXML",
    "Metrics",
    "ModelError",
    "NotFittedError",
    "OneVsAll",
    "Parabel",
    "Progress",
    "Report",
    "Search",
    "Siamese",
    "TReaderXML",
    "WideTree",
    "XMLCNN",
    "XMLRNN",
    "XRTransformer",
    "__version__",
    "calibrate",
    "check",
    "ensemble",
    "has_neural_systems",
    "load",
    "load_dataset",
    "merge",
    "metrics",
    "report",
    "search",
    "systems",
    "train_piece",
]
