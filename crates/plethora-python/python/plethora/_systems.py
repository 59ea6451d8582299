"""A class for each system."""

from __future__ import annotations

from typing import Any

from . import _plethora
from ._classifier import Classifier
from ._progress import ProgressOption
from ._settings import Presets


class _OfSystem(Classifier):
    """A classifier whose class says which system it is of."""

    def __init__(
        self,
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
        super().__init__(
            type(self).system,
            top_k=top_k,
            seed=seed,
            beam=beam,
            preset=preset,
            device=device,
            dtype=dtype,
            n_jobs=n_jobs,
            progress=progress,
            **settings,
        )


class WideTree(_OfSystem):
    """One shallow, wide label tree of linear classifiers."""

    system = "wide-tree"


class Parabel(_OfSystem):
    """Parabel: three balanced binary label trees of linear classifiers."""

    system = "parabel"


class Bonsai(_OfSystem):
    """Bonsai: three shallow trees of unbalanced clusters of labels."""

    system = "bonsai"


class OneVsAll(_OfSystem):
    """DiSMEC: every label against all documents."""

    system = "one-vs-all"


class KNN(_OfSystem):
    """The labels of the training documents that are most like a text."""

    system = "knn"


class Lexical(_OfSystem):
    """Names of labels in the text, and phrases learnt as further names."""

    system = "lexical"


class AttentionXML(_OfSystem):
    """AttentionXML: an LSTM over words, and every label attends to those that matter to it."""

    system = "attentionxml"


class AttentionXMLPLT(_OfSystem):
    """AttentionXML on a label tree, for label sets too large for it."""

    system = "attentionxml-plt"


class XMLRNN(_OfSystem):
    """The LSTM of AttentionXML without attention."""

    system = "xml-rnn"


class XMLCNN(_OfSystem):
    """XML-CNN: convolutions over words."""

    system = "xml-cnn"


class LightAttention(_OfSystem):
    """LightAttention: clusters of labels attend to words first, then the labels of the best ones."""

    system = "lightattention"


class LightXML(_OfSystem):
    """LightXML: a pretrained transformer (`encoder=`), and clusters of labels."""

    system = "lightxml"


class APLCXLNet(_OfSystem):
    """APLC-XLNet: a pretrained transformer (`encoder=`), and rare labels in narrower tails."""

    system = "aplc-xlnet"


class TReaderXML(_OfSystem):
    """TReaderXML: the words of a text beside the labels that training documents like it have."""

    system = "treaderxml"


class Dense(_OfSystem):
    """A pretrained transformer (`encoder=`) that stays as it is, linear classifiers and neighbours."""

    system = "dense"


class XRTransformer(_OfSystem):
    """XR-Transformer: a transformer (`encoder=`) learns the labels, then linear classifiers and neighbours."""

    system = "xr-transformer"


class Siamese(_OfSystem):
    """One transformer (`encoder=`) for documents and names of labels, and the labels nearest to a text."""

    system = "siamese"


_CLASSES: dict[str, type[Classifier]] = {
    of_system.system: of_system for of_system in _OfSystem.__subclasses__()
}


def class_of(system: str) -> type[Classifier]:
    """The class of a system; one that has none of its own is a plain classifier."""
    return _CLASSES.get(system, Classifier)


def systems() -> list[str]:
    """Names of the systems that can be trained, the default first."""
    return [name for name, _, _ in _plethora.system_specs()]


def has_neural_systems() -> bool:
    """True if this build knows the neural systems, which need libtorch."""
    return any(uses_devices for _, _, uses_devices in _plethora.system_specs())
