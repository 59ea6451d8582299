"""Writes golden.json: scores, losses and gradients of small LightAttention networks as PyTorch computes them.

The networks are written down from the formulas, one document and one label at a time and in 64 bits: no padding, no
chunks, no masks, no rearranged products. With states h of a bidirectional LSTM, the attention vector w and the output
weights of a cluster or label:

    generator      m_c = sum softmax(w_c . h) h,  g_c = (v + v_c) . relu(U m_c + u) + o
    candidates     all labels of the best clusters, true clusters before all others, and every true label
    discriminator  d_l = E_l . a(W m + b)  (+ e . a(W m + b) + o where labels share output weights)
                   m: the label's own context, that of its cluster, or the mean of all states
    loss           cross-entropy of g against the clusters of the true labels, plus that of d over the candidates
    score          sigmoid(g_c) sigmoid(d_l)

Usage: python make_golden.py    (needs torch; the values were made with 2.11.0)
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F

WORDS, WIDTH, HIDDEN, LABELS = 12, 6, 5, 9
# Four clusters of different sizes, in no order.
CLUSTER_OF_LABEL = [2, 0, 1, 2, 0, 3, 2, 1, 0]
CLUSTERS = 4
# The longest document first; 0 is the padding, which documents do not have.
DOCUMENTS = [[3, 5, 1, 9, 5, 2], [7, 4, 11, 8], [10]]
# The last document has labels in more clusters than are chosen.
TRUE_LABELS = [[0, 4], [2], [1, 5, 6]]
STATE = 2 * HIDDEN + WIDTH


def draw(*shape):
    """Numbers that 32 bits hold exactly."""
    return (torch.rand(*shape) * 2 - 1).mul(0.6).float().double().requires_grad_()


def states(vectors, lstm, first_state):
    """Both directions of an LSTM over one document, beside the words' own vectors."""
    module_order = ["w_ih", "w_hh", "b_ih", "b_hh"]
    outputs = []
    for direction, suffix in enumerate(["", "_reverse"]):
        w_ih, w_hh, b_ih, b_hh = (lstm[name + suffix] for name in module_order)
        h, c = first_state[direction], first_state[2 + direction]
        order = list(range(len(vectors)))
        of_words = [None] * len(vectors)
        for place in order if direction == 0 else order[::-1]:
            i, f, g, o = (w_ih @ vectors[place] + b_ih + w_hh @ h + b_hh).chunk(4)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            of_words[place] = h
        outputs.append(torch.stack(of_words))
    return torch.cat(outputs + [vectors], 1)


def context(h, w):
    return (torch.softmax(h @ w, 0)[:, None] * h).sum(0)


def through(layers, m, activation):
    for weight, bias in layers:
        m = activation(weight @ m + bias)
    return m


class Network:
    def __init__(self, case):
        rows = 4 * HIDDEN
        names = ["w_ih", "w_hh", "w_ih_reverse", "w_hh_reverse", "b_ih", "b_hh", "b_ih_reverse", "b_hh_reverse"]
        shapes = [(rows, WIDTH), (rows, HIDDEN)] * 2 + [(rows,)] * 4
        self.case = case
        self.words = draw(WORDS, WIDTH)
        self.words.data[0] = 0
        self.lstm = dict(zip(names, (draw(*shape) for shape in shapes)))
        self.first_state = draw(4, HIDDEN)
        self.generator_layers = self.stack([4, 3])
        self.generator_output = (draw(1, 3), draw(1))
        self.cluster_rows = draw(CLUSTERS, STATE + 3)
        self.layers = self.stack(case["layers"])
        self.last = case["layers"][-1]
        self.output = (draw(1, self.last), draw(1)) if case["shared_output"] else None
        self.label_rows = draw(LABELS, self.last + (STATE if case["context"] == "label" else 0))

    @staticmethod
    def stack(widths):
        layers, inputs = [], STATE
        for outputs in widths:
            layers.append((draw(outputs, inputs), draw(outputs)))
            inputs = outputs
        return layers

    def parameters(self):
        named = {"encoder.lstm": list(self.lstm.values()), "encoder.first_state": [self.first_state]}
        for part, layers, output in [("generator", self.generator_layers, self.generator_output),
                                     ("discriminator", self.layers, self.output)]:
            for number, (weight, bias) in enumerate(layers):
                named[f"head.{part}.layer.{number}.weight"] = [weight]
                named[f"head.{part}.layer.{number}.bias"] = [bias]
            if output:
                named[f"head.{part}.output.weight"], named[f"head.{part}.output.bias"] = [output[0]], [output[1]]
        named["head.generator.labels"] = [self.cluster_rows]
        named["labels"], named["words"] = [self.label_rows], [self.words]
        return named

    def of_clusters(self, h):
        logits = []
        for row in self.cluster_rows:
            z = through(self.generator_layers, context(h, row[:STATE]), torch.relu)
            logits.append((self.generator_output[0][0] + row[STATE:]) @ z + self.generator_output[1][0])
        return torch.stack(logits)

    def of_label(self, h, label):
        row = self.label_rows[label]
        if self.case["context"] == "label":
            m = context(h, row[:STATE])
        elif self.case["context"] == "cluster":
            m = context(h, self.cluster_rows[CLUSTER_OF_LABEL[label]][:STATE])
        else:
            m = h.mean(0)
        activation = {"relu": torch.relu, "sigmoid": torch.sigmoid, "none": lambda x: x}[self.case["activation"]]
        z = through(self.layers, m, activation)
        logit = row[-self.last:] @ z
        return logit if self.output is None else logit + self.output[0][0] @ z + self.output[1][0]


