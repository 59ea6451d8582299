"""Plethora on a Ray cluster: prediction, training, search and serving on several machines.

>>> import plethora.ray
>>> ranked = plethora.ray.predict(ray.data.read_parquet("s3://texts"), "/shared/model", concurrency=8)
... # doctest: +SKIP
>>> ranked.write_parquet("s3://ranked")                                                # doctest: +SKIP

Models and pieces of them are exchanged as folders that all nodes see, documents as Arrow batches; no
weights go through Ray's object store.
"""

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError(
        "plethora.ray needs Ray; install it with: pip install 'plethora[ray]'"
    ) from error

from ._predict import predict
from ._search import search
from ._serve import deployment
from ._train import train

__all__ = ["deployment", "predict", "search", "train"]
