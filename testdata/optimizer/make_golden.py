"""Writes golden.json: what PyTorch's optimizers make of given gradients, step by step.

AdamW for dense parameters, also with a larger epsilon, and, at another rate, for label matrices; SparseAdam for the rows of a table; and Adam
on the same table with zeros for rows not met, whose row 0 is met at every step.

Run with `cargo xtask golden`.
"""

import json
import pathlib

import numpy as np
import torch

rng = np.random.default_rng(31)
torch.sparse.check_sparse_tensor_invariants.enable()
RATE, LABEL_RATE, WEIGHT_DECAY, STEPS = 0.01, 0.25, 0.1, 12
LARGE_EPSILON = 1e-6


def draw(*shape):
    # Gradients of very different sizes, down to where epsilon counts.
    return (rng.normal(size=shape) * 10.0 ** rng.integers(-8, 2, size=shape)).astype(np.float32)


def digits(array):
    return np.vectorize(lambda value: float(f"{value:.9g}"))(np.asarray(array, dtype=np.float64)).tolist()


def dense_case(width, rate, epsilon=1e-8):
    start = rng.normal(size=width).astype(np.float32)
    gradients = draw(STEPS, width)
    parameter = torch.nn.Parameter(torch.tensor(start))
    optimizer = torch.optim.AdamW([parameter], lr=rate, weight_decay=WEIGHT_DECAY, eps=epsilon, foreach=False)
    after = []
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
        after.append(digits(parameter.detach().numpy()))
    return {"start": digits(start), "gradients": digits(gradients), "after": after}


def row_case(num_rows, width):
    start = rng.normal(size=(num_rows, width)).astype(np.float32)
    sparse, dense = torch.nn.Parameter(torch.tensor(start)), torch.nn.Parameter(torch.tensor(start))
    sparse_adam = torch.optim.SparseAdam([sparse], lr=RATE)
    adam = torch.optim.Adam([dense], lr=RATE, foreach=False)
    case = {"start": digits(start), "rows": [], "gradients": [], "after": [], "dense_row_0": []}
    for step in range(1, STEPS + 1):
        rows = rng.choice(np.arange(1, num_rows), size=2, replace=False).tolist() + [0]
        gradient = draw(len(rows), width)
        # SparseAdam, unlike Adam, leaves epsilon out of the bias correction.
        sparse_adam.param_groups[0]["eps"] = 1e-8 * (1 - 0.999**step) ** 0.5
        sparse.grad = torch.sparse_coo_tensor([rows], torch.tensor(gradient), (num_rows, width))
        sparse_adam.step()
        dense.grad = torch.zeros(num_rows, width)
        dense.grad[rows] = torch.tensor(gradient)
        adam.step()
        case["rows"].append(rows)
        case["gradients"].append(digits(gradient))
        case["after"].append(digits(sparse.detach().numpy()))
        case["dense_row_0"].append(digits(dense.detach().numpy()[0]))
    return case


golden = {
    "rate": RATE,
    "label_rate": LABEL_RATE,
    "weight_decay": WEIGHT_DECAY,
    "dense": dense_case(6, RATE),
    "labels": dense_case(4, RATE * LABEL_RATE),
    "rows": row_case(6, 3),
    "epsilon": LARGE_EPSILON,
    "large_epsilon": dense_case(6, RATE, LARGE_EPSILON),
}
path = pathlib.Path(__file__).with_name("golden.json")
path.write_text(json.dumps(golden) + "\n")
