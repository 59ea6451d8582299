"""Writes golden.json: logits, losses and gradients of small TReaderXML networks as PyTorch computes them.

The network is written down here once more, from the paper's formulas and the settings that depart from
them, one document at a time and in 64 bits: no padding, no masks but the triangular one, no heads
computed together.

Usage: python make_golden.py    (needs torch; the values were made with 2.11.0)
"""

import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F

WORDS, WIDTH, HEADS, LABELS, KNOWN, BOTTLENECK, LONGEST = 12, 6, 2, 7, 9, 5, 8
VOTE_UNIT, VOTES_OF_ALL, NORM_EPS = 0.01, 0.1, 1e-5
# 0 is the padding and 1 the unknown word.
DOCUMENTS = [[3, 5, 1, 9, 5, 2], [7, 4, 11, 8], [10]]
TRUE_LABELS = [[0, 4], [2], [1, 5, 6]]
# Words of the names of seven labels and of two parents that are none.
NAMES = [[2, 3], [4], [5, 6, 7], [1, 8], [9], [10, 2], [11], [3, 4, 5], [6]]
# What neighbours bring: labels or parents with their votes, most first; the last document has none.
TOKENS = [[(4, 0.75), (7, 0.5), (0, 0.25), (2, 0.125)], [(8, 1.0), (2, 0.5)], []]
# Share of the training documents that have each label.
FREQUENCIES = [0.5, 0.25, 0.125, 0.25, 0.0625, 0.5, 0.03125]
VOTES = [[(0, 0.25), (2, 0.125), (4, 0.75)], [(2, 0.5), (3, 0.0625)], []]


def draw(*shape):
    """Numbers that 32 bits hold exactly."""
    return (torch.rand(*shape) * 2 - 1).mul(0.6).float().double().requires_grad_()


