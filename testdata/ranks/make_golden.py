"""p-values of Wilcoxon's signed rank test and mean ranks, by scipy.

Small cases with ties are counted over all signs by scipy's permutation test, as its exact distribution knows no ties."""

import json

import numpy
from scipy.stats import PermutationMethod, rankdata, wilcoxon

random = numpy.random.default_rng(7)


def case(name, one, other, method):
    one, other = numpy.asarray(one, float), numpy.asarray(other, float)
    p = wilcoxon(one, other, method=method, correction=False).pvalue
    return {"name": name, "one": one.tolist(), "other": other.tolist(), "p": float(f"{p:.12g}")}


def figures(size, shift, step):
    """Multiples of a step, which is a power of two, so that equal differences are equal to the last bit."""
    one = numpy.round(random.normal(70, 10, size) / step) * step
    return one, one + numpy.round(random.normal(shift, 1, size) / step) * step


cases = [
    case("one pair", [2.0], [1.0], "exact"),
    case("all fifteen", range(1, 16), [0.0] * 15 - numpy.arange(15) * 0.5, "exact"),
]
for size, shift in ((5, 0.3), (15, -0.4), (15, 0.05), (40, 0.2), (50, 0.1)):
    cases.append(case(f"exact, {size}", *figures(size, shift, 2.0**-20), "exact"))
all_signs = PermutationMethod(n_resamples=numpy.inf)
for size, shift in ((8, 0.5), (12, -0.3)):
    one, other = figures(size, shift, 0.25)
    other[0] = one[0]
    cases.append(case(f"ties and a pair without difference, {size}", one, other, all_signs))
for size, shift in ((60, 0.1), (200, 0.3)):
    cases.append(case(f"normal, {size}", *figures(size, shift, 2.0**-20), "asymptotic"))
one, other = figures(90, 0.2, 0.25)
kept = one != other
cases.append(case("normal with ties, 90", one[kept], other[kept], "asymptotic"))

rows = numpy.round(random.normal(70, 3, (15, 6)), 0)
ranks = [{"rows": rows.tolist(), "mean_ranks": rankdata(-rows, axis=1).mean(axis=0).tolist()}]
with open("golden.json", "w") as file:
    json.dump({"wilcoxon": cases, "ranks": ranks}, file, indent=1)
    file.write("\n")
