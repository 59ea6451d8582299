"""Writes mixture.json: signs of labels, which labels are true, and the weights that make them most likely, found by scipy.

    python testdata/treaderxml/make_mixture.py

needs numpy and scipy. The weights are those of a logistic function, each held to its start by a square penalty that grows with the
mean square of its sign.
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

NUM_SIGNS = 18
HOLD = 5.0
START = np.zeros(NUM_SIGNS)
START[:5] = [-1.0, 0.7, 0.5, 2.0, 0.15]


def main():
    random = np.random.default_rng(7)
    rows = 400
    signs = np.round(random.normal(size=(rows, NUM_SIGNS)) * np.linspace(0.2, 3.0, NUM_SIGNS), 3)
    signs[:, 0] = 1.0
    # A sign that no label has.
    signs[:, 9] = 0.0
    true_weights = random.normal(size=NUM_SIGNS) / np.linspace(0.5, 6.0, NUM_SIGNS)
    truth = (random.random(rows) < 1.0 / (1.0 + np.exp(-signs @ true_weights))).astype(float)
    hold = HOLD * np.maximum(np.mean(signs**2, axis=0), 1e-6)

    def loss(weights):
        logits = signs @ weights
        return np.sum(np.logaddexp(0.0, logits) - truth * logits) + np.sum(hold * (weights - START) ** 2) / 2.0

    def slope(weights):
        likely = 1.0 / (1.0 + np.exp(-signs @ weights))
        return signs.T @ (likely - truth) + hold * (weights - START)

    found = minimize(loss, START, jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 10000})
    assert np.max(np.abs(slope(found.x))) < 1e-6, found
    text = json.dumps({"signs": signs.tolist(), "truth": truth.tolist(), "weights": found.x.tolist()})
    Path(__file__).with_name("mixture.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
