"""Writes golden.json: weights of independent solvers on a small random problem.

scikit-learn's LinearSVC and LogisticRegression call liblinear. Both are run to a tight tolerance, with the bias
as a feature of value 1 that is regularised like the others, as our solver has it.

Run with `cargo xtask golden`.
"""

import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

rng = np.random.default_rng(20)
documents, features, labels = 60, 25, 3
x = rng.random((documents, features)) * (rng.random((documents, features)) < 0.3)
x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
x = np.round(x, 4)
y = [(x @ rng.normal(size=features) + 0.3 * rng.normal(size=documents) > 0.2) for _ in range(labels)]

golden = {"x": x.tolist(), "positives": [np.flatnonzero(row).tolist() for row in y], "solutions": []}
for cost in (0.3, 1.0, 10.0):
    svm = [LinearSVC(C=cost, tol=1e-10, max_iter=1_000_000, intercept_scaling=1.0, random_state=0).fit(x, row) for row in y]
    log = [
        LogisticRegression(C=cost, solver="liblinear", tol=1e-12, max_iter=100_000, intercept_scaling=1.0).fit(x, row)
        for row in y
    ]
    for loss, fitted in (("squared-hinge", svm), ("log", log)):
        golden["solutions"].append(
            {
                "loss": loss,
                "cost": cost,
                "weights": [np.round(model.coef_[0], 7).tolist() for model in fitted],
                "biases": [round(float(model.intercept_[0]), 7) for model in fitted],
            }
        )

path = pathlib.Path(__file__).with_name("golden.json")
path.write_text(json.dumps(golden) + "\n")
