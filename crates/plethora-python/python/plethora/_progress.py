"""Progress of long work, as bars or to a callback."""

from __future__ import annotations

import importlib
import sys
from html import escape
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
        return _cell() if _is_notebook() else _bars()
    if not callable(option):
        raise TypeError("progress: expected None, True, False or a function")

    def tell(stage: str, done: int, total: int | None, message: str, is_over: bool) -> None:
        option(Progress(stage, done, total, message, is_over))

    return tell


def _is_watched() -> bool:
    """True in a terminal and in a notebook."""
    stderr = sys.stderr
    is_terminal = stderr is not None and hasattr(stderr, "isatty") and stderr.isatty()
    return is_terminal or _is_notebook()


def _is_notebook() -> bool:
    """True in a kernel of Jupyter, which has loaded IPython."""
    shell: Any = sys.modules.get("IPython")
    return hasattr(shell, "get_ipython") and hasattr(shell.get_ipython(), "kernel")


def _cell() -> Listener | None:
    """Progress as part of a notebook's output, which needs nothing but IPython."""
    try:
        shower: Any = importlib.import_module("IPython.display")
    except ImportError:
        return _bars()
    lines: list[str] = []
    handle: Any = None

    def draw(stage: str, done: int, total: int | None, message: str, is_over: bool) -> None:
        nonlocal handle
        if is_over:
            lines.append(f"<div>{escape(stage)}: {escape(message) or f'{done:,}'}</div>")
            shown = "".join(lines)
        else:
            known = "" if total is None else f'max="{total}" value="{min(done, total)}"'
            counted = f"{done:,}" if total is None else f"{done:,} of {total:,}"
            bar = f"<progress {known}></progress> {counted} {escape(message)}"
            shown = "".join([*lines, f"<div>{escape(stage)}: {bar}</div>"])
        if handle is None:
            handle = shower.display(shower.HTML(shown), display_id=True)
        else:
            handle.update(shower.HTML(shown))

    return draw


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
