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
import threading
import time

from load_servers import Server

TOP_K = 10
# Memory is flat if the last fifth of the requests takes no more than this share above the second fifth: in the first,
# buffers and allocators grow to what they need.
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
    connection.request("POST", "/v1/models/m/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def client(address, bodies, is_over, result):
    """Asks until it is over. A connection that breaks is a failure, and the next request opens another."""
    connection = http.client.HTTPConnection(address, timeout=60)
    for body in bodies:
        if is_over():
            break
        before = time.perf_counter()
        try:
            status, _ = ask(connection, body)
        except (OSError, http.client.HTTPException):
            connection.close()
            status = 0
        result.append((status, time.perf_counter() - before))
    connection.close()


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


def run_clients(server, bodies, clients, is_over):
    """Loads a server; each client asks for other documents first."""
    results = [[] for _ in range(clients)]
    cpu, begin = server.cpu_seconds(), time.perf_counter()
    threads = []
    for number, result in enumerate(results):
        own = itertools.islice(itertools.cycle(bodies), 7 * number % len(bodies), None)
        threads.append(threading.Thread(target=client, args=(server.address, own, is_over, result)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    name = f"{server.name}, {clients} client{'s' if clients > 1 else ''}"
    return Figures(name, list(itertools.chain(*results)), time.perf_counter() - begin, server.cpu_seconds() - cpu)


def load(server, bodies, clients, seconds):
    """Loads a server for some seconds, after a moment in which it warms up."""
    for length in [min(2, seconds), seconds]:
        end = time.perf_counter() + length
        figures = run_clients(server, bodies, clients, lambda: time.perf_counter() >= end)
    print(figures, flush=True)
    return figures


def predictions(options, texts):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text}) + "\n")
        file.flush()
        command = [options.program, "predict", options.model, file.name, "--text-field", "text", "-k", str(TOP_K), "-q"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line)["predictions"] for line in lines]


def count_wrong(server, texts, expected):
    connection = http.client.HTTPConnection(server.address, timeout=60)
    answers = [json.loads(ask(connection, body_of(text))[1])["results"][0]["predictions"] for text in texts]
    wrong = sum(not is_close(answer, own) for answer, own in zip(answers, expected, strict=True))
    print(f"{server.name}: {len(texts)} answers compared with `predict`, {wrong} differ", flush=True)
    return wrong


def is_close(answer, expected):
    """True if scores are equal rank by rank, and so are labels but for those that tie."""
    near = lambda one, other: abs(one - other) <= 1e-5 * max(one, other)
    scores = {label["key"]: label["score"] for label in expected}
    last = min(scores.values(), default=0)
    return len(answer) == len(expected) and all(
        near(own["score"], other["score"]) and near(own["score"], scores.get(own["key"], last))
        for own, other in zip(answer, expected)
    )


def watch_memory(server, bodies, options):
    """Does so many requests and returns failures, and whether memory grew."""
    numbers = itertools.count(1)
    is_done = threading.Event()
    done, sizes = 0, []

    def is_over():
        nonlocal done
        done = next(numbers)
        return done > options.requests

    def watch():
        while not is_done.wait(0.2):
            sizes.append((min(done, options.requests), server.memory_mib()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    figures = run_clients(server, bodies, options.clients, is_over)
    is_done.set()
    watcher.join()
    print(figures)
    fifths = [[] for _ in range(5)]
    for requests, size in sizes:
        fifths[min(4, 5 * requests // options.requests)].append(size)
    if not all(fifths):
        sys.exit(f"{options.requests} requests are too few to see how memory goes")
    medians = [statistics.median(fifth) for fifth in fifths]
    growth = medians[4] / medians[1] - 1
    print("memory in each fifth of the requests, MiB: " + ", ".join(f"{size:.1f}" for size in medians))
    print(f"most {max(size for _, size in sizes):.1f} MiB; from the second fifth to the last {100 * growth:+.2f} %: "
          + ("flat" if growth <= GROWTH else "NOT FLAT"))  # fmt: skip
    return figures.failed, growth > GROWTH


def show_gain(first, second):
    throughput, p99 = first.per_second / second.per_second, second.at(0.99) / first.at(0.99)
    print(f"{first.name} / {second.name}: {throughput:.2f} times the throughput, p99 {p99:.2f} times shorter")


def other_servers(options):
    """How the servers start that the first one is compared with."""
    if options.unbatched:
        arguments = ["--threads", options.threads, *options.serve_args, "--max-batch", 1]
        yield lambda: Server.of_plethora(options.program, options.model, *arguments, name="plethora unbatched")
    if options.flask:
        arguments = ["--threads", options.threads, "--workers", options.flask_workers]
        yield lambda: Server.of_flask(options.flask, options.model, *arguments)


def compare_servers(options, texts, bodies):
    """Loads one server after the other; returns wrong answers and failed requests."""
    expected = predictions(options, texts[: options.sample])
    with Server.of_plethora(options.program, options.model, "-j", options.threads, *options.serve_args) as server:
        wrong = count_wrong(server, texts[: options.sample], expected)
        single = load(server, bodies, 1, options.seconds)
        before = server.memory_mib()
        many = load(server, bodies, options.clients, options.seconds)
        print(f"memory {before:.0f} MiB, then {server.memory_mib():.0f} MiB")
    show_gain(many, single)
    failed = single.failed + many.failed
    for start in other_servers(options):
        with start() as server:
            wrong += count_wrong(server, texts[: options.sample], expected)
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
        with Server.of_plethora(options.program, options.model, "-j", options.threads, *options.serve_args) as server:
            problems = watch_memory(server, bodies, options)
    else:
        problems = compare_servers(options, texts, bodies)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    sys.exit(1 if any(problems) else 0)


if __name__ == "__main__":
    main()
