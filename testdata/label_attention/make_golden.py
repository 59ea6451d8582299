"""Writes golden.json: scores, losses and gradients of one layer over labels with an attention of each label's own.

Everything is written document by document and label by label in 64 bits; gradients are central differences of the loss.

Usage: python make_golden.py    (needs numpy; the values were made with 2.4.6)
"""

import json
import pathlib

import numpy as np

LABELS, VECTOR, STATE, FOUND = 7, 6, 4, 3
# Pieces of each document.
LENGTHS = [5, 2, 4]
TRUE_LABELS = [[1, 6, 2], [], [4]]


def parameters(generator):
    """Random values under the names of the network, and what the encoder gives."""
    def draw(*shape, spread=0.7):
        return generator.normal(0.0, spread, shape)

    return {
        "head.outputs": draw(LABELS, VECTOR),
        "head.output_bias": draw(LABELS),
        "head.attention.layer.0.weight": draw(FOUND, STATE),
        "head.attention.layer.0.bias": draw(FOUND),
        # The attention vector of a label, then its outputs.
        "head.attention.labels": draw(LABELS, STATE + FOUND, spread=1.5),
        "vector": draw(len(LENGTHS), VECTOR),
        "states": draw(len(LENGTHS), max(LENGTHS), STATE, spread=1.2),
    }


def score(values, document, label):
    """The score of one label for one document, before the sigmoid."""
    states = values["states"][document, : LENGTHS[document]]
    row = values["head.attention.labels"][label]
    strengths = [float(np.dot(row[:STATE], state)) / STATE**0.5 for state in states]
    weights = np.exp(strengths) / np.sum(np.exp(strengths))
    read = sum(weight * state for weight, state in zip(weights, states))
    layer = values["head.attention.layer.0.weight"] @ read + values["head.attention.layer.0.bias"]
    found = float(np.dot(row[STATE:], np.maximum(layer, 0.0)))
    whole = float(np.dot(values["head.outputs"][label], values["vector"][document]))
    return whole + float(values["head.output_bias"][label]) + found


def loss(values):
    """The cross-entropy of all labels, summed over labels and averaged over documents."""
    total = 0.0
    for document, true_labels in enumerate(TRUE_LABELS):
        for label in range(LABELS):
            probability = 1.0 / (1.0 + np.exp(-score(values, document, label)))
            total -= np.log(probability if label in true_labels else 1.0 - probability)
    return float(total) / len(TRUE_LABELS)


def gradient(values, name, step=1e-5):
    """The derivative of the loss by each number of a parameter."""
    found = np.zeros_like(values[name])
    for place in np.ndindex(values[name].shape):
        def moved(by):
            changed = {key: value.copy() for key, value in values.items()}
            changed[name][place] += by
            return loss(changed)

        found[place] = (moved(step) - moved(-step)) / (2 * step)
    return found


def rounded(array):
    return [float(f"{number:.9g}") for number in np.asarray(array).ravel()]


def main():
    values = parameters(np.random.default_rng(20))
    logits = [[score(values, document, label) for label in range(LABELS)] for document in range(len(LENGTHS))]
    golden = {
        "sizes": {"labels": LABELS, "vector": VECTOR, "state": STATE, "found": FOUND},
        "lengths": LENGTHS,
        "true_labels": TRUE_LABELS,
        "values": {name: rounded(value) for name, value in values.items()},
        "logits": rounded(logits),
        "loss": rounded(loss(values))[0],
        "gradients": {name: rounded(gradient(values, name)) for name in values},
    }
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
