"""Neural systems that several processes train together, as torchrun, Slurm, Kubeflow and Ray start them.

    torchrun --nproc-per-node 2 -m plethora.distributed train papers.jsonl --system lightxml -o model

Each process computes a share of every step, and all take the same steps; rank 0 writes the model. They hear
each other by a ring of their own, or with `--backend gloo` or `nccl` by `torch.distributed`, where PyTorch is
installed.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _plethora
from ._libtorch import VERSION
from ._pieces import train_files
from ._progress import ProgressOption
from ._reading import PathLike, Reading, corpus, vocabulary_file
from ._settings import num_threads, request

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup
    from typing_extensions import Unpack

__all__ = ["join", "train"]


def join(group: ProcessGroup | None = None) -> None:
    """Meets the other processes, where `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT` say.

    A process joins once, and trains all that comes together with the others.

    Parameters
    ----------
    group
        A group of `torch.distributed` that this process is in already, by which they are to hear each other
        instead: with NCCL gradients stay on the GPUs. All processes of the job call this.
    """
    if group is None:
        _plethora.join_ranks(dict(os.environ))
        return
    from ._torch_ranks import TorchRanks

    ranks = TorchRanks(group)
    _plethora.join_group(ranks.rank, ranks.count, ranks)


def train(
    system: str,
    data: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    seed: int | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    valid: PathLike | None = None,
    valid_where: Mapping[str, str] | None = None,
    vocabulary: PathLike | None = None,
    vocabulary_languages: Sequence[str] = (),
    overwrite: bool = False,
    resume: bool = False,
    device: str = "cpu",
    dtype: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressOption = None,
    **reading: Unpack[Reading],
) -> dict[str, Any] | None:
    """Trains together with the processes that :func:`join` has met: `plethora train --distributed`.

    All processes call it with the same arguments. Gives what came out, and None but for rank 0.

    Parameters
    ----------
    valid, valid_where
        File of documents to choose weights by, and which of them; `valid_where` replaces the `where` of
        the same field.
    device
        "cuda" stands for the GPU of this process's `LOCAL_RANK`.
    **reading
        How to read, as :func:`plethora.load_dataset`.
    """
    held_out: Reading = {**reading}
    held_out["where"] = {**(reading.get("where") or {}), **(valid_where or {})}
    local = os.environ.get("LOCAL_RANK")
    options = {
        "valid": None if valid is None else corpus(valid, **held_out),
        "together": True,
        "vocabulary": vocabulary_file(vocabulary, vocabulary_languages),
        "learn_names": False,
        "overwrite": overwrite,
        "resume": resume,
        "device": f"cuda:{local}" if device == "cuda" and local else device,
        "num_threads": num_threads(n_jobs),
    }
    chosen = request(system, preset, dtype, {**(settings or {}), "seed": seed})
    return train_files(chosen, corpus(data, **reading), output, options, progress)


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m plethora.distributed", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    options = commands.add_parser("train", help="train a model together with the other processes")
    options.add_argument("data", nargs="+", help="corpus to learn from")
    options.add_argument("-o", "--output", required=True, help="folder for the model")
    options.add_argument("--system", required=True, help="name of a neural system")
    options.add_argument("--seed", type=int)
    options.add_argument("--preset")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    options.add_argument("--text-field", type=lambda names: names.split(","))
    options.add_argument("--label-field")
    options.add_argument("--where", action="append", default=[], metavar="FIELD=VALUE")
    options.add_argument("--valid", help="corpus to choose weights by")
    options.add_argument("--valid-where", action="append", default=[], metavar="FIELD=VALUE")
    options.add_argument("--vocabulary", help="file with names of the labels")
    options.add_argument("--device", default="cpu")
    options.add_argument("--dtype", default="auto")
    options.add_argument("--force", action="store_true", help="replace a model that is there")
    options.add_argument("--resume", action="store_true", help="resume an interrupted run")
    options.add_argument(
        "--backend",
        choices=["ring", "gloo", "nccl"],
        default="ring",
        help="how processes hear each other: by their own ring, or by PyTorch",
    )
    given = parser.parse_args()
    _join_by(given.backend)
    train(
        given.system,
        given.data,
        given.output,
        seed=given.seed,
        preset=given.preset,
        settings={key: _value(value) for key, value in _pairs(given.set).items()},
        valid=given.valid,
        valid_where=_pairs(given.valid_where),
        vocabulary=given.vocabulary,
        overwrite=given.force,
        resume=given.resume,
        device=given.device,
        dtype=given.dtype,
        text_field=given.text_field,
        label_field=given.label_field,
        where=_pairs(given.where),
    )


def _join_by(backend: str) -> None:
    if backend == "ring":
        join()
        return
    try:
        import torch
        import torch.distributed as dist
    except ImportError as error:
        raise SystemExit(f"--backend {backend} needs PyTorch {VERSION}: {error}") from error
    if backend == "nccl":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group(backend)
    join(dist.group.WORLD)


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    return {key: value for key, _, value in (text.partition("=") for text in texts)}


def _value(text: str) -> Any:
    """A setting as TOML writes it; a word stands for itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    _main()
