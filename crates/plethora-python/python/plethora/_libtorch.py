"""Finds libtorch before the extension module needs it.

The wheel brings no libtorch of its own. A process can hold one only: libraries are told apart by
their names, and those of PyTorch are the same. So the one of PyTorch is taken where it is
installed and fits, and both packages share it.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import mmap
import os
import sys
from pathlib import Path

VERSION = "2.11"
"""The version of libtorch that neural systems are built for."""

VARIABLE = "PLETHORA_LIBTORCH"
"""Environment variable that names the folder of another libtorch."""

_LIBRARIES = ("libc10.so", "libtorch_cpu.so")


def prepare() -> None:
    """Loads libtorch, or leaves it to the paths that the extension module was built with."""
    if not _is_needed():
        return
    # AMX tiles that oneDNN has not configured end the process; once it has computed, this is too late.
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
    folder = os.environ.get(VARIABLE)
    if "torch" in sys.modules:
        # Its libraries are loaded already, and there is no way to have others.
        version = getattr(sys.modules["torch"], "__version__", VERSION)
        if not _fits(version):
            raise ImportError(
                f"PyTorch {version} is loaded, but plethora was built for libtorch {VERSION}; "
                f"install torch {VERSION}, or import plethora in a process without PyTorch"
            )
    elif folder:
        _load(Path(folder))
    else:
        installed = _installed_torch()
        if installed is not None:
            _load(installed)


def share_with_torch(device: str) -> None:
    """Loads the CUDA part by importing PyTorch, which knows where its libraries are."""
    if device != "cpu" and not os.environ.get(VARIABLE) and _installed_torch() is not None:
        import torch  # noqa: F401


def _is_needed() -> bool:
    """True if the extension module was built with neural systems: then it names the library."""
    spec = importlib.util.find_spec("plethora._plethora")
    if spec is None or spec.origin is None:
        return False
    with (
        open(spec.origin, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(_LIBRARIES[-1].encode()) >= 0


def _installed_torch() -> Path | None:
    """The folder of an installed PyTorch that fits."""
    try:
        version = importlib.metadata.version("torch")
        spec = importlib.util.find_spec("torch")
    except (importlib.metadata.PackageNotFoundError, ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations or not _fits(version):
        return None
    folder = Path(list(spec.submodule_search_locations)[0])
    has_all = all((folder / "lib" / name).is_file() for name in _LIBRARIES)
    return folder if has_all else None


def _fits(version: str) -> bool:
    return version.split("+")[0].split(".")[:2] == VERSION.split(".")


def _load(folder: Path) -> None:
    libraries = folder / "lib" if (folder / "lib").is_dir() else folder
    for name in _LIBRARIES:
        try:
            ctypes.CDLL(str(libraries / name), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise ImportError(f"cannot load libtorch from {libraries}: {error}") from error
