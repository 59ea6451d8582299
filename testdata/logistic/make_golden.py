"""Writes golden.json: rows with offsets, which of them are true, and the weights of logistic regressions with ridges.

Usage: python make_golden.py    (needs numpy and scipy; made with scipy 1.17.1)

The weights are those of a general minimiser that knows nothing of the program's own.
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

SEED = 4
ROWS, INPUTS = 400, 4


def loss(weights, rows, offsets, truth, ridge):
    sums = offsets + rows @ weights
    return np.logaddexp(0, sums).sum() - sums[truth].sum() + ridge / 2 * weights @ weights


def gradient(weights, rows, offsets, truth, ridge):
    likely = 1 / (1 + np.exp(-(offsets + rows @ weights)))
    return rows.T @ (likely - truth) + ridge * weights


def main():
    rng = np.random.default_rng(SEED)
    rows = np.round(rng.random((ROWS, INPUTS)) * [1, 0.3, 4, 1], 4)
    rows[:, -1] = 1
    offsets = np.round(rng.normal(size=ROWS), 4)
    margin = offsets + rows @ [2.5, -4, 0.7, -1.5]
    truth = rng.random(ROWS) < 1 / (1 + np.exp(-margin))
    fits = []
    for ridge in (0.01, 1.0, 30.0):
        arguments = (rows, offsets, truth, ridge)
        found = minimize(loss, np.zeros(INPUTS), arguments, jac=gradient, method="BFGS", options={"gtol": 1e-9})
        fits.append({"ridge": ridge, "weights": [float(f"{weight:.9g}") for weight in found.x]})
    golden = {"rows": rows.tolist(), "offsets": offsets.tolist(), "truth": truth.tolist(), "fits": fits}
    path = Path(__file__).parent / "golden.json"
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
