"""The best model that a budget of time allows."""

from __future__ import annotations

import json
from typing import Any

from . import _plethora
from ._classifier import Classifier
from ._progress import ProgressOption, listener


class Auto(Classifier):
    """Chooses members of several systems by the data and the machine, and fuses them.

    Parameters
    ----------
    budget
        Time for everything, as ``"90s"``, ``"10m"`` or ``"1h"``; a few minutes that suit the data
        if not given.
    objective
        What the model should be best at: ``"nDCG@5"``, ``"PSP@5"`` or ``"micro-F1"``.
    encoder
        Pretrained transformer to start from: a Hugging Face folder, or a name in its cache. If not
        given, a sentence encoder from that cache, if there is one; ``"none"`` takes none.
    vectors
        File with pretrained word vectors for members that read words: GloVe, word2vec or fastText.
    top_k, seed, device, n_jobs, progress
        As those of :class:`Classifier`.
    """

    def __init__(
        self,
        *,
        budget: str | None = None,
        objective: str = "nDCG@5",
        encoder: str | None = None,
        vectors: str | None = None,
        top_k: int = 10,
        seed: int | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        progress: ProgressOption = None,
    ) -> None:
        super().__init__(
            "auto", top_k=top_k, seed=seed, device=device, n_jobs=n_jobs, progress=progress
        )
        self.budget = budget
        self.objective = objective
        self.encoder = encoder
        self.vectors = vectors

    def _own_names(self) -> tuple[str, ...]:
        own = ("budget", "objective", "encoder", "vectors")
        return (*own, "top_k", "seed", "device", "n_jobs", "progress")

    def settings(self) -> dict[str, Any]:
        """What members are chosen by; each of them has settings of its own in the model."""
        choice: dict[str, Any] = json.loads(self._request())
        return choice

    def _request(self) -> str:
        return json.dumps(
            {
                "budget": self.budget,
                "objective": self.objective,
                "seed": 1 if self.seed is None else self.seed,
                "encoder": self.encoder,
                "vectors": None if self.vectors is None else str(self.vectors),
            }
        )

    def _train(
        self, run: str, train: _plethora.Documents, held_out: _plethora.Documents | None
    ) -> str:
        request = self._request()
        return _plethora.train_auto(request, run, train, held_out, listener(self.progress))
