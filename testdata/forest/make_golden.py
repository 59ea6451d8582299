"""Writes golden.json: rows of features, which of them are true, and the probabilities of boosted trees.

Usage: python make_golden.py    (needs numpy and scikit-learn; made with scikit-learn 1.9.1)

Values lie on a grid that is exact in single precision, so that both programs cut them into equal bins.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

SEED = 9
ROWS, FEATURES = 500, 4
SETTINGS = {"num_trees": 25, "num_leaves": 9, "learning_rate": 0.25, "min_rows": 7, "ridge": 1.5}


def main():
    rng = np.random.default_rng(SEED)
    rows = np.floor(rng.random((ROWS, FEATURES)) * [160, 64, 8, 2]) / 16
    margin = np.sin(rows[:, 0]) + (rows[:, 1] - 2) * rows[:, 3] * 8 - rows[:, 2] * 4
    truth = rng.random(ROWS) < 1 / (1 + np.exp(-margin))
    forest = HistGradientBoostingClassifier(
        max_iter=SETTINGS["num_trees"],
        max_leaf_nodes=SETTINGS["num_leaves"],
        learning_rate=SETTINGS["learning_rate"],
        min_samples_leaf=SETTINGS["min_rows"],
        l2_regularization=SETTINGS["ridge"],
        early_stopping=False,
    ).fit(rows, truth)
    golden = {
        "settings": SETTINGS,
        "rows": rows.tolist(),
        "truth": truth.tolist(),
        "probabilities": [float(f"{p:.12g}") for p in forest.predict_proba(rows)[:, 1]],
    }
    path = Path(__file__).parent / "golden.json"
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
