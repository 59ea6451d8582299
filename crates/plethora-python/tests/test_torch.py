"""PyTorch and the package in one process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
from conftest import ENCODER, needs_neural

import plethora

# Folder of packages with a torch of the right version, where the environment itself has none.
TORCH_PACKAGES = os.environ.get("PLETHORA_TORCH_PACKAGES")

needs_torch = pytest.mark.skipif(
    TORCH_PACKAGES is None and importlib.util.find_spec("torch") is None,
    reason="PyTorch is not installed, and PLETHORA_TORCH_PACKAGES names no folder that has it",
)

PYTORCH = """
import torch
layer = torch.nn.Linear(4, 3)
step = torch.optim.Adam(layer.parameters(), lr=0.1)
for _ in range(5):
    step.zero_grad()
    loss = layer(torch.eye(4)).square().sum()
    loss.backward()
    step.step()
assert torch.isfinite(loss)
"""

PLETHORA = f"""
import plethora
texts = ["tides and harbours", "wind over dunes"] * 20
labels = [["sea"], ["air"]] * 20
settings = dict(encoder={str(ENCODER)!r}, encoder__layers=2, document__max_length=16, train__epochs=2)
model = plethora.LightXML(seed=1, n_jobs=1, train__batch_size=8, **settings).fit(texts, labels)
assert len(model.predict(texts, 2)) == 40
"""

ONE_LIBRARY = """
maps = open("/proc/self/maps").read().split()
assert len({path for path in maps if path.endswith("libtorch_cpu.so")}) == 1
"""


def run(script: str, **variables: str) -> None:
    path = f"import sys; sys.path.append({TORCH_PACKAGES!r})\n" if TORCH_PACKAGES else ""
    done = subprocess.run(
        [sys.executable, "-c", path + script],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr


@needs_neural
@needs_torch
@pytest.mark.parametrize("order", [(PYTORCH, PLETHORA), (PLETHORA, PYTORCH)])
def test_both_train_in_one_process(order):
    run("".join(order) + "".join(order) + ONE_LIBRARY)


ANOTHER_VERSION = """
import sys, types
sys.modules["torch"] = torch = types.ModuleType("torch")
torch.__version__ = "1.2.3"
"""


@needs_neural
def test_another_version_of_pytorch_is_refused():
    run(
        ANOTHER_VERSION + "try:\n    import plethora\n"
        "except ImportError as error:\n    assert 'PyTorch 1.2.3 is loaded' in str(error)\n"
        "else:\n    raise SystemExit('was not refused')"
    )


@pytest.mark.skipif(plethora.has_neural_systems(), reason="built with neural systems")
def test_builds_without_neural_systems_take_any_pytorch():
    run(ANOTHER_VERSION + "import plethora")


@needs_neural
def test_a_folder_without_libtorch_is_told(tmp_path):
    run(
        "try:\n    import plethora\n"
        "except ImportError as error:\n    assert 'cannot load libtorch from' in str(error)\n"
        "else:\n    raise SystemExit('was not refused')",
        PLETHORA_LIBTORCH=str(tmp_path),
    )
