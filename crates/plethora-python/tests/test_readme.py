"""The examples of the READMEs and of the guide run as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["README.md", "crates/plethora-python/README.md", "docs/python.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, tmp_path, monkeypatch, catalogue):
    monkeypatch.chdir(tmp_path)
    lines = catalogue.read_text().splitlines(keepends=True)
    (tmp_path / "papers.jsonl").write_text("".join(lines))
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks, "there is no example"
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
