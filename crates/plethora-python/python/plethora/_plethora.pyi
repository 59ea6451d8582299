from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np
from numpy.typing import NDArray

VERSION: str

_Listener = Optional[Callable[[str, int, Optional[int], str, bool], None]]
_Rankings = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]
_Matrix = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32], int]

class Documents:
    @staticmethod
    def of_texts(texts: list[Any], labels: list[Any] | None = None) -> Documents: ...
    @staticmethod
    def of_features(
        row_starts: NDArray[np.int64],
        columns: NDArray[np.uint32],
        values: NDArray[np.float32],
        num_columns: int,
        labels: list[Any] | None = None,
    ) -> Documents: ...
    def __len__(self) -> int: ...
    def has_labels(self) -> bool: ...

class Model:
    @staticmethod
    def open(path: Path, device: str, dtype: str) -> Model: ...
    @property
    def path(self) -> Path: ...
    def is_calibrated(self) -> bool: ...
    def labels(self) -> tuple[list[str], list[str], list[int]]: ...
    def details(self) -> str: ...
    def rank(self, documents: Documents, request: str) -> _Rankings: ...
    def evaluate(self, documents: Documents, request: str, listener: _Listener = None) -> str: ...
    def explain(self, text: str, label: str, num_threads: int) -> str: ...
    def copy_to(self, target: Path, overwrite: bool) -> None: ...

def system_specs() -> list[tuple[str, str, bool]]: ...
def resolve(request: str) -> str: ...
def train(
    request: str,
    run: str,
    documents: Documents,
    valid: Documents | None = None,
    listener: _Listener = None,
) -> str: ...
def train_auto(
    request: str,
    run: str,
    documents: Documents,
    valid: Documents | None = None,
    listener: _Listener = None,
) -> str: ...
def train_piece(request: str, listener: _Listener = None) -> str: ...
def join_ranks(variables: dict[str, str]) -> None: ...
def join_group(rank: int, count: int, group: object) -> None: ...
def merge(
    pieces: list[str], output: str, overwrite: bool, listener: _Listener = None
) -> str: ...
def read_dataset(
    request: str, listener: _Listener = None
) -> tuple[
    list[str], list[str], _Matrix | None, list[list[str]], list[tuple[str, str]]
]: ...
def measure(
    truth: tuple[NDArray[np.int64], NDArray[np.uint32]],
    rankings: _Rankings,
    train_counts: NDArray[np.uint32],
    request: str,
) -> str: ...
def check(
    request: str,
    listener: _Listener = None,
    data: Documents | None = None,
    against: Documents | None = None,
) -> str: ...
def search(
    request: str,
    listener: _Listener = None,
    data: Documents | None = None,
    valid: Documents | None = None,
    runner: Any = None,
) -> str: ...
def search_trial(
    request: str,
    trial: int,
    share: float,
    work: str,
    data: Documents | None = None,
    valid: Documents | None = None,
) -> str: ...
def report(
    request: str, listener: _Listener = None, data: Documents | None = None
) -> str: ...
def calibrate(
    request: str, listener: _Listener = None, data: Documents | None = None
) -> str: ...
def ensemble(
    request: str, listener: _Listener = None, data: Documents | None = None
) -> str: ...
