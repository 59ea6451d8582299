#!/usr/bin/env python3
"""Lets the real Annif talk to `plethora serve` and compares what comes out with `plethora predict`.

    python3 -m venv .bench/annif && .bench/annif/bin/pip install annif==1.4.3 annif-client==0.5.0
    .bench/annif/bin/python bench/annif_check.py target/release/plethora

Makes a catalogue, trains on it, serves the model, and sets Annif up in a folder that goes away again: the
`http` backend through `annif suggest`, `index` and `eval`, Annif's own REST interface (`annif run`) with
that backend behind it, and `annif-client` on both servers. Everything is written down in docs/annif.md.
Exits with 1 and says what differs where anything does.
"""

import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import annif_client
import requests
from load_servers import Server

ANNIF = Path(sys.executable).with_name("annif")
NAMESPACE = "http://example.org/subject/"
TOP_K = 10
# Annif keeps scores in 32 bits, and prints four digits of them.
KEPT, PRINTED = 1e-6, 5.1e-5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--documents", type=int, default=3000, help="records of the catalogue, a tenth of them for the test")
    parser.add_argument("--system", default="wide-tree")
    return parser.parse_args()


class Workshop:
    """A folder with corpus, vocabulary, model, and Annif's files."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, Path(program).resolve()
        # Requests to this machine must not go through a proxy.
        self.environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}

    def run(self, *command, **options):
        done = subprocess.run(
            list(map(str, command)), cwd=self.folder, env=self.environment, capture_output=True, text=True, **options
        )
        if done.returncode:
            fail(f"`{' '.join(map(str, command))}` ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def plethora(self, *command):
        return self.run(self.program, *command, "-q")

    def annif(self, *command, **options):
        return self.run(ANNIF, *command, **options)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def write_corpus(self, num_documents):
        """A catalogue whose label keys are URIs, in the formats of Annif."""
        self.plethora("generate", "-o", "catalogue", "--documents", num_documents)
        for name in ["catalogue/documents.jsonl", "catalogue/labels.jsonl"]:
            self.write(name, re.sub(r'"(C\d{7})"', rf'"{NAMESPACE}\1"', self.read(name)))
        labels = map(json.loads, self.read("catalogue/labels.jsonl").splitlines())
        self.write("subjects.tsv", "".join(f"<{label['key']}>\t{label['name']}\n" for label in labels))
        for split in ["train", "test"]:
            choice = ["--text-field", "title,text", "--where", f"split={split}"]
            form = ["--out-format", "annif-tsv", "--flatten"]
            self.plethora("convert", "catalogue/documents.jsonl", f"{split}.tsv", *form, *choice)

    def predictions(self):
        """What `plethora predict` says of the test documents: keys and scores."""
        lines = self.plethora("predict", "model", "test.tsv", "-k", TOP_K).splitlines()
        rankings = (json.loads(line)["predictions"] for line in lines)
        return [[(label["key"], label["score"]) for label in ranking] for ranking in rankings]

    def texts(self):
        return [line.split("\t")[0] for line in self.read("test.tsv").splitlines()]


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def expect(name, answers, expected, rounding=KEPT):
    """Labels and scores must be equal rank by rank; those that tie after rounding may come in any order."""
    if len(answers) != len(expected):
        fail(f"{name}: {len(answers)} answers for {len(expected)} documents")
    for number, (answer, own) in enumerate(zip(answers, expected)):
        if not is_equal(answer, own, rounding):
            fail(f"{name}: document {number + 1} differs\n  Annif    {answer}\n  Plethora {own}")
    print(f"{name}: {len(answers)} documents, all as `plethora predict` has them")


def is_equal(answer, expected, rounding):
    scores = dict(expected)
    last = min(scores.values(), default=0)
    return len(answer) == len(expected) and all(
        abs(score - own) <= rounding and abs(score - scores.get(key, last)) <= rounding
        for (key, score), (_, own) in zip(answer, expected)
    )


def pairs(results):
    return [(subject["uri"], subject["score"]) for subject in results]


def printed_pairs(output):
    """From what `annif suggest` prints for several files."""
    rankings = []
    for line in output.splitlines():
        if line.startswith("<"):
            uri, *_, score = line.split("\t")
            rankings[-1].append((uri[1:-1], float(score)))
        else:
            rankings.append([])
    return rankings


def write_projects(workshop, address):
    endpoint = f"http://{address}/v1/projects/m/suggest"
    workshop.write(
        "projects.cfg",
        f"[plethora]\nname=Plethora\nlanguage=en\nbackend=http\nvocab=catalogue\nendpoint={endpoint}\n",
    )


def check_commands(workshop, expected):
    workshop.annif("load-vocab", "catalogue", "--language", "en", "subjects.tsv")
    shown = workshop.annif("show-project", "plethora")
    if not re.search(r"Trained: +True", shown):
        fail(f"Annif does not hold the project for trained:\n{shown}")
    if not re.search(r"Modification time: +\d{4}-\d\d-\d\d", shown):
        fail(f"Annif does not know when the project was changed:\n{shown}")
    texts = workshop.texts()[:5]
    for number, text in enumerate(texts):
        workshop.write(f"{number}.txt", text)
    printed = workshop.annif("suggest", "plethora", *(f"{number}.txt" for number in range(len(texts))))
    expect("annif suggest", printed_pairs(printed), expected[: len(texts)], PRINTED)
    indexed = workshop.annif("index", "plethora", "test.tsv", "--no-include-doc", "--output", "-")
    expect("annif index", [pairs(json.loads(line)["results"]) for line in indexed.splitlines()], expected)


def check_metrics(workshop):
    """Metrics that both define alike must be equal."""
    printed = workshop.annif("eval", "plethora", "test.tsv")
    own = json.loads(workshop.plethora("eval", "model", "test.tsv", "--json"))
    names = {"Precision@1": "P@1", "Precision@3": "P@3", "Precision@5": "P@5", "NDCG@5": "nDCG@5"}
    values = []
    for theirs, ours in names.items():
        value = float(re.search(rf"^{theirs}:\s+(\S+)$", printed, re.MULTILINE)[1])
        if abs(value - own[ours]) > PRINTED:
            fail(f"annif eval: {theirs} is {value}, `plethora eval` has {own[ours]:.4f}")
        values.append(f"{theirs} {value}")
    print(f"annif eval: {', '.join(values)}, as `plethora eval` has them")


@contextlib.contextmanager
def annif_server(workshop):
    """Annif's REST interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [ANNIF, "run", "--host", "127.0.0.1", "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=workshop.folder, env=workshop.environment, **quiet)
    try:
        client = annif_client.AnnifClient(f"http://127.0.0.1:{port}/v1/")
        wait_for(client, process)
        yield client
    finally:
        process.terminate()
        process.wait(30)


