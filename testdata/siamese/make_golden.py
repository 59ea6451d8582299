"""Writes golden.json: the loss of documents against labels that compete, and its gradients.

Usage: python make_golden.py    (needs numpy; made with numpy 2.4.6)

A document x and a label with the name n and the free vector f are compared by the cosine of W x and
W n / |W n| + f; the second of the labels has no name that could be read, so that f stands alone. A true label costs
-log(exp(s) / (exp(s) + sum of exp over the labels that are not true)), with s = cosine / temperature; a document costs the mean
over its true labels. Gradients are central differences in double precision: no derivation of ours is in them.
"""

import json
from pathlib import Path

import numpy as np

SEED = 5
WIDTH, DOCUMENTS, LABELS = 4, 5, 6
TEMPERATURE = 0.2
STEP = 1e-6


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def loss(projection, free, documents, names, is_named, truth):
    left = unit(documents @ projection.T)
    right = unit(unit(names @ projection.T) * is_named[:, None] + free)
    scores = left @ right.T / TEMPERATURE
    total = 0.0
    for row, true in zip(scores, truth):
        wrong = np.exp(row[~true]).sum()
        total += np.mean([-np.log(np.exp(s) / (np.exp(s) + wrong)) for s in row[true]])
    return total / len(scores)


def gradient(compute, values):
    result = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        moved = [values.copy(), values.copy()]
        moved[0][place] += STEP
        moved[1][place] -= STEP
        result[place] = (compute(moved[0]) - compute(moved[1])) / (2 * STEP)
    return result


def main():
    rng = np.random.default_rng(SEED)
    documents = unit(rng.normal(size=(DOCUMENTS, WIDTH)))
    names = unit(rng.normal(size=(LABELS, WIDTH)))
    projection = np.eye(WIDTH) + 0.3 * rng.normal(size=(WIDTH, WIDTH))
    free = 0.5 * rng.normal(size=(LABELS, WIDTH))
    is_named = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    truth = np.array([[place in true for place in range(LABELS)] for true in ([0], [1, 2], [3], [0, 4, 5], [2])])
    rest = (documents, names, is_named, truth)
    golden = {
        "temperature": TEMPERATURE,
        "documents": documents.tolist(),
        "names": names.tolist(),
        "is_named": is_named.tolist(),
        "truth": truth.tolist(),
        "projection": projection.tolist(),
        "free": free.tolist(),
        "loss": float(f"{loss(projection, free, *rest):.12g}"),
        "projection_gradient": np.round(gradient(lambda w: loss(w, free, *rest), projection), 8).tolist(),
        "free_gradient": np.round(gradient(lambda f: loss(projection, f, *rest), free), 8).tolist(),
    }
    path = Path(__file__).parent / "golden.json"
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
