"""Writes golden.json: pairs of score and truth, and what scikit-learn makes of them.

Usage: python make_golden.py    (needs numpy, scipy and scikit-learn; made with scikit-learn 1.9.1)

Isotonic regression and Platt scaling are scikit-learn's; the latter is its own inner function, on the
log-odds of the scores. Calibration errors and the best F1 are computed here from their definitions.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import f1_score

SEED = 6
NUM_BINS = 10
MISSED = 25  # true labels outside the ranking


def rounded(value):
    """Twelve significant digits: the last bits depend on the processor."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def make_pairs(rng, count, grid, power):
    """Scores on a grid that is exact in single precision, true more often the higher they are."""
    scores = np.floor(rng.beta(0.5, 1.5, count) * grid) / grid
    truth = rng.random(count) < scores**power
    return scores, truth.astype(int)


def isotonic(scores, truth, at):
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, truth)
    return model.predict(at).tolist()


def log_odds(scores):
    clipped = np.clip(scores, 1e-12, 1 - 1e-7)
    return np.log(clipped / (1 - clipped))


def platt(scores, truth, at):
    # Predictions below 30 in size are not rescaled; ours end at 27.6.
    a, b = _sigmoid_calibration(log_odds(scores), truth)
    return (1 / (1 + np.exp(a * log_odds(at) + b))).tolist()


def calibration_error(scores, truth, bins):
    total = 0.0
    for number in np.unique(bins):
        inside = bins == number
        total += abs(scores[inside].mean() - truth[inside].mean()) * inside.sum()
    return float(total / len(scores))


def equal_width(scores, truth):
    bins = np.minimum((scores * NUM_BINS).astype(int), NUM_BINS - 1)
    return calibration_error(scores, truth, bins)


def equal_mass(scores, truth):
    lower = np.searchsorted(np.sort(scores), scores, "left")
    return calibration_error(scores, truth, lower * NUM_BINS // len(scores))


def best_f1(scores, truth):
    """Every score as a threshold; labels outside the ranking are never assigned."""
    truth = np.concatenate([truth, np.ones(MISSED, int)])
    best = (0.0, 1.0)
    for threshold in np.unique(scores)[::-1]:
        assigned = np.concatenate([scores >= threshold, np.zeros(MISSED, bool)])
        f1 = f1_score(truth, assigned)
        if f1 > best[0] + 1e-12:
            best = (float(f1), float(threshold))
    return {"f1": best[0], "threshold": best[1]}


def main():
    rng = np.random.default_rng(SEED)
    cases = []
    for count, grid, power in [(40, 8, 1.0), (500, 64, 2.0), (3000, 4096, 0.5), (2000, 1 << 20, 1.5)]:
        scores, truth = make_pairs(rng, count, grid, power)
        at = np.concatenate([np.linspace(0, 1, 33), scores[:20]])
        cases.append(
            {
                "scores": scores.tolist(),
                "truth": truth.tolist(),
                "at": at.tolist(),
                "isotonic": isotonic(scores, truth, at),
                "platt": platt(scores, truth, at),
                "ece_equal_width": equal_width(scores, truth),
                "ece_equal_mass": equal_mass(scores, truth),
                "best_f1": best_f1(scores, truth),
            }
        )
    golden = rounded({"n_bins": NUM_BINS, "n_missed": MISSED, "cases": cases})
    path = Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


main()
