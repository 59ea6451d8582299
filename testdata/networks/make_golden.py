"""Writes golden.json: logits, losses and gradients of small networks as PyTorch computes them.

Each network is written down here once more, straight from its paper's formulas, one document at a
time and in 64 bits: no padding, no packing, no chunks, no rearranged products.

Usage: python make_golden.py    (needs torch; the values were made with 2.11.0)
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F

WORDS, WIDTH, HIDDEN, LABELS = 12, 6, 5, 7
# The longest document first; 0 is the padding, which documents do not have.
DOCUMENTS = [[3, 5, 1, 9, 5, 2], [7, 4, 11, 8], [10]]
TRUE_LABELS = [[0, 4], [2], [1, 5, 6]]
# Other candidates for each document, as many as it likes.
CANDIDATES = [[0, 3, 4, 6], [5, 2], [1, 6, 5]]


def draw(*shape):
    """Numbers that 32 bits hold exactly."""
    return (torch.rand(*shape) * 2 - 1).mul(0.6).float().double().requires_grad_()


def word_vectors():
    """The padding is zero."""
    vectors = draw(WORDS, WIDTH)
    vectors.data[0] = 0
    return vectors


def lstm_parameters():
    rows = 4 * HIDDEN
    names = ["w_ih", "w_hh", "w_ih_reverse", "w_hh_reverse", "b_ih", "b_hh", "b_ih_reverse", "b_hh_reverse"]
    shapes = [(rows, WIDTH), (rows, HIDDEN)] * 2 + [(rows,)] * 4
    return dict(zip(names, (draw(*shape) for shape in shapes))), draw(4, HIDDEN)


def states(vectors, lstm, first_state):
    """Both directions of an LSTM over one document, word by word."""
    outputs = []
    for direction, suffix in enumerate(["", "_reverse"]):
        h, c = first_state[direction], first_state[2 + direction]
        order = range(len(vectors)) if direction == 0 else reversed(range(len(vectors)))
        of_words = [None] * len(vectors)
        for place in order:
            gates = (lstm["w_ih" + suffix] @ vectors[place] + lstm["b_ih" + suffix]
                     + lstm["w_hh" + suffix] @ h + lstm["b_hh" + suffix])
            i, f, g, o = gates.chunk(4)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            of_words[place] = h
        outputs.append(torch.stack(of_words))
    return torch.cat(outputs, 1)


def check_against_module(vectors, lstm, first_state):
    """The LSTM above is torch.nn.LSTM."""
    module = torch.nn.LSTM(WIDTH, HIDDEN, bidirectional=True).double()
    for name, value in lstm.items():
        kind = {"w": "weight", "b": "bias"}[name[0]]
        getattr(module, kind + name[1:].replace("_ih", "_ih_l0").replace("_hh", "_hh_l0")).data.copy_(value)
    first = first_state.view(4, 1, HIDDEN)
    output, _ = module(vectors.unsqueeze(1), (first[:2].contiguous(), first[2:].contiguous()))
    assert torch.allclose(output.squeeze(1), states(vectors, lstm, first_state))


def attention_logits(h, rows, layers, output, label_outputs, label_bias):
    """One row of numbers a label: attention vector, own output weights, own bias."""
    width = h.shape[1]
    logits = []
    for row in rows:
        alpha = torch.softmax(h @ row[:width], 0)
        z = (alpha[:, None] * h).sum(0)
        for weight, bias in layers:
            z = torch.relu(weight @ z + bias)
        logit = output[0][0] @ z + output[1][0]
        column = width
        if label_outputs:
            logit = logit + row[column:column + len(z)] @ z
            column += len(z)
        if label_bias:
            logit = logit + row[column]
        logits.append(logit)
    return torch.stack(logits)


def attention_case(widths, skip, label_outputs, label_bias, candidates):
    words = word_vectors()
    lstm, first_state = lstm_parameters()
    width = 2 * HIDDEN + (WIDTH if skip else 0)
    layers, inputs = [], width
    for outputs in widths:
        layers.append((draw(outputs, inputs), draw(outputs)))
        inputs = outputs
    output = (draw(1, inputs), draw(1))
    columns = width + (inputs if label_outputs else 0) + int(label_bias)
    rows = draw(LABELS, columns)
    logits = []
    for number, document in enumerate(DOCUMENTS):
        vectors = words[document]
        check_against_module(vectors.detach(), {k: v.detach() for k, v in lstm.items()}, first_state.detach())
        h = states(vectors, lstm, first_state)
        if skip:
            h = torch.cat([h, vectors], 1)
        own = rows[candidates[number]] if candidates else rows
        logits.append(attention_logits(h, own, layers, output, label_outputs, label_bias))
    parameters = {"encoder.lstm": list(lstm.values()), "encoder.first_state": [first_state]}
    for number, (weight, bias) in enumerate(layers):
        parameters[f"head.layer.{number}.weight"] = [weight]
        parameters[f"head.layer.{number}.bias"] = [bias]
    parameters["head.output.weight"], parameters["head.output.bias"] = [output[0]], [output[1]]
    parameters["labels" if candidates else "head.labels"] = [rows]
    parameters["words"] = [words]
    settings = {"layers": widths, "word_skip": skip, "label_outputs": label_outputs, "label_bias": label_bias}
    return finish(settings, parameters, logits, candidates)


def all_labels_case(encode, encoder_parameters, width, words, layer_width, settings):
    layer = (draw(layer_width, width), draw(layer_width))
    outputs, bias = draw(LABELS, layer_width), draw(LABELS)
    logits = [outputs @ torch.relu(layer[0] @ encode(words[document]) + layer[1]) + bias for document in DOCUMENTS]
    parameters = dict(encoder_parameters)
    parameters.update({"head.layer.0.weight": [layer[0]], "head.layer.0.bias": [layer[1]],
                       "head.outputs": [outputs], "head.output_bias": [bias], "words": [words]})
    return finish({"layers": [layer_width], **settings}, parameters, logits, None)


def xml_rnn_case():
    lstm, first_state = lstm_parameters()
    encode = lambda vectors: states(vectors, lstm, first_state).max(0).values
    parameters = {"encoder.lstm": list(lstm.values()), "encoder.first_state": [first_state]}
    return all_labels_case(encode, parameters, 2 * HIDDEN, word_vectors(), 4, {})


def xml_cnn_case():
    windows, filters, pools = [2, 3], 3, 2
    groups = [(draw(filters, WIDTH, window), draw(filters)) for window in windows]

    def encode(vectors):
        parts = []
        for window, (weight, bias) in zip(windows, groups):
            padded = F.pad(vectors.t().unsqueeze(0), (0, window - 1))
            answers = torch.relu(F.conv1d(padded, weight, bias))
            parts.append(F.adaptive_max_pool1d(answers, pools).flatten())
        return torch.cat(parts)

    parameters = {}
    for number, (weight, bias) in enumerate(groups):
        parameters[f"encoder.filters.{number}"] = [weight]
        parameters[f"encoder.filter_bias.{number}"] = [bias]
    settings = {"windows": windows, "filters": filters, "pools": pools}
    return all_labels_case(encode, parameters, len(windows) * filters * pools, word_vectors(), 4, settings)


def finish(settings, parameters, logits, candidates):
    loss = 0
    for number, of_document in enumerate(logits):
        labels = candidates[number] if candidates else range(LABELS)
        truth = torch.tensor([float(label in TRUE_LABELS[number]) for label in labels], dtype=torch.float64)
        loss = loss + F.binary_cross_entropy_with_logits(of_document, truth, reduction="sum")
    loss = loss / len(logits)
    loss.backward()
    flat = lambda tensors: [float(f"{x:.10g}") for t in tensors for x in t.detach().flatten().tolist()]
    gradients = {name: flat([t.grad if t.grad is not None else torch.zeros_like(t) for t in tensors])
                 for name, tensors in parameters.items()}
    return {"settings": settings, "candidates": candidates,
            "parameters": {name: flat(tensors) for name, tensors in parameters.items()},
            "logits": [flat([of_document]) for of_document in logits],
            "loss": float(f"{loss.item():.10g}"), "gradients": gradients}


def main():
    torch.manual_seed(7)
    cases = {
        "attentionxml": attention_case([4], False, False, False, None),
        "attentionxml_extended": attention_case([4, 3], True, True, True, None),
        "plt_level": attention_case([4, 3], True, True, True, CANDIDATES),
        "xml_rnn": xml_rnn_case(),
        "xml_cnn": xml_cnn_case(),
    }
    golden = {"sizes": {"words": WORDS, "width": WIDTH, "hidden": HIDDEN, "labels": LABELS},
              "documents": DOCUMENTS, "true_labels": TRUE_LABELS, "cases": cases}
    path = Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
