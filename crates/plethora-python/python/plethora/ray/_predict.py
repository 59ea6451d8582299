"""Rankings for the documents of a Ray data set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

from .._classifier import Classifier, load
from .._errors import DataError

if TYPE_CHECKING:
    import pyarrow
    import ray.data

# Linear models take some thousand documents at once; more would make retries dear.
_BATCH_SIZE = 4096


def predict(
    dataset: ray.data.Dataset,
    model: str | os.PathLike[str] | Classifier,
    *,
    top_k: int | None = None,
    threshold: float | None = None,
    tuned: bool = False,
    text_field: str | Sequence[str] | None = None,
    id_field: str = "id",
    keep: Sequence[str] = (),
    concurrency: int = 1,
    batch_size: int = _BATCH_SIZE,
    num_cpus: float = 1,
    num_gpus: float = 0,
    dtype: str = "auto",
) -> ray.data.Dataset:
    """Ranks labels for each document, with the scores of `plethora predict`, in actors that hold the model.

    Gives a data set with the columns `id` and `predictions`: a list of `label`, `key`, `score` and
    `label_id`, best first. Ray computes it when it is written or looped over, and runs a batch again
    whose actor or node was lost.

    Parameters
    ----------
    model
        Folder of the model, which all nodes see.
    text_field
        Columns with the text; those that the model was trained on if not given.
    id_field, keep
        Column that names documents, and further columns that come along.
    concurrency
        Number of actors; each loads the model once. Leave some processors of the cluster to Ray, which reads
        with them: actors that hold all of them would wait for documents for ever.
    batch_size
        Documents that go to an actor at a time.
    num_cpus, num_gpus
        What an actor takes of its node; it computes with so many threads, and on the GPU where it has one.
    """
    import ray.data

    path = model.path_ if isinstance(model, Classifier) else model
    return dataset.map_batches(
        _Ranker,
        fn_constructor_kwargs={
            "model": os.path.abspath(os.fspath(path)),
            "fields": [text_field] if isinstance(text_field, str) else text_field,
            "id_field": id_field,
            "keep": list(keep),
            "ranked": {"top_k": top_k, "threshold": threshold, "tuned": tuned},
            "opened": {
                "device": "cuda" if num_gpus else "cpu",
                "dtype": dtype,
                "n_jobs": max(1, int(num_cpus)),
            },
        },
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(size=concurrency),
        num_cpus=num_cpus,
        num_gpus=num_gpus,
    )


class _Ranker:
    """What an actor is: the model, and the way from a batch of documents to one of rankings."""

    def __init__(
        self,
        model: str,
        fields: Sequence[str] | None,
        id_field: str,
        keep: list[str],
        ranked: dict[str, Any],
        opened: dict[str, Any],
    ) -> None:
        import pyarrow as pa

        self.model = load(model, progress=False, **opened)
        self.fields = list(fields or self.model.text_fields_)
        self.id_field = id_field
        self.keep = keep
        self.ranked = ranked
        names = self.model.label_names_
        self.keys = pa.array(list(names), pa.string())
        self.names = pa.array(list(names.values()), pa.string())

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        ids = _column(batch, self.id_field, "id_field").cast(pa.string()).combine_chunks()
        ends, labels, scores = self.model._rank(self._texts(batch, ids), **self.ranked)
        numbers = pa.array(labels)
        entries = pa.StructArray.from_arrays(
            [self.names.take(numbers), self.keys.take(numbers), pa.array(scores), numbers],
            ["label", "key", "score", "label_id"],
        )
        lists = pa.ListArray.from_arrays(pa.array(ends.astype("int32")), entries)
        kept = {name: batch[name] for name in self.keep}
        return pa.table({"id": ids, "predictions": lists, **kept})

    def _texts(self, batch: pyarrow.Table, ids: pyarrow.Array) -> list[str]:
        """A text for each document, a line for each of several fields."""
        columns = [_column(batch, field, "text_field") for field in self.fields]
        cells = [_cells(column, ids, field) for column, field in zip(columns, self.fields)]
        texts = []
        for number, row in enumerate(zip(*cells)):
            filled = [cell for cell in row if cell is not None]
            if not filled:
                raise DataError(f"document `{ids[number]}`: `{self.fields[0]}` is null, expected a text")
            texts.append(filled[0] if len(row) == 1 else "\n".join(text for text in filled if text))
        return texts


def _column(batch: pyarrow.Table, name: str, argument: str) -> pyarrow.ChunkedArray:
    if name not in batch.column_names:
        found = ", ".join(batch.column_names)
        raise DataError(f"no column `{name}`; columns found: {found}. Name another with {argument}=")
    return batch[name]


def _cells(column: pyarrow.ChunkedArray, ids: pyarrow.Array, field: str) -> list[str | None]:
    """The texts of a column, or an error that names the first document whose text is none."""
    cells: list[Any]
    try:
        cells = column.to_pylist()
    except UnicodeDecodeError:
        cells = [_bytes(cell) for cell in column]
    for number, cell in enumerate(cells):
        if isinstance(cell, bytes):
            try:
                cells[number] = cell.decode()
            except UnicodeDecodeError as error:
                raise DataError(
                    f"document `{ids[number]}`: `{field}` is no UTF-8, as byte {error.start} shows"
                ) from None
        elif cell is not None and not isinstance(cell, str):
            kind = type(cell).__name__
            raise DataError(f"document `{ids[number]}`: `{field}` is of type {kind}, expected a text")
    return cells


def _bytes(cell: Any) -> bytes | None:
    """What stands in a cell, whether it is UTF-8 or not."""
    return None if not cell.is_valid else cell.as_buffer().to_pybytes()
