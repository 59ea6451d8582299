"""Writes golden.json: rankings with true labels, and the metrics that napkinXC gives them.

Usage: python make_golden.py    (needs numpy and napkinxc; the values were made with napkinxc 0.7.2)

napkinXC has no R-Precision@k and no reciprocal rank, so these are computed here from their
definitions. Both conventions of PSnDCG@k are written out here as well and checked against
napkinXC: its psdcg_at_k, normalised, is the ratio of global sums (AttentionXML), and its
psndcg_at_k divides each row by its plain ideal DCG first (pyxclib).
"""

import json
from pathlib import Path

import numpy as np
from napkinxc import metrics as nxc

SEED = 20
NUM_LABELS = 40  # of the label space; labels from here on occur in the test truth only
NUM_UNSEEN = 5
NUM_TRAIN = 500
NUM_TEST = 60
DEPTH = 8
KS = (1, 3, 5)
A, B = 0.55, 1.5
THRESHOLD = 0.5


def rounded(value):
    """Twelve significant digits: the last bits depend on the processor."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def make_train(rng):
    weights = 1 / np.arange(1, NUM_LABELS + 1)
    weights /= weights.sum()
    sizes = rng.integers(1, 6, NUM_TRAIN)
    return [sorted(rng.choice(NUM_LABELS, n, replace=False, p=weights).tolist()) for n in sizes]


def make_test(rng):
    """Rankings that are often right, some of them short or empty; documents without labels."""
    documents = []
    for number in range(NUM_TEST):
        size = 0 if number % 17 == 5 else int(rng.integers(1, 9))
        truth = rng.choice(NUM_LABELS + NUM_UNSEEN, size, replace=False).tolist()
        depth = [0, 1, 2, DEPTH][int(rng.choice(4, p=[0.05, 0.1, 0.1, 0.75]))]
        others = rng.permutation(NUM_LABELS).tolist()
        ranking = []
        for _ in range(depth):
            pool = [l for l in truth if l < NUM_LABELS and l not in ranking]
            if not pool or rng.random() > 0.5:
                pool = [l for l in others if l not in ranking]
            ranking.append(pool[0])
        # Multiples of 1/64 are exact in single precision, so the threshold means the same.
        scores = sorted((rng.integers(8, 64, depth) / 64).tolist(), reverse=True)
        documents.append({"truth": truth, "ranking": list(zip(ranking, scores))})
    return documents


def inverse_propensities(train):
    counts = np.zeros(NUM_LABELS + NUM_UNSEEN)
    for labels in train:
        counts[labels] += 1
    c = (np.log(len(train)) - 1) * (B + 1) ** A
    inverse = 1 + c * (counts + B) ** -A
    known = nxc.Jain_et_al_inverse_propensity(train, A=A, B=B)
    assert np.allclose([known[l] for l in range(len(known))], inverse[: len(known)])
    return counts[:NUM_LABELS].astype(int), inverse


def psndcg(truths, rankings, inverse, k):
    """PSnDCG@k as a ratio of global sums, and with rows divided by their plain ideal DCG."""
    discount = 1 / np.log2(np.arange(k) + 2)
    sums = np.zeros((2, 2))
    for truth, ranking in zip(truths, rankings):
        if not truth:
            continue
        gains = np.array([inverse[l] if l in truth else 0 for l in ranking[:k]])
        best = np.sort(inverse[truth])[::-1][:k]
        parts = np.array([gains @ discount[: len(gains)], best @ discount[: len(best)]])
        sums[0] += parts
        sums[1] += parts / discount[: min(k, len(truth))].sum()
    return sums[:, 0] / sums[:, 1]


def values(documents, inverse):
    truths = [d["truth"] for d in documents]
    rankings = [[l for l, _ in d["ranking"]] for d in documents]
    at_k = {
        "P": nxc.precision_at_k(truths, rankings, k=max(KS)),
        "R": nxc.recall_at_k(truths, rankings, k=max(KS)),
        "nDCG": nxc.ndcg_at_k(truths, rankings, k=max(KS)),
        "PSP": nxc.psprecision_at_k(truths, rankings, inverse, k=max(KS)),
        "PSnDCG": nxc.psdcg_at_k(truths, rankings, inverse, k=max(KS)),
        "PSnDCG-rows": nxc.psndcg_at_k(truths, rankings, inverse, k=max(KS)),
        "coverage": nxc.coverage_at_k(truths, rankings, k=max(KS)),
    }
    result = {f"{name}@{k}": float(array[k - 1]) for name, array in at_k.items() for k in KS}
    for k in KS:
        by_sums, by_rows = psndcg(truths, rankings, inverse, k)
        assert np.isclose(by_sums, result[f"PSnDCG@{k}"])
        assert np.isclose(by_rows, result[f"PSnDCG-rows@{k}"])
        parts = [
            len(set(r[:k]) & set(t)) / min(k, len(t)) if t else 0 for t, r in zip(truths, rankings)
        ]
        result[f"RP@{k}"] = float(np.mean(parts))
    ranks = [next((i + 1 for i, l in enumerate(r) if l in t), np.inf) for t, r in zip(truths, rankings)]
    result["MRR"] = float(np.mean(1 / np.array(ranks)))
    # As text, so that the macro average takes in only labels that occur, not all up to the largest.
    truths = [[str(l) for l in t] for t in truths]
    assigned = [[str(l) for l, score in d["ranking"] if score >= THRESHOLD] for d in documents]
    result["microF1"] = float(nxc.micro_f1_measure(truths, assigned))
    result["macroF1"] = float(nxc.macro_f1_measure(truths, assigned))
    result["docF1"] = float(nxc.samples_f1_measure(truths, assigned))
    return result


def main():
    rng = np.random.default_rng(SEED)
    train, documents = make_train(rng), make_test(rng)
    counts, inverse = inverse_propensities(train)
    golden = {
        "a": A,
        "b": B,
        "threshold": THRESHOLD,
        "num_train_documents": NUM_TRAIN,
        "train_counts": counts.tolist(),
        "inverse_propensities": inverse.tolist(),
        "documents": documents,
        "values": values(documents, inverse),
    }
    text = json.dumps(rounded(golden))
    for mark in ('"documents": ', '{"truth"', '"values": ', '"train_counts": ', '"inverse_'):
        text = text.replace(mark, "\n" + mark)
    Path(__file__).with_name("golden.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
