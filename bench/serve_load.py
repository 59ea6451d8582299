#!/usr/bin/env python3
"""Loads `plethora serve` from a second process and prints latency and throughput.

    python3 bench/serve_load.py target/release/plethora MODEL DOCUMENTS.jsonl --seconds 60

One client alone comes first, then many at once, over connections that stay open. Both ask for one
document a request. Answers of a sample are compared with those of `plethora predict`; those of networks
may differ in their last bits, which depend on the documents that are ranked together. CPU time of the
server says more than throughput where the machine does other things too.

`--unbatched` loads a server that ranks one document at a time too, `--flask PYTHON` one of Flask and PyTorch
with the same weights (`serve_flask.py`), and both print how many times better the first server is.
`--requests 100000` does that many requests instead and says whether the server's memory stays flat.

Exits with 1 where an answer is wrong, or fails with anything but 429, or memory grows.
"""

import argparse
import dataclasses
import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from load_clients import request_of, run_clients
from load_servers import Server

PATH = "/v1/models/m/predict"
TOP_K = 10
# Memory is flat if the least of the last fifth of the requests is no more than this share above the least of the second:
# in the first fifth buffers and allocators grow to what they need, and at most moments a batch is being computed.
GROWTH = 0.02


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("documents", help="JSON lines with the field `text`")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--requests", type=int, help="ask so many times, and look at memory alone")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="that each server computes with")
    parser.add_argument("--device", default="cpu", help="where each server computes")
    parser.add_argument("--dtype", default="auto", help="that Plethora computes with; Flask takes 32 bits")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="share by which scores may differ from `predict`")
    parser.add_argument("--unbatched", action="store_true", help="load a server with --max-batch 1 too")
    parser.add_argument("--flask", metavar="PYTHON", help="load serve_flask.py too, with this Python")
    parser.add_argument("--flask-workers", type=int, default=4, help="requests that Flask answers at the same time")
    parser.add_argument("--sample", type=int, default=20, help="answers compared with `predict`")
    parser.add_argument("--texts", type=int, default=500, help="different documents that are asked for")
    parser.add_argument("--serve-args", nargs=argparse.REMAINDER, default=[])
    return parser.parse_args()


def read_texts(path, limit):
    with open(path, encoding="utf-8") as lines:
        rows = (json.loads(line) for line in itertools.islice(lines, limit))
        return [row["text"] for row in rows]


def body_of(text):
    return json.dumps({"documents": [text], "top_k": TOP_K}).encode()


def ask(connection, body):
    connection.request("POST", PATH, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


@dataclasses.dataclass
class Figures:
    """What came of a load."""

    name: str
    answers: list
    elapsed: float
    cpu: float

    def __post_init__(self):
        self.times = sorted(seconds for status, seconds in self.answers if status == 200)
        if not self.times:
            sys.exit(f"{self.name}: no request was answered")
        self.refused = sum(status == 429 for status, _ in self.answers)
        self.failed = len(self.answers) - len(self.times) - self.refused

    @property
    def per_second(self):
        return len(self.times) / self.elapsed

    def at(self, share):
        """Milliseconds within which that share of the requests was answered."""
        return 1000 * self.times[min(len(self.times) - 1, int(share * len(self.times)))]

    def __str__(self):
        return (
            f"{self.name:>22}: {self.per_second:8.1f} documents/s   p50 {self.at(0.5):8.2f} ms   p99 {self.at(0.99):8.2f} ms"
            f"   {1000 * self.cpu / len(self.times):6.2f} ms of CPU each"
            f"   {len(self.times)} answers, {self.refused} refused (429), {self.failed} failed"
        )


def ask_all(server, bodies, clients, is_over):
    requests = [request_of(server.address, PATH, body) for body in bodies]
    cpu, begin = server.cpu_seconds(), time.perf_counter()
    answers = run_clients(server.address, requests, clients, is_over)
    name = f"{server.name}, {clients} client{'s' if clients > 1 else ''}"
    return Figures(name, answers, time.perf_counter() - begin, server.cpu_seconds() - cpu)


def load(server, bodies, clients, seconds):
    """Loads a server for some seconds, after a moment in which it warms up."""
    for length in [min(2, seconds), seconds]:
        end = time.perf_counter() + length
        figures = ask_all(server, bodies, clients, lambda: time.perf_counter() >= end)
    print(figures, flush=True)
    return figures


def computing(options):
    """Arguments of `predict` and `serve` alike."""
    return ["--threads", options.threads, "--device", options.device, "--dtype", options.dtype]


def start_plethora(options, *arguments, name="plethora"):
    arguments = [*computing(options), *options.serve_args, *arguments]
    return Server.of_plethora(options.program, options.model, *arguments, name=name)


def start_flask(options):
    arguments = ["--threads", options.threads, "--device", options.device, "--workers", options.flask_workers]
    return Server.of_flask(options.flask, options.model, *arguments)


def predictions(options, texts):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text}) + "\n")
        file.flush()
        command = [options.program, "predict", options.model, file.name, "--text-field", "text", "-k", TOP_K, "-q"]
        command += computing(options)
        done = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
    return [json.loads(line)["predictions"] for line in lines]