def wait_for(client, process):
    for _ in range(300):
        with contextlib.suppress(OSError):
            return client.api_info
        if process.poll() is not None:
            fail("`annif run` ended before it listened")
        time.sleep(0.2)
    fail("`annif run` does not listen after a minute")


def check_client(name, client, project, texts, expected):
    """What a client of Annif asks for."""
    if project not in [entry["project_id"] for entry in client.projects] or not client.get_project(project)["is_trained"]:
        fail(f"{name}: `{project}` is not among the trained projects: {client.projects}")
    expect(f"{name}, suggest", [pairs(client.suggest(project, text, limit=TOP_K)) for text in texts], expected)
    documents = [{"text": text, "document_id": str(number)} for number, text in enumerate(texts)]
    answers = client.suggest_batch(project, documents, limit=TOP_K)
    if [answer["document_id"] for answer in answers] != [document["document_id"] for document in documents]:
        fail(f"{name}, suggest_batch: ids came back as {[answer['document_id'] for answer in answers]}")
    expect(f"{name}, suggest_batch", [pairs(answer["results"]) for answer in answers], expected)
    above = [(key, score) for key, score in expected[0] if score >= 0.1]
    expect(f"{name}, threshold", [pairs(client.suggest(project, texts[0], limit=TOP_K, threshold=0.1))], [above])
    try:
        client.suggest("nothing", texts[0])
    except ValueError as error:
        print(f"{name}: a project that is not there is told as `{error}`")
    else:
        fail(f"{name}: a project that is not there was answered")


def check_edges(name, client, project, text):
    """What both servers answer, though it asks for nothing or for too much."""
    answers = {
        "no subjects": (client.suggest(project, text, limit=0), []),
        "an empty batch": (client.suggest_batch(project, []), []),
        "no subjects in a batch": (
            [answer["results"] for answer in client.suggest_batch(project, [{"text": text}], limit=0)],
            [[]],
        ),
        "many subjects": (len(client.suggest(project, text, limit=100_000)) > TOP_K, True),
        "projects with a slash": (get_json(f"{client.api_base}projects/")["projects"], client.projects),
        "the address without a slash": (get_json(client.api_base.rstrip("/")), client.api_info),
    }
    for what, (answer, expected) in answers.items():
        if answer != expected:
            fail(f"{name}, {what}: found {answer}, expected {expected}")
    print(f"{name}: {', '.join(answers)}: as Annif answers")


def get_json(address):
    response = requests.get(address, timeout=30)
    response.raise_for_status()
    return response.json()


def main():
    options = arguments()
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as name:
        workshop = Workshop(Path(name), options.program)
        workshop.write_corpus(options.documents)
        workshop.plethora(
            "train", "train.tsv", "--vocabulary", "subjects.tsv", "--system", options.system, "-o", "model"
        )
        expected, texts = workshop.predictions(), workshop.texts()
        with Server.of_plethora(workshop.program, workshop.folder / "model") as server:
            write_projects(workshop, server.address)
            check_commands(workshop, expected)
            check_metrics(workshop)
            # Annif answers at most 32 documents at once.
            few, rankings = texts[:32], expected[:32]
            own = annif_client.AnnifClient(f"http://{server.address}/v1/")
            check_client("annif-client", own, "m", few, rankings)
            check_edges("annif-client", own, "m", few[0])
            with annif_server(workshop) as client:
                check_client("annif-client, through Annif", client, "plethora", few, rankings)
                check_edges("annif-client, through Annif", client, "plethora", few[0])


if __name__ == "__main__":
    main()
