"""Type checkers accept the package, and what they say of it is right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import plethora

USE = """
import plethora
from typing_extensions import assert_type

model = plethora.Parabel(seed=7).fit(["Tides"], [["sea"]])
assert_type(model, plethora.Parabel)
assert_type(model.predict(["Tides"]), list[list[tuple[str, float]]])
assert_type(model.predict("Tides"), list[tuple[str, float]])
assert_type(model.score(["Tides"], [["sea"]]), float)
assert_type(model.explain("Tides", "sea"), plethora.Explanation)
assert_type(model.calibrate(["Tides"], [[3]]), plethora.Parabel)
assert_type(plethora.load("model"), plethora.Classifier)
plethora.check("papers.jsonl", text_field=["title", "text"], where={"split": "train"})
"""


SOURCES = Path(__file__).resolve().parents[1] / "python" / "plethora"


@pytest.mark.parametrize("target", ["package", "use"])
def test_package_and_its_use_are_typed(target, tmp_path):
    assert (Path(plethora.__file__).parent / "py.typed").is_file()
    use = tmp_path / "use.py"
    use.write_text(USE)
    path = SOURCES if target == "package" else use
    options = ["--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    # In this process its memory would take seconds to give back at the end.
    command = [sys.executable, "-m", "mypy", *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
