"""Model folders of classifiers that nobody has saved yet."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class TemporaryFolder:
    """A folder that goes when nobody refers to it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="plethora-"))
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    @property
    def model(self) -> Path:
        """Where the model goes."""
        return self.path / "model"


def read_files(folder: Path) -> dict[str, bytes]:
    """All files of a model folder by their names."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Writes what :func:`read_files` has read."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