class Network:
    def __init__(self, settings):
        self.s = settings
        self.p = {}
        words = self.make("words", WORDS, WIDTH)
        words.data[0] = 0
        sides = ["text"] + (["teacher"] if settings["used"] else [])
        for side in sides:
            for step in ["first", "second"]:
                if settings[step] != "none":
                    self.attention_parameters(f"{side}.{step}", False)
            if settings["cross"] and settings["used"]:
                self.attention_parameters(f"{side}.cross", True)
            if settings["masked"] and side == "teacher":
                self.attention_parameters("joint", False)
            if settings["norm"]:
                self.norm_parameters(f"{side}.norm")
            if settings["pooling"] == "attention":
                self.make(f"{side}.pooling", WIDTH)
        if settings["positions"]:
            self.make("text.positions", LONGEST, WIDTH)
        if settings["used"]:
            self.make("teacher.start", WIDTH)
            if settings["weights"] and settings["tokens"] == "labels":
                self.make("teacher.weight", WIDTH)
            if settings["label_vectors"] and settings["tokens"] == "labels":
                self.make("label_vectors", KNOWN, WIDTH)
            if settings["prior"]:
                self.make("head.prior", 1)
            if settings["own_scores"]:
                if settings["norm"]:
                    self.norm_parameters("teacher.score.norm")
                self.make("teacher.score.hidden", WIDTH, WIDTH)
                self.make("teacher.score.bias", WIDTH)
                self.make("teacher.score.output", WIDTH)
        self.make("head.bottleneck.weight", BOTTLENECK, len(sides) * WIDTH)
        self.make("head.bottleneck.bias", BOTTLENECK)
        self.make("head.outputs", LABELS, BOTTLENECK)
        self.make("head.output_bias", LABELS)

    def make(self, name, *shape):
        self.p[name] = draw(*shape)
        return self.p[name]

    def norm_parameters(self, name):
        self.make(f"{name}.weight", WIDTH)
        self.make(f"{name}.bias", WIDTH)

    def attention_parameters(self, name, to_other):
        self.make(f"{name}.query", WIDTH, WIDTH)
        self.make(f"{name}.key_value", 2 * WIDTH, WIDTH)
        self.make(f"{name}.output", WIDTH, WIDTH)
        if self.s["norm"]:
            self.norm_parameters(f"{name}.norm")
            if to_other:
                self.norm_parameters(f"{name}.other_norm")

    def norm(self, name, x):
        if not self.s["norm"]:
            return x
        mean = x.mean(1, keepdim=True)
        variance = ((x - mean) ** 2).mean(1, keepdim=True)
        return (x - mean) / (variance + NORM_EPS).sqrt() * self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def attention(self, name, own, other, look):
        """Equations 3 to 13, each head for itself."""
        q = own @ self.p[f"{name}.query"].t()
        keys, values = self.p[f"{name}.key_value"].chunk(2, 0)
        k, v = other @ keys.t(), other @ values.t()
        d = WIDTH // HEADS
        heads = []
        for head in range(HEADS):
            part = slice(head * d, (head + 1) * d)
            score = q[:, part] @ k[:, part].t() / math.sqrt(d)
            if look == "masked":
                ones = torch.ones_like(score)
                seen = ones.tril() if self.s["mask"] == "future" else ones.triu()
                score = score.masked_fill(seen == 0, float("-inf"))
            heads.append(torch.softmax(score, 1) @ v[:, part])
        output = torch.cat(heads, 1) @ self.p[f"{name}.output"].t()
        return torch.tanh(output) if self.s["tanh"] else output

    def read(self, side, x):
        for step, adds in [("first", self.s["residual"] != "none"), ("second", self.s["residual"] == "both")]:
            look = self.s[step]
            if look == "none":
                continue
            own = self.norm(f"{side}.{step}.norm", x)
            found = self.attention(f"{side}.{step}", own, own, look)
            x = x + found if adds else found
        return x

    def tokens(self, tokens):
        start = self.p["teacher.start"].unsqueeze(0)
        if self.s["tokens"] == "positions":
            names = [NAMES[known] for known, _ in tokens]
            rows = [start]
            for place in range(max((len(name) for name in names), default=0)):
                vectors = [self.p["words"][name[place]] for name in names if place < len(name)]
                rows.append(torch.stack(vectors).sum(0, keepdim=True) / len(names))
            return torch.cat(rows)
        rows = [start]
        for known, votes in tokens:
            row = torch.zeros(WIDTH, dtype=torch.float64)
            if self.s["label_text"]:
                row = row + self.p["words"][NAMES[known]].mean(0)
            if self.s["label_vectors"]:
                row = row + self.p["label_vectors"][known]
            if self.s["weights"]:
                strength = math.log(1 + votes / VOTE_UNIT) / math.log(1 + 1 / VOTE_UNIT)
                row = row + strength * self.p["teacher.weight"]
            rows.append(row.unsqueeze(0))
        return torch.cat(rows)

    def pool(self, side, x):
        x = self.norm(f"{side}.norm", x)
        if self.s["pooling"] == "max":
            return x.max(0).values
        if self.s["pooling"] == "mean":
            return x.mean(0)
        return torch.softmax(x @ self.p[f"{side}.pooling"], 0) @ x

    def logits(self, number):
        text = self.p["words"][DOCUMENTS[number]]
        if self.s["positions"]:
            text = text + self.p["text.positions"][:len(text)]
        text = self.read("text", text)
        if self.s["used"]:
            labels = self.read("teacher", self.tokens(TOKENS[number]))
            if self.s["cross"]:
                sides = [("text", text, labels), ("teacher", labels, text)]
                text, labels = [
                    own + self.attention(f"{side}.cross", self.norm(f"{side}.cross.norm", own),
                                         self.norm(f"{side}.cross.other_norm", other), "full")
                    for side, own, other in sides]
            if self.s["masked"]:
                both = torch.cat([labels, text])
                own = self.norm("joint.norm", both)
                found = self.attention("joint", own, own, "masked")
                both = both + found if self.s["residual"] != "none" else found
                labels, text = both[:len(labels)], both[len(labels):]
            vector = torch.cat([self.pool("teacher", labels), self.pool("text", text)])
        else:
            vector = self.pool("text", text)
        hidden = self.p["head.bottleneck.weight"] @ vector + self.p["head.bottleneck.bias"]
        if self.s["activation"] == "relu":
            hidden = torch.relu(hidden)
        elif self.s["activation"] == "sigmoid":
            hidden = torch.sigmoid(hidden)
        logits = self.p["head.outputs"] @ hidden + self.p["head.output_bias"]
        if self.s["used"] and self.s["prior"]:
            raised = torch.zeros(LABELS, dtype=torch.float64)
            for label, votes in VOTES[number]:
                raised[label] = math.log((votes + VOTES_OF_ALL * FREQUENCIES[label]) / (VOTES_OF_ALL * FREQUENCIES[label]))
            logits = logits + self.p["head.prior"] * raised
        if self.s["used"] and self.s["own_scores"]:
            scored = [torch.zeros((), dtype=torch.float64)] * LABELS
            states = self.norm("teacher.score.norm", labels)
            for place, (known, _) in enumerate(TOKENS[number]):
                if known in [label for label, _ in VOTES[number]]:
                    hidden = torch.relu(self.p["teacher.score.hidden"] @ states[1 + place] + self.p["teacher.score.bias"])
                    scored[known] = self.p["teacher.score.output"] @ hidden
            logits = logits + torch.stack(scored)
        return logits

    def case(self):
        logits = [self.logits(number) for number in range(len(DOCUMENTS))]
        loss = 0
        for number, of_document in enumerate(logits):
            truth = torch.tensor([float(label in TRUE_LABELS[number]) for label in range(LABELS)], dtype=torch.float64)
            y = torch.softmax(of_document, 0) if self.s["output"] == "softmax" else of_document
            # Equation 19 with the brackets that it lacks.
            loss = loss - (truth * torch.log(1 / (1 + torch.exp(-y)))
                           + (1 - truth) * torch.log(torch.exp(-y) / (1 + torch.exp(-y)))).sum()
        loss = loss / len(logits)
        loss.backward()
        flat = lambda t: [float(f"{x:.10g}") for x in t.detach().flatten().tolist()]
        gradients = {name: flat(t.grad if t.grad is not None else torch.zeros_like(t)) for name, t in self.p.items()}
        return {"settings": self.s, "parameters": {name: flat(t) for name, t in self.p.items()},
                "logits": [flat(of_document) for of_document in logits],
                "loss": float(f"{loss.item():.10g}"), "gradients": gradients}


