"""Several processes that train together, by a ring of their own or by PyTorch."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ENCODER, needs_neural
from test_torch import TORCH_PACKAGES, needs_torch

SETTINGS = {
    "encoder.folder": str(ENCODER),
    "encoder.layers": "2",
    "document.max_length": "24",
    "train.batch_size": "16",
    "train.epochs": "1",
    "train.valid_max": "40",
    "train.return_held_back": "false",
    "train.checkpoint_minutes": "0",
}


def start(catalogue: Path, model: Path, backend: str, **settings: str) -> list[subprocess.Popen[str]]:
    """Two processes, as torchrun starts them."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = ["train", str(catalogue), "-o", str(model), "--system", "lightxml", "--seed", "3"]
    command += ["--text-field", "title,text", "--where", "split=train", "--backend", backend]
    for key, value in {**SETTINGS, **settings}.items():
        command += ["--set", f"{key}={value}"]
    path = f"sys.path.append({TORCH_PACKAGES!r}); " if TORCH_PACKAGES else ""
    script = (
        f"import runpy, sys; {path}sys.argv[1:] = {command!r}; "
        "runpy.run_module('plethora.distributed', run_name='__main__', alter_sys=True)"
    )
    variables = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    return [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, **variables, "RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]


def weights(model: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in model.glob("*.safetensors")}


def trained(catalogue: Path, model: Path, backend: str, **settings: str) -> dict[str, bytes]:
    for rank in start(catalogue, model, backend, **settings):
        _, log = rank.communicate(timeout=300)
        assert rank.returncode == 0, log
    return weights(model)


@needs_neural
@needs_torch
@pytest.mark.parametrize("form", ["flat", "exact"])
def test_gloo_of_pytorch_gives_the_weights_of_the_ring(catalogue, tmp_path, form):
    # The sum of two numbers does not depend on who adds them.
    settings = {"head.form": form}
    ring = trained(catalogue, tmp_path / "ring", "ring", **settings)
    assert ring
    assert trained(catalogue, tmp_path / "gloo", "gloo", **settings) == ring


@needs_neural
@needs_torch
def test_a_rank_that_is_lost_ends_the_others(catalogue, tmp_path):
    ranks = start(catalogue, tmp_path / "model", "gloo", **{"train.epochs": "100"})
    checkpoint = tmp_path / "model.training" / "member-0.checkpoint.safetensors"
    deadline = time.monotonic() + 120
    while not checkpoint.exists():
        assert time.monotonic() < deadline and ranks[0].poll() is None
        time.sleep(0.01)
    ranks[1].kill()
    _, log = ranks[0].communicate(timeout=30)
    ranks[1].communicate()
    assert ranks[0].returncode != 0
    assert "rank 0 of 2 does not hear the others any more" in log


@needs_neural
@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
@pytest.mark.skipif(TORCH_PACKAGES is not None, reason="PyTorch is to be had")
def test_without_pytorch_a_backend_of_it_is_refused(catalogue, tmp_path):
    for rank in start(catalogue, tmp_path / "model", "gloo"):
        _, log = rank.communicate(timeout=60)
        assert "--backend gloo needs PyTorch 2.11" in log
