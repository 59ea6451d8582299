#!/usr/bin/env python3
"""Loads `plethora serve` with honest and hostile clients at once and prints what the honest ones notice.

    python3 bench/hostile_load.py target/release/plethora MODEL DOCUMENTS.jsonl --minutes 60

Honest clients ask for one document per request, at a bounded rate, over connections that stay open. They are alone for the first
minutes; then the hostile ones come: readers of a few bytes per second, senders of a few bytes per second, connections that are
closed for writing in the middle of a request, explanations of a megabyte, and methods that do not exist. `--kinds "huge predict"`
adds requests for all labels of hundreds of documents, which cost what they cost. Each kind has
addresses of its own (127.0.1.1, 127.0.1.2, ...).

Prints p50 and p99 of the honest clients alone and beside the others, how many of their requests were answered, what became of
the hostile ones, and the server's memory as the mean of each minute. Exits with 1 where an honest request failed, p99 is 3 times as
long or longer, or memory in the last minute is more than 10 % above that in the tenth.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import socket
import sys
import threading
import time
from collections import Counter

from load_clients import request_of
from load_servers import Server
from serve_load import PATH, body_of, read_texts

PATIENCE = 60
MAX_P99_RATIO = 3
MAX_GROWTH = 0.10
EXPLAIN = "/v1/models/m/explain"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("documents", help="JSON lines with the field `text`")
    parser.add_argument("--minutes", type=float, default=60, help="with hostile clients")
    parser.add_argument("--alone-minutes", type=float, default=3, help="without, before")
    parser.add_argument("--honest", type=int, default=32, help="honest clients")
    parser.add_argument("--hostile", type=int, default=32, help="hostile clients")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS)[:5], choices=list(KINDS), help="of hostile clients; all unless given")
    parser.add_argument("--rate", type=float, default=200, help="honest requests per second, all clients together")
    parser.add_argument("--serve-args", nargs=argparse.REMAINDER, default=[])
    return parser.parse_args()


class Wire:
    """A plain connection, from an address of its own."""

    def __init__(self, address, source, receive_buffer=None):
        host, _, port = address.rpartition(":")
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.bind((source, 0))
        self.socket.connect((host, int(port)))
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def answer(self):
        """Reads one whole answer; its status, or 0 where the connection ended."""
        while b"\r\n\r\n" not in self.received:
            if not self._more():
                return 0
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        missing = length - len(self.received)
        while missing > 0:
            part = self.socket.recv(1 << 18)
            if not part:
                return 0
            missing -= len(part)
        self.received = b"" if length >= len(self.received) else self.received[length:]
        return int(lines[0].split()[1])

    def _more(self):
        part = self.socket.recv(1 << 16)
        self.received += part
        return bool(part)


class Honest(threading.Thread):
    """Asks at a steady rate and notes how each request went."""

    def __init__(self, address, requests, interval, number, is_over):
        super().__init__(daemon=True)
        self.address, self.requests, self.interval, self.number, self.is_over = address, requests, interval, number, is_over
        self.answers = []  # (when it was sent, status, seconds)

    def run(self):
        rng = random.Random(self.number)
        wire = None
        due = time.perf_counter() + rng.random() * self.interval
        while not self.is_over():
            time.sleep(max(0, due - time.perf_counter()))
            due += self.interval * (0.5 + rng.random())
            began = time.perf_counter()
            status = 0
            try:
                wire = wire or Wire(self.address, "127.0.0.1")
                wire.send(rng.choice(self.requests))
                status = wire.answer()
            except OSError:
                pass
            self.answers.append((began, status, time.perf_counter() - began))
            if status == 0 and wire:
                wire.socket.close()
                wire = None


class Hostile(threading.Thread):
    """Does one kind of harm again and again."""

    def __init__(self, kind, address, source, texts, seed, is_over):
        super().__init__(daemon=True)
        self.kind, self.address, self.source, self.texts, self.is_over = kind, address, source, texts, is_over
        self.rng = random.Random(seed)
        self.outcomes = Counter()

    def run(self):
        while not self.is_over():
            try:
                outcome = KINDS[self.kind](self)
            except OSError as error:
                outcome = type(error).__name__
            self.outcomes[outcome] += 1
            time.sleep(0.05)

    def wire(self, **options):
        return Wire(self.address, self.source, **options)

    def long_text(self, size):
        text = ""
        while len(text) < size:
            text += self.rng.choice(self.texts) + " "
        return text[:size]

    def slow_reader(self):
        """Wants large answers and reads them byte by byte."""
        with self.wire(receive_buffer=4096) as wire:
            if self.rng.random() < 0.5:
                wire.send(f"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: {self.address}\r\n\r\n".encode() * 8)
            else:
                body = json.dumps({"text": self.long_text(100_000), "top_k": 3}).encode()
                wire.send(request_of(self.address, EXPLAIN, body))
            for _ in range(600):
                if self.is_over() or not wire.socket.recv(64):
                    return "ended by the server"
                time.sleep(0.2)
        return "read for two minutes"

    def slow_writer(self):
        """Sends a request byte by byte."""
        request = request_of(self.address, PATH, body_of(self.rng.choice(self.texts)))
        with self.wire() as wire:
            for byte in request:
                if self.is_over():
                    return "stopped"
                try:
                    wire.send(bytes([byte]))
                except OSError:
                    return "ended by the server"
                time.sleep(0.5)
            return f"status {wire.answer()}"

    def half_closed(self):
        """Closes its side in the middle of a request, or right after it."""
        request = request_of(self.address, PATH, body_of(self.rng.choice(self.texts)))
        is_whole = self.rng.random() < 0.5
        with self.wire() as wire:
            wire.send(request if is_whole else request[: len(request) // 2])
            wire.socket.shutdown(socket.SHUT_WR)
            return f"{'whole' if is_whole else 'half a'} request: status {wire.answer()}"

    def huge_explain(self):
        """Has long texts explained; some clients leave before the answer."""
        size = self.rng.choice([20_000, 100_000, 300_000, 1_000_000, 2_000_000])
        body = json.dumps({"text": self.long_text(size), "top_k": self.rng.choice([1, 10, 50])}).encode()
        with self.wire() as wire:
            wire.send(request_of(self.address, EXPLAIN, body))
            if self.rng.random() < 0.2:
                return "left"
            return f"status {wire.answer()}"

    def huge_predict(self):
        """Wants all labels of many documents at once."""
        documents = [self.rng.choice(self.texts) for _ in range(self.rng.choice([100, 200, 400]))]
        body = json.dumps({"documents": documents, "top_k": 1000}).encode()
        with self.wire() as wire:
            wire.send(request_of(self.address, PATH, body))
            return f"status {wire.answer()}"

    def odd_method(self):
        """Makes methods up, long ones too, and paths and heads that mean nothing."""
        letters = "".join(self.rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=self.rng.choice([1, 8, 400, 4000])))
        requests = [
            f"{letters} / HTTP/1.1\r\nHost: {self.address}\r\n\r\n",
            f"GET /{letters} HTTP/1.1\r\nHost: {self.address}\r\n\r\n",
            f"DELETE {PATH} HTTP/1.1\r\nHost: {self.address}\r\nX-{letters}: 1\r\n\r\n",
            f"GET / HTTP/1.1\r\nHost: {letters.lower()}.example\r\n\r\n",
            f"GET / HTTP/1.1\nHost: {self.address}\n\n",
        ]
        with self.wire() as wire:
            wire.send(self.rng.choice(requests).encode())
            return f"status {wire.answer()}"


KINDS = {
    "slow reader": Hostile.slow_reader,
    "slow writer": Hostile.slow_writer,
    "half closed": Hostile.half_closed,
    "huge explain": Hostile.huge_explain,
    "odd method": Hostile.odd_method,
    "huge predict": Hostile.huge_predict,
}


def run_hostile(options, address, texts, over, outcomes):
    """All hostile clients, in a process of their own: what they do must not slow down those who measure.

    Elsewhere they would have processors of their own. Here they share those of the server, so that they come last."""
    os.nice(19)
    kinds = options.kinds
    clients = []
    for number in range(options.hostile):
        kind = number % len(kinds)
        clients.append(Hostile(kinds[kind], address, f"127.0.1.{kind + 1}", texts, number, over.is_set))
        clients[-1].start()
    over.wait()
    for kind in kinds:
        outcomes.put((kind, sum((client.outcomes for client in clients if client.kind == kind), Counter())))


def figures(name, answers):
    """Prints a line; returns p99 in milliseconds and the number of requests without a good answer."""
    times = sorted(seconds for _, status, seconds in answers if status == 200)
    failed = Counter(status for _, status, _ in answers if status != 200)
    if not times:
        sys.exit(f"{name}: no request was answered")
    p50, p99 = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    failures = "none failed" if not failed else f"FAILED by status: {dict(failed)}"
    print(f"{name}: {len(times)} answers, p50 {p50:.2f} ms, p99 {p99:.2f} ms, longest {1000 * times[-1]:.0f} ms, {failures}")
    return p99, sum(failed.values())


def watch(server, minutes, begin, memory):
    """Notes the mean memory of each minute: at any one moment a large request may be on its way, or none."""
    for minute in range(1, int(minutes) + 1):
        samples = []
        for second in range(60 * (minute - 1), 60 * minute):
            time.sleep(max(0, begin + second + 1 - time.perf_counter()))
            samples.append(server.memory_mib())
        memory[minute] = sum(samples) / len(samples)
        if minute in (1, 2, 5) or minute % 10 == 0:
            between = f"{min(samples):.1f} to {max(samples):.1f}"
            print(f"minute {minute:3}: server {memory[minute]:7.1f} MiB ({between}), load of the machine {os.getloadavg()[0]:.1f}", flush=True)
    time.sleep(max(0, begin + 60 * minutes - time.perf_counter()))


def run(options, server):
    texts = read_texts(options.documents, 500)
    requests = [request_of(server.address, PATH, body_of(text)) for text in texts]
    over = threading.Event()
    interval = options.honest / options.rate
    honest = [Honest(server.address, requests, interval, number, over.is_set) for number in range(options.honest)]
    for client in honest:
        client.start()
    # The first seconds warm up.
    time.sleep(5)
    alone = time.perf_counter()
    time.sleep(60 * options.alone_minutes)
    print(f"alone: server {server.memory_mib():.1f} MiB", flush=True)
    outcomes = multiprocessing.Queue()
    over_there = multiprocessing.Event()
    hostile = multiprocessing.Process(target=run_hostile, args=(options, server.address, texts, over_there, outcomes), daemon=True)
    begin = time.perf_counter()
    hostile.start()
    memory = {}
    watch(server, options.minutes, begin, memory)
    end = time.perf_counter()
    over.set()
    for client in honest:
        client.join(2 * PATIENCE)
    over_there.set()
    answers = [answer for client in honest for answer in client.answers]
    p99_alone, failed_alone = figures("honest, alone", [a for a in answers if alone <= a[0] < begin])
    p99, failed = figures("honest, beside hostile ones", [a for a in answers if begin <= a[0] < end])
    for _ in options.kinds:
        kind, counts = outcomes.get(timeout=PATIENCE)
        print(f"{kind:>14}: {sum(counts.values())} times; " + ", ".join(f"{name} {count}" for name, count in counts.most_common(8)))
    hostile.join(PATIENCE)
    return p99 / p99_alone, failed_alone + failed, memory


def main():
    options = arguments()
    print(
        f"{options.honest} honest clients with {options.rate:.0f} requests/s together, {options.hostile} hostile ones;"
        f" {os.cpu_count()} processors, load of the machine {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server.of_plethora(options.program, options.model, *options.serve_args))
        ratio, failed, memory = run(options, server)
    print(f"p99 beside hostile clients is {ratio:.2f} times that alone (bar: {MAX_P99_RATIO})")
    growth = memory[max(memory)] / memory[10] - 1 if len(memory) > 10 else 0
    if len(memory) > 10:
        print(f"memory: {memory[10]:.1f} MiB in minute 10, {memory[max(memory)]:.1f} MiB in minute {max(memory)}: {100 * growth:+.1f} %")
    sys.exit(1 if failed or ratio >= MAX_P99_RATIO or growth > MAX_GROWTH else 0)


if __name__ == "__main__":
    main()
