"""Writes golden.json: scores, losses and gradients of adaptive probabilistic label clusters, from the paper's formulas.

Everything is written label by label in probabilities and 64 bits, where products of these sizes are stable: no logarithms of
sigmoids, no gathering of documents, no runs of labels.

Usage: python make_golden.py    (needs torch; the values were made with 2.11.0)
"""

import json
import pathlib

import torch

WIDTH, HIDDEN, SHRINK = 6, 8, 2
# Training documents of each label, among which ties go by the label's number, and of any.
COUNTS = [3, 40, 7, 7, 1, 22, 2, 7, 15, 1, 30, 2, 9]
NUM_DOCUMENTS = 90
CUT_OFFS = [5, 9]
TRUE_LABELS = [[1, 7, 2], [], [4, 9, 10, 11], [5, 8], [12, 6]]

CASES = {
    "paper": dict(projection="linear", bias=False, roots="none", tail_loss="product", negatives=0, loss="mean"),
    "program": dict(projection="normed", bias=False, roots="absent", tail_loss="product", negatives=0, loss="mean"),
    "supervised": dict(projection="linear", bias=True, roots="all", tail_loss="product", negatives=0, loss="sum"),
    "all_negatives": dict(projection="linear", bias=True, roots="all", tail_loss="product", negatives=1000, loss="sum"),
    "mean_of_all": dict(projection="normed", bias=True, roots="none", tail_loss="product", negatives=1000, loss="mean"),
    "conditional": dict(projection="linear", bias=True, roots="all", tail_loss="conditional", negatives=0, loss="mean"),
}


def clusters():
    """The labels of head and tails, each rising."""
    order = sorted(range(len(COUNTS)), key=lambda label: (-COUNTS[label], label))
    bounds = [0, *CUT_OFFS, len(COUNTS)]
    return [sorted(order[start:end]) for start, end in zip(bounds, bounds[1:])]


def parameters(settings, generator):
    """Random values under the names of the network."""
    def draw(*shape, spread=0.8):
        return (torch.randn(*shape, generator=generator, dtype=torch.float64) * spread).requires_grad_()

    head, *tails = clusters()
    made = {
        "head.hidden.weight": draw(HIDDEN, WIDTH, spread=0.5),
        "head.hidden.bias": draw(HIDDEN, spread=0.2),
        "head.root": draw(len(head) + len(tails), HIDDEN),
    }
    if settings["bias"]:
        made["head.root_bias"] = draw(len(head) + len(tails))
    for number, labels in enumerate(tails, 1):
        narrow = HIDDEN // SHRINK**number
        made[f"head.tail-{number}.projection"] = draw(narrow, HIDDEN)
        if settings["projection"] == "normed":
            made[f"head.tail-{number}.norm.scale"] = draw(narrow)
            made[f"head.tail-{number}.norm.shift"] = draw(narrow)
        if settings["bias"]:
            made[f"head.tail-{number}.bias"] = draw(len(labels))
        made[f"tail-{number}"] = draw(len(labels), narrow)
    return made


def probabilities(settings, values, vector):
    """Of each label by itself, of each tail, for one document."""
    head, *tails = clusters()
    hidden = torch.tanh(values["head.hidden.weight"] @ vector + values["head.hidden.bias"])
    root = values["head.root"] @ hidden
    if settings["bias"]:
        root = root + values["head.root_bias"]
    root = torch.sigmoid(root)
    own = {label: root[place] for place, label in enumerate(head)}
    wanted = [root[len(head) + number] for number in range(len(tails))]
    for number, labels in enumerate(tails, 1):
        narrow = values[f"head.tail-{number}.projection"] @ hidden
        if settings["projection"] == "normed":
            centred = narrow - narrow.mean()
            narrow = centred / torch.sqrt((centred**2).mean() + 1e-5)
            narrow = narrow * values[f"head.tail-{number}.norm.scale"] + values[f"head.tail-{number}.norm.shift"]
            narrow = torch.relu(narrow)
        for place, label in enumerate(labels):
            logit = values[f"tail-{number}"][place] @ narrow
            if settings["bias"]:
                logit = logit + values[f"head.tail-{number}.bias"][place]
            own[label] = torch.sigmoid(logit)
    return own, wanted


def cost(probability, is_true):
    return -torch.log(probability) if is_true else -torch.log(1 - probability)


def loss_of(settings, own, wanted, true_labels):
    """Equation 5 for one document, with the options that the paper does not have."""
    head, *tails = clusters()
    terms = [cost(own[label], label in true_labels) for label in head]
    for number, labels in enumerate(tails):
        has_label = any(label in true_labels for label in labels)
        if settings["roots"] == "all" or (settings["roots"] == "absent" and not has_label):
            terms.append(cost(wanted[number], has_label))
        if has_label:
            factor = wanted[number] if settings["tail_loss"] == "product" else 1.0
            terms += [cost(factor * own[label], label in true_labels) for label in labels]
        elif settings["negatives"] > 0:
            terms += [cost(wanted[number] * own[label], False) for label in labels]
    total = torch.stack(terms)
    return total.sum() if settings["loss"] == "sum" else total.mean()


def case(settings, vectors, generator):
    values = parameters(settings, generator)
    vectors = vectors.clone().requires_grad_()
    of_label = [cluster for cluster, labels in enumerate(clusters()) for _ in labels]
    place = {label: number for number, label in enumerate(sum(clusters(), []))}
    scores, losses = [], []
    for vector, true_labels in zip(vectors, TRUE_LABELS):
        own, wanted = probabilities(settings, values, vector)
        factor = [1.0, *wanted]
        scores.append([torch.log(factor[of_label[place[label]]] * own[label]).item() for label in range(len(COUNTS))])
        losses.append(loss_of(settings, own, wanted, true_labels))
    loss = torch.stack(losses).mean()
    loss.backward()
    flat = lambda tensor: [float(f"{number:.9g}") for number in tensor.flatten().tolist()]
    return {
        "settings": settings,
        "parameters": {name: flat(value.detach()) for name, value in values.items()},
        "log_scores": [[float(f"{score:.9g}") for score in row] for row in scores],
        "loss": loss.item(),
        "gradients": {name: flat(value.grad) for name, value in values.items()},
        "vector_gradient": flat(vectors.grad),
    }


def main():
    generator = torch.Generator().manual_seed(20)
    vectors = torch.randn(len(TRUE_LABELS), WIDTH, generator=generator, dtype=torch.float64)
    vectors = (vectors * 1e4).round() / 1e4
    golden = {
        "width": WIDTH,
        "hidden": HIDDEN,
        "shrink": SHRINK,
        "counts": COUNTS,
        "num_documents": NUM_DOCUMENTS,
        "cut_offs": CUT_OFFS,
        "true_labels": TRUE_LABELS,
        "vectors": vectors.tolist(),
        "cases": {name: case(settings, vectors, generator) for name, settings in CASES.items()},
    }
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
