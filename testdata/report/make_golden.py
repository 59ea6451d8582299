"""Writes golden.json: rankings with true labels, the AUC and average precision that scikit-learn
gives their labels, and bootstrap intervals of metrics from numpy.

Usage: python make_golden.py    (needs numpy and scikit-learn; made with numpy 2.4.6, scikit-learn 1.9.1)

Labels that a ranking does not hold get a score of -1 here, below all others: they are tied at the
bottom. Intervals are numpy's percentiles of 20,000 draws, so that they agree with those of any other
generator of random numbers to a few hundredths of their width.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

SEED = 21
NUM_LABELS = 30  # of the label space; labels from here on occur in the test truth only
NUM_UNSEEN = 3
NUM_TRAIN = 500
NUM_TEST = 150
DEPTH = 10
KS = (1, 3, 5)
A, B = 0.55, 1.5
THRESHOLD = 0.5
RESAMPLES = 20_000
MIN_TEST_FREQUENCY = 5


def rounded(value):
    """Twelve significant digits: the last bits depend on the processor."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def make_documents(rng):
    weights = 1 / np.arange(1, NUM_LABELS + NUM_UNSEEN + 1)
    weights /= weights.sum()
    documents = []
    for number in range(NUM_TEST):
        size = 0 if number % 31 == 7 else int(rng.integers(1, 7))
        truth = rng.choice(NUM_LABELS + NUM_UNSEEN, size, replace=False, p=weights).tolist()
        depth = int(rng.choice([0, 2, 5, DEPTH], p=[0.03, 0.1, 0.17, 0.7]))
        # Multiples of 1/32 are exact in single precision and often tied.
        scores = rng.integers(1, 20, NUM_LABELS) / 32
        for label in truth:
            if label < NUM_LABELS:
                scores[label] += rng.integers(0, 12) / 32
        order = np.argsort(-scores, kind="stable")[:depth]
        documents.append({
            "truth": truth,
            "ranking": [(int(label), float(scores[label])) for label in order],
            "length": int(rng.integers(20, 400)),
        })
    return documents


def inverse_propensities(counts):
    c = (np.log(NUM_TRAIN) - 1) * (B + 1) ** A
    return 1 + c * (counts + B) ** -A


def columns(documents, inverse):
    """For each metric the two columns whose sums are divided."""
    result = {}
    for k in KS:
        hits, gains, best = [], [], []
        for document in documents:
            truth, ranking = document["truth"], [label for label, _ in document["ranking"]]
            top = [label for label in ranking[:k] if label in truth]
            hits.append(len(top) / k)
            gains.append(sum(inverse[top]) if top else 0)
            best.append(sum(sorted(inverse[truth])[::-1][:k]) if truth else 0)
        ones = np.ones(len(documents))
        result[f"P@{k}"] = (np.array(hits), ones)
        result[f"PSP@{k}"] = (np.array(gains), np.array(best))
    assigned = [{l for l, score in d["ranking"] if score >= THRESHOLD} for d in documents]
    both = [len(given & set(d["truth"])) for given, d in zip(assigned, documents)]
    sizes = [len(given) + len(d["truth"]) for given, d in zip(assigned, documents)]
    result["microF1"] = (2.0 * np.array(both), np.array(sizes, dtype=float))
    return result


def intervals(rng, columns):
    draws = rng.integers(0, NUM_TEST, (RESAMPLES, NUM_TEST))
    result = {}
    for key, (numerator, denominator) in columns.items():
        values = numerator[draws].sum(1) / denominator[draws].sum(1)
        low, high = np.percentile(values, [2.5, 97.5])
        value = numerator.sum() / denominator.sum()
        result[key] = {"value": float(value), "low": float(low), "high": float(high)}
    return result


def groups(documents):
    """Three groups of labels with as equal sums of test frequencies as can be, by trying all cuts."""
    num_labels = NUM_LABELS + NUM_UNSEEN
    truth = np.zeros((NUM_TEST, num_labels), dtype=int)
    scores = np.full((NUM_TEST, num_labels), -1.0)
    for row, document in enumerate(documents):
        truth[row, document["truth"]] = 1
        for label, score in document["ranking"]:
            scores[row, label] = score
    frequencies = truth.sum(0)
    labels = [l for l in range(num_labels) if frequencies[l] >= MIN_TEST_FREQUENCY]
    known = sorted({int(frequencies[l]) for l in labels}, reverse=True)

    def members(high, low):
        return [l for l in labels if low <= frequencies[l] < high]

    def closest(below, parts):
        """The bound whose group is closest to an equal part of all that is left."""
        total = sum(frequencies[l] for l in labels if frequencies[l] < below)
        candidates = [f for f in known if f < below]
        distance = lambda f: abs(parts * sum(frequencies[members(below, f)]) - total)
        return min(candidates, key=lambda f: (distance(f), -f))

    first = closest(np.inf, 3)
    second = closest(first, 2)
    bounds = [(np.inf, first), (first, second), (second, MIN_TEST_FREQUENCY)]
    result = []
    for high, low in bounds:
        chosen = members(high, low)
        result.append({
            "min_test_frequency": int(min(frequencies[chosen])),
            "max_test_frequency": int(max(frequencies[chosen])),
            "n_labels": len(chosen),
            "share": float(sum(frequencies[chosen]) / truth.sum()),
            "auc": float(np.mean([roc_auc_score(truth[:, l], scores[:, l]) for l in chosen])),
            "aupr": float(np.mean([average_precision_score(truth[:, l], scores[:, l]) for l in chosen])),
        })
    return result


def main():
    rng = np.random.default_rng(SEED)
    counts = np.sort(rng.integers(1, 200, NUM_LABELS))[::-1]
    inverse = inverse_propensities(np.concatenate([counts, np.zeros(NUM_UNSEEN)]))
    documents = make_documents(rng)
    golden = {
        "a": A,
        "b": B,
        "threshold": THRESHOLD,
        "num_train_documents": NUM_TRAIN,
        "train_counts": counts.tolist(),
        "documents": documents,
        "resamples": RESAMPLES,
        "intervals": intervals(rng, columns(documents, inverse)),
        "groups": groups(documents),
    }
    text = json.dumps(rounded(golden))
    for mark in ('"documents": ', '{"truth"', '"intervals": ', '"groups": ', '"train_counts": '):
        text = text.replace(mark, "\n" + mark)
    Path(__file__).with_name("golden.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