def best_clusters(probabilities, beam):
    return sorted(range(CLUSTERS), key=lambda cluster: -probabilities[cluster])[:beam]


def distinct(values):
    ordered = sorted(values)
    return all(above - below > 1e-3 for below, above in zip(ordered, ordered[1:]))


def network_without_ties(case):
    """Draws again until no two clusters or labels score so alike that rounding could swap them."""
    while True:
        network = Network(case)
        is_clear = True
        for document in DOCUMENTS:
            h = states(network.words[document], network.lstm, network.first_state)
            probabilities = network.of_clusters(h).sigmoid().tolist()
            scores = [network.of_label(h, label).sigmoid().item() * probabilities[CLUSTER_OF_LABEL[label]]
                      for label in range(LABELS)]
            is_clear = is_clear and distinct(probabilities) and distinct(scores)
        if is_clear:
            return network


def finish(case):
    network = network_without_ties(case)
    loss, of_clusters, of_candidates, candidates, scores = 0, [], [], [], []
    for document, truth in zip(DOCUMENTS, TRUE_LABELS):
        h = states(network.words[document], network.lstm, network.first_state)
        logits = network.of_clusters(h)
        true_clusters = {CLUSTER_OF_LABEL[label] for label in truth}
        probabilities = logits.sigmoid().tolist()
        chosen = best_clusters([p + 2 * (c in true_clusters) for c, p in enumerate(probabilities)], case["beam"])
        own = [label for label in range(LABELS) if CLUSTER_OF_LABEL[label] in chosen or label in truth]
        label_logits = torch.stack([network.of_label(h, label) for label in own])
        cluster_truth = torch.tensor([float(c in true_clusters) for c in range(CLUSTERS)], dtype=torch.float64)
        label_truth = torch.tensor([float(label in truth) for label in own], dtype=torch.float64)
        loss = loss + F.binary_cross_entropy_with_logits(logits, cluster_truth, reduction=case["loss"])
        loss = loss + F.binary_cross_entropy_with_logits(label_logits, label_truth, reduction=case["loss"])
        best = best_clusters(probabilities, case["beam"])
        ranked = [label for label in range(LABELS) if CLUSTER_OF_LABEL[label] in best]
        of_document = {label: (network.of_label(h, label).sigmoid() * probabilities[CLUSTER_OF_LABEL[label]]).item()
                       for label in ranked}
        scores.append(sorted(([label, short(score)] for label, score in of_document.items()), key=lambda one: -one[1]))
        of_clusters.append(flat([logits]))
        of_candidates.append(flat([label_logits]))
        candidates.append(own)
    loss = loss / len(DOCUMENTS)
    loss.backward()
    parameters = network.parameters()
    gradients = {name: flat([t.grad if t.grad is not None else torch.zeros_like(t) for t in tensors])
                 for name, tensors in parameters.items()}
    return {"settings": case, "parameters": {name: flat(tensors) for name, tensors in parameters.items()},
            "cluster_logits": of_clusters, "candidates": candidates, "candidate_logits": of_candidates,
            "scores": scores, "loss": short(loss.item()), "gradients": gradients}


def short(number):
    return float(f"{number:.10g}")


def flat(tensors):
    return [short(x) for t in tensors for x in t.detach().flatten().tolist()]


def main():
    torch.manual_seed(11)
    case = lambda context, layers, activation, shared_output, beam, loss: {
        "context": context, "layers": layers, "activation": activation, "shared_output": shared_output, "beam": beam,
        "loss": loss}
    cases = {
        "labels": case("label", [4], "relu", False, 2, "sum"),
        "labels_shared_output": case("label", [4, 3], "relu", True, 2, "sum"),
        "labels_mean": case("label", [3], "none", True, 1, "mean"),
        "labels_of_all_clusters": case("label", [4], "relu", True, 4, "sum"),
        "clusters": case("cluster", [4], "relu", True, 2, "sum"),
        "clusters_mean": case("cluster", [4, 3], "sigmoid", False, 1, "mean"),
        "document": case("document", [4], "sigmoid", False, 2, "sum"),
        "document_mean": case("document", [3], "relu", True, 3, "mean"),
    }
    golden = {"sizes": {"words": WORDS, "width": WIDTH, "hidden": HIDDEN, "labels": LABELS},
              "cluster_of_label": CLUSTER_OF_LABEL, "documents": DOCUMENTS, "true_labels": TRUE_LABELS,
              "cases": {name: finish(settings) for name, settings in cases.items()}}
    path = Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
