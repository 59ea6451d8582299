#!/usr/bin/env python3
"""Loads `plethora serve` from a second process and prints latency and throughput.

    python3 bench/serve_load.py target/release/plethora MODEL DOCUMENTS.jsonl --seconds 60

One client alone comes first, then many at once, over connections that stay open. Both ask for one
document a request. Answers of a sample are compared with those of `plethora predict`; those of networks
may differ in their last bits, which depend on the documents that are ranked together. CPU time of the
server says more than throughput where the machine does other things too. Exits with 1 where an answer is
wrong, or fails with anything but 429.
"""

import argparse
import http.client
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("documents", help="JSON lines with the field `text`")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sample", type=int, default=20, help="answers compared with `predict`")
    parser.add_argument("--texts", type=int, default=500, help="different documents that are asked for")
    parser.add_argument("--serve-args", nargs=argparse.REMAINDER, default=[])
    return parser.parse_args()


def read_texts(path, limit):
    with open(path, encoding="utf-8") as lines:
        rows = (json.loads(line) for line in itertools.islice(lines, limit))
        return [row["text"] for row in rows]


class Server:
    def __init__(self, options):
        command = [options.program, "serve", f"m={options.model}", "--port", "0", "-q", *options.serve_args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        address = self.process.stdout.readline().strip()
        if not address.startswith("http://"):
            sys.exit("the server did not start")
        self.address = address.removeprefix("http://")

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as lines:
            size = next(line for line in lines if line.startswith("VmRSS"))
        return int(size.split()[1]) / 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as line:
            fields = line.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)


def ask(connection, text, top_k=10):
    body = json.dumps({"documents": [text], "top_k": top_k})
    connection.request("POST", "/v1/models/m/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def client(address, texts, start, end, result):
    connection = http.client.HTTPConnection(address, timeout=60)
    for index in itertools.count(start):
        before = time.perf_counter()
        if before >= end:
            break
        status, _ = ask(connection, texts[index % len(texts)])
        result.append((status, time.perf_counter() - before))
    connection.close()


def load(server, texts, clients, seconds):
    results = [[] for _ in range(clients)]
    cpu = server.cpu_seconds()
    begin = time.perf_counter()
    threads = [
        threading.Thread(target=client, args=(server.address, texts, 7 * number, begin + seconds, result))
        for number, result in enumerate(results)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - begin
    return list(itertools.chain(*results)), elapsed, server.cpu_seconds() - cpu


def figures(name, answers, elapsed, cpu):
    times = sorted(seconds for status, seconds in answers if status == 200)
    refused = sum(status == 429 for status, _ in answers)
    failed = len(answers) - len(times) - refused
    at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]
    print(
        f"{name:>12}: {len(times) / elapsed:8.1f} documents/s   p50 {at(0.5):8.2f} ms   p99 {at(0.99):8.2f} ms"
        f"   {1000 * cpu / len(times):6.2f} ms of CPU each"
        f"   {len(times)} answers, {refused} refused (429), {failed} failed"
    )
    return len(times) / elapsed, failed


def compare(options, address, texts):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text}) + "\n")
        file.flush()
        command = [options.program, "predict", options.model, file.name, "--text-field", "text", "-k", "10", "-q"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    connection = http.client.HTTPConnection(address)
    answers = [json.loads(ask(connection, text)[1])["results"][0]["predictions"] for text in texts]
    return sum(not is_close(answer, json.loads(line)["predictions"]) for answer, line in zip(answers, lines, strict=True))


def is_close(answer, expected):
    """True if scores are equal rank by rank, and so are labels but for those that tie with the last."""
    near = lambda one, other: abs(one - other) <= 1e-5 * max(one, other)
    scores = {label["key"]: label["score"] for label in expected}
    last = min(scores.values(), default=0)
    return len(answer) == len(expected) and all(
        near(own["score"], other["score"]) and near(own["score"], scores.get(own["key"], last))
        for own, other in zip(answer, expected)
    )


def main():
    options = arguments()
    texts = read_texts(options.documents, options.texts)
    print(f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    server = Server(options)
    wrong = compare(options, server.address, texts[: options.sample])
    print(f"{options.sample} answers compared with `predict`: {wrong} differ")
    load(server, texts, 1, min(2, options.seconds))
    single, failed = figures("1 client", *load(server, texts, 1, options.seconds))
    memory = server.memory_mib()
    many, failed_too = figures(f"{options.clients} clients", *load(server, texts, options.clients, options.seconds))
    print(f"{many / single:.2f} times the throughput; memory {memory:.0f} MiB, then {server.memory_mib():.0f} MiB")
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    status = server.stop()
    sys.exit(1 if wrong or failed or failed_too or status else 0)


if __name__ == "__main__":
    main()