FULL = {"used": True, "first": "masked", "second": "full", "residual": "both", "norm": True, "tanh": False,
        "mask": "future", "positions": False, "cross": True, "masked": False, "pooling": "attention", "activation": "relu",
        "tokens": "labels", "label_text": True, "label_vectors": True, "weights": True, "prior": True, "own_scores": True,
        "output": "sigmoid"}


def main():
    torch.manual_seed(11)
    changes = {
        "full": {},
        "paper": {"residual": "first", "norm": False, "tanh": True, "mask": "past", "cross": False, "pooling": "mean",
                  "activation": "none", "tokens": "positions", "prior": False, "own_scores": False,
                  "output": "softmax"},
        "text_alone": {"used": False, "positions": True, "pooling": "max"},
        "turned_round": {"first": "full", "second": "masked", "residual": "first", "norm": False, "label_text": False,
                         "weights": False, "activation": "sigmoid"},
        "without_residual": {"residual": "none", "label_vectors": False, "cross": False, "own_scores": False},
        "without_reading": {"first": "none", "second": "none", "cross": False, "prior": False},
        "one_look": {"second": "none", "mask": "past"},
        "masked_interaction": {"cross": False, "masked": True, "norm": False},
        "masked_past": {"masked": True, "mask": "past", "residual": "none", "own_scores": False},
    }
    golden = {"sizes": {"words": WORDS, "width": WIDTH, "heads": HEADS, "labels": LABELS, "bottleneck": BOTTLENECK,
                        "longest": LONGEST},
              "documents": DOCUMENTS, "true_labels": TRUE_LABELS, "names": NAMES, "tokens": TOKENS, "votes": VOTES,
              "frequencies": FREQUENCIES,
              "cases": {name: Network({**FULL, **change}).case() for name, change in changes.items()}}
    path = Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