def count_wrong(server, texts, expected, tolerance):
    connection = http.client.HTTPConnection(server.address, timeout=60)
    answers = [json.loads(ask(connection, body_of(text))[1])["results"][0]["predictions"] for text in texts]
    wrong = sum(not is_close(answer, own, tolerance) for answer, own in zip(answers, expected, strict=True))
    print(f"{server.name}: {len(texts)} answers compared with `predict`, {wrong} differ", flush=True)
    return wrong


def is_close(answer, expected, tolerance):
    """True if scores are equal rank by rank, and so are labels but for those that tie."""
    near = lambda one, other: abs(one - other) <= tolerance * max(one, other)
    scores = {label["key"]: label["score"] for label in expected}
    last = min(scores.values(), default=0)
    return len(answer) == len(expected) and all(
        near(own["score"], other["score"]) and near(own["score"], scores.get(own["key"], last))
        for own, other in zip(answer, expected)
    )


def watch_memory(server, bodies, options):
    """Does so many requests and returns failures, and whether memory grew."""
    fifths = [[] for _ in range(5)]
    done = 0

    def is_over():
        nonlocal done
        done += 1
        if done % max(1, options.requests // 500) == 0:
            fifths[min(4, 5 * done // options.requests)].append(server.memory_mib())
        # Those that are on their way are still answered.
        return done > options.requests - options.clients

    figures = ask_all(server, bodies, options.clients, is_over)
    print(figures)
    for name, of in [("least", min), ("median", statistics.median), ("most", max)]:
        print(f"{name:>8} memory in each fifth of the requests, MiB: " + ", ".join(f"{of(sizes):.1f}" for sizes in fifths))
    growth = min(fifths[4]) / min(fifths[1]) - 1
    verdict = "flat" if growth <= GROWTH else "NOT FLAT"
    print(f"least memory, from the second fifth to the last: {100 * growth:+.2f} %, {verdict}")
    return figures.failed, growth > GROWTH


def show_gain(first, second):
    throughput, p99 = first.per_second / second.per_second, second.at(0.99) / first.at(0.99)
    print(f"{first.name} / {second.name}: {throughput:.2f} times the throughput, p99 {p99:.2f} times shorter")


def compare_servers(options, texts, bodies):
    """Loads one server after the other; returns wrong answers and failed requests."""
    sample = texts[: options.sample]
    expected = predictions(options, sample)
    with start_plethora(options) as server:
        wrong = count_wrong(server, sample, expected, options.tolerance)
        single = load(server, bodies, 1, options.seconds)
        before = server.memory_mib()
        many = load(server, bodies, options.clients, options.seconds)
        print(f"{many.per_second / single.per_second:.2f} times the throughput of one client; "
              f"memory {before:.0f} MiB, then {server.memory_mib():.0f} MiB")  # fmt: skip
    failed = single.failed + many.failed
    others = [lambda: start_plethora(options, "--max-batch", 1, name="plethora unbatched")] if options.unbatched else []
    others += [lambda: start_flask(options)] if options.flask else []
    for start in others:
        with start() as server:
            wrong += count_wrong(server, sample, expected, options.tolerance)
            other = load(server, bodies, options.clients, options.seconds)
        show_gain(many, other)
        failed += other.failed
    return wrong, failed


def main():
    options = arguments()
    texts = read_texts(options.documents, options.texts)
    bodies = [body_of(text) for text in texts]
    print(f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {options.threads} threads a server")
    if options.requests:
        with start_plethora(options) as server:
            problems = watch_memory(server, bodies, options)
    else:
        problems = compare_servers(options, texts, bodies)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    sys.exit(1 if any(problems) else 0)


if __name__ == "__main__":
    main()
