"""Progress of long work, as bars or to a callback."""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple, Optional, Union

Listener = Callable[[str, int, Optional[int], str, bool], None]


class Progress(NamedTuple):
    """One report on long work."""

    stage: str
    """What is being done, as "reading"."""
    done: int
    """Steps of the stage that are done."""
    total: int | None
    """All steps of the stage, where known."""
    message: str
    """The latest figures, or what came out of the stage."""
    is_over: bool
    """Whether the stage is over."""


ProgressOption = Union[None, bool, Callable[[Progress], Any]]


def listener(option: ProgressOption) -> Listener | None:
    """What the extension module calls: bars where they can be seen, a callback, or nothing."""
    if option is False:
        return None
    if option is None or option is True:
        if option is None and not _is_watched():
            return None
        return _bars()
    if not callable(option):
        raise TypeError("progress: expected None, True, False or a function")

    def tell(stage: str, done: int, total: int | None, message: str, is_over: bool) -> None:
        option(Progress(stage, done, total, message, is_over))

    return tell


def _is_watched() -> bool:
    """True in a terminal and in a notebook."""
    stderr = sys.stderr
    is_terminal = stderr is not None and hasattr(stderr, "isatty") and stderr.isatty()
    return is_terminal or "ipykernel" in sys.modules


def _bars() -> Listener | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar: Any = None

    def draw(stage: str, done: int, total: int | None, message: str, is_over: bool) -> None:
        nonlocal bar
        if bar is None or bar.desc != stage + ": ":
            bar = tqdm(desc=stage, total=total, leave=False)
            bar.set_description(stage)
        bar.update(done - bar.n)
        if message:
            bar.set_postfix_str(message)
        if is_over:
            bar.close()
            bar = None

    return draw
