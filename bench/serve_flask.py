#!/usr/bin/env python3
"""Serves an AttentionXML model of Plethora as people do it without: Flask, waitress and PyTorch.

    python3 bench/serve_flask.py MODEL [--port 8081] [--threads 2] [--workers 4]

A request is one pass through the network, and answers have the form of `POST /v1/models/{id}/predict`, so that
the clients of `serve_load.py` ask both. Prints its address once it listens. Needs flask, waitress, torch and
safetensors, and a model of the system attentionxml that is not calibrated. Words are those of Plethora but for
Han and combining marks, which the generated catalogue does not have.
"""

import argparse
import json
import logging
import re
import sys
import unicodedata
from pathlib import Path

import flask
import torch
import waitress
from safetensors.torch import load_file
from torch import nn

UNKNOWN, FIRST_WORD = 1, 2
WEIGHTS = "tree-0.level-0.safetensors"
# In the order in which they lie in Plethora's file.
LSTM_PARTS = [
    "weight_ih_l0", "weight_hh_l0", "weight_ih_l0_reverse", "weight_hh_l0_reverse",
    "bias_ih_l0", "bias_hh_l0", "bias_ih_l0_reverse", "bias_hh_l0_reverse",
]  # fmt: skip


class AttentionXml(nn.Module):
    """As PyTorch users write it, for one document."""

    def __init__(self, config, num_words, num_labels):
        super().__init__()
        width, hidden = config["vectors"]["width"], config["encoder"]["hidden"]
        widths = config["head"]["layers"]
        self.has_word_skip = config["encoder"]["word_skip"]
        self.words = nn.Embedding(num_words, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.first_state = nn.Parameter(torch.zeros(4, 1, hidden))
        state = 2 * hidden + (width if self.has_word_skip else 0)
        self.attention = nn.Linear(state, num_labels, bias=False)
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in zip([state, *widths], widths))
        self.output = nn.Linear(widths[-1], 1)
        has_own, has_bias = config["head"]["label_outputs"], config["head"]["label_bias"]
        self.own_outputs = nn.Parameter(torch.zeros(num_labels, widths[-1])) if has_own else None
        self.own_bias = nn.Parameter(torch.zeros(num_labels)) if has_bias else None

    def forward(self, words):
        """From 1 x words to the logits of all labels."""
        vectors = self.words(words)
        states, _ = self.lstm(vectors, (self.first_state[:2], self.first_state[2:]))
        if self.has_word_skip:
            states = torch.cat([states, vectors], -1)
        scores = self.attention(states).transpose(1, 2)
        hidden = torch.softmax(scores, -1) @ states
        for layer in self.layers:
            hidden = torch.relu(layer(hidden))
        logits = self.output(hidden).squeeze(-1)
        if self.own_outputs is not None:
            logits = logits + (hidden * self.own_outputs).sum(-1)
        if self.own_bias is not None:
            logits = logits + self.own_bias
        return logits.squeeze(0)


def fill(network, arrays):
    """Takes the weights of a model folder, where every array is one row."""
    state = dict(network.state_dict())
    row = arrays["encoder.lstm"]
    for name in LSTM_PARTS:
        part = state[f"lstm.{name}"]
        part.copy_(row[: part.numel()].view_as(part))
        row = row[part.numel() :]
    columns = [state["attention.weight"]]
    columns += [state[name].view(len(columns[0]), -1) for name in ["own_outputs", "own_bias"] if name in state]
    rows = arrays["head.labels"].view(len(columns[0]), -1)
    for column, values in zip(columns, rows.split([column.shape[1] for column in columns], 1)):
        column.copy_(values)
    names = {"words.weight": "words", "first_state": "encoder.first_state"}
    for name in state:
        if name.startswith(("layers.", "output.")):
            names[name] = "head." + name.replace("layers.", "layer.")
    for name, theirs in names.items():
        state[name].copy_(arrays[theirs].view_as(state[name]))


class Model:
    """From texts to ranked labels."""

    def __init__(self, folder, device):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config["system"] != "attentionxml" or (folder / "calibration.json").exists():
            sys.exit(f"{folder}: expected a model of the system attentionxml that is not calibrated")
        self.tokenizer, self.max_length = config["words"]["tokenizer"], config["words"]["max_length"]
        with open(folder / "words.txt", encoding="utf-8") as lines:
            self.rows = {line.rstrip("\n"): number for number, line in enumerate(lines, FIRST_WORD)}
        with open(folder / "labels.jsonl", encoding="utf-8") as lines:
            self.labels = [json.loads(line) for line in lines]
        self.network = AttentionXml(config, len(self.rows) + FIRST_WORD, len(self.labels)).eval()
        with torch.no_grad():
            fill(self.network, load_file(folder / WEIGHTS))
        self.device = torch.device(device)
        self.network.to(self.device)

    def sequence(self, text):
        if self.tokenizer["normalize"]:
            text = unicodedata.normalize("NFKC", text)
        if self.tokenizer["lowercase"]:
            text = text.lower()
        words = re.findall(r"\w+", text)[: self.max_length]
        return [self.rows.get(word, UNKNOWN) for word in words] or [UNKNOWN]

    def rank(self, text, top_k):
        with torch.no_grad():
            logits = self.network(torch.tensor([self.sequence(text)], device=self.device))
            scores, labels = torch.sigmoid(logits).topk(min(top_k, len(self.labels)))
        return [
            {"label": self.labels[label]["name"], "key": self.labels[label]["key"], "score": score, "label_id": label}
            for score, label in zip(scores.tolist(), labels.tolist())
        ]


def make_app(model):
    app = flask.Flask(__name__)

    @app.post("/v1/models/<name>/predict")
    def predict(name):
        request = flask.request.get_json()
        rankings = [model.rank(text, request.get("top_k", 10)) for text in request["documents"]]
        return flask.jsonify(model=name, results=[{"predictions": ranking} for ranking in rankings])

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="that PyTorch computes with")
    parser.add_argument("--workers", type=int, default=4, help="requests that are answered at the same time")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    # It would tell of every request that waits.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    app = make_app(Model(options.model, options.device))
    server = waitress.create_server(app, host="127.0.0.1", port=options.port, threads=options.workers)
    print(f"http://127.0.0.1:{server.effective_port}", flush=True)
    server.run()


if __name__ == "__main__":
    main()
