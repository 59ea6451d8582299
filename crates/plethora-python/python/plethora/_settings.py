"""Parameters of classifiers as settings of their systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Mapping, Sequence, Union

from . import _plethora
from ._errors import ConfigError

# The name of a preset, or several, of which later ones win.
Presets = Union[str, Sequence[str], None]

# What a model folder says of the system itself is no setting.
_FIXED = ("system", "kind")


def request(
    system: str, preset: Presets, dtype: str, settings: Mapping[str, Any]
) -> str:
    """The settings as the extension module reads them."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        _flatten(name.replace("__", "."), value, flat)
    presets = [preset] if isinstance(preset, str) else list(preset or [])
    content = {"system": system, "presets": presets, "dtype": dtype, "settings": flat}
    return json.dumps(content, default=plain)


def nested(path: Path) -> dict[str, Any]:
    """The settings of a model folder as parameters."""
    flat: dict[str, Any] = {}
    for name, value in json.loads(path.read_text(encoding="utf-8")).items():
        _flatten(name, value, flat)
    return {
        name.replace(".", "__"): value
        for name, value in flat.items()
        if name.rsplit(".", 1)[-1] not in _FIXED
    }


def changed(system: str, preset: Presets, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from those of the recipe and the preset."""
    if system not in [name for name, _, _ in _plethora.system_specs()]:
        return {}
    try:
        recipe = json.loads(_plethora.resolve(request(system, preset, "auto", {})))
    except ConfigError:
        return dict(settings)
    usual: dict[str, Any] = {}
    _flatten("", recipe, usual)
    return {
        name: value
        for name, value in settings.items()
        if value != usual.get("." + name.replace("__", "."))
    }


def num_threads(n_jobs: int | None) -> int:
    """The number of threads; 0 stands for one per processor."""
    if n_jobs is None or n_jobs == -1:
        return 0
    count = int(n_jobs)
    if count < 1:
        raise ConfigError(f"n_jobs: must be at least 1, or -1, found {n_jobs}")
    return count


def plain(value: Any) -> Any:
    """Numbers of numpy and paths, for JSON."""
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    raise ConfigError(f"{value!r} is no value of a setting")


def _flatten(name: str, value: Any, flat: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            _flatten(f"{name}.{key}", entry, flat)
    elif value is not None:
        flat[name] = value
