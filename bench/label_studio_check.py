#!/usr/bin/env python3
"""Connects the real Label Studio to `plethora serve` and compares its suggestions with `plethora predict`.

    python3 -m venv .bench/label-studio && .bench/label-studio/bin/pip install label-studio==1.23.2
    .bench/label-studio/bin/python bench/label_studio_check.py target/release/plethora

Trains on a generated catalogue, starts both servers in a folder that goes away again, makes a project, connects the model, fetches
suggestions for its tasks, annotates one of them and looks for it in the file of feedback. Label Studio takes a gigabyte and a minute
or two to start. Exits with 1 and says what differs where anything does.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from label_studio_sdk import LabelStudio

STUDIO = Path(sys.executable).with_name("label-studio")
TOKEN = "0123456789abcdef0123456789abcdef01234567"
TASKS = 20
PATIENCE_S = 600


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    return parser.parse_args()


def fail(message):
    sys.exit(f"label_studio_check: {message}")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def started(command, folder, health, **environment):
    """A server that answers at `health`."""
    # Requests to this machine must not go through a proxy.
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", **environment}
    with open(folder / f"{Path(command[0]).name}.log", "w") as log:
        server = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            end = time.monotonic() + PATIENCE_S
            while True:
                try:
                    urllib.request.urlopen(health, timeout=5)
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > end:
                        fail(f"{command[0]} did not start:\n{Path(log.name).read_text()[-3000:]}")
                    time.sleep(1)
            yield
        finally:
            server.terminate()
            server.wait(timeout=60)


def main():
    program = Path(arguments().program).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = lambda *command: subprocess.run(
            [program, *command, "-q"], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        run("generate", "-o", "catalogue", "--documents", "1000")
        run("train", "catalogue/documents.jsonl", "--vocabulary", "catalogue/labels.jsonl", "--system", "wide-tree", "-o", "model")
        lines = (folder / "catalogue/documents.jsonl").read_text().splitlines()[:TASKS]
        (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n")
        predicted = [json.loads(line)["predictions"] for line in run("predict", "model", "tasks.jsonl", "-k", "5").splitlines()]
        names = [json.loads(line)["name"] for line in (folder / "catalogue/labels.jsonl").read_text().splitlines()]
        ports = free_port(), free_port()
        own, studio = (f"http://127.0.0.1:{port}" for port in ports)
        serve = [program, "serve", "model", "-p", ports[0], "--feedback", "feedback.jsonl"]
        start = [STUDIO, "start", "--no-browser", "--port", ports[1], "--username", "ada@example.org", "--password", "sesame123", "--user-token", TOKEN]
        with started(serve, folder, f"{own}/health"), started(
            start, folder, f"{studio}/health", LABEL_STUDIO_BASE_DATA_DIR=str(folder / "data"), LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN="true"
        ):
            check(LabelStudio(base_url=studio, api_key=TOKEN), own, [json.loads(line)["text"] for line in lines], names, predicted)
        feedback = [json.loads(line) for line in (folder / "feedback.jsonl").read_text().splitlines()]
        if not feedback or feedback[-1]["text"] != json.loads(lines[0])["text"]:
            fail(f"the annotation did not come back: {feedback}")
        print(f"feedback: {len(feedback)} line(s), labels {feedback[-1]['labels']}")


def check(studio, own, texts, names, predicted):
    choices = "".join(f"<Choice value=\"{name}\"/>" for name in names)
    interface = (f'<View><Text name="text" value="$text"/><Choices name="subjects" toName="text" choice="multiple">{choices}</Choices></View>')
    project = studio.projects.create(title="Subjects", label_config=interface).id
    studio.ml.create(project=project, url=f"{own}/label-studio", title="Plethora", extra_params={"top_k": 5})
    studio.webhooks.create(
        url=f"{own}/label-studio/webhook", project=project, send_payload=True, actions=["ANNOTATION_CREATED", "ANNOTATION_UPDATED"]
    )
    studio.projects.import_tasks(project, request=[{"text": text} for text in texts])
    tasks = sorted(studio.tasks.list(project=project), key=lambda task: task.id)
    studio.actions.create(id="retrieve_tasks_predictions", project=project, selected_items={"all": True, "excluded": []})
    for task, text, expected in zip(tasks, texts, predicted, strict=True):
        end = time.monotonic() + 60
        while not (found := list(studio.predictions.list(task=task.id, project=project))):
            if time.monotonic() > end:
                fail(f"task {task.id} has no suggestion")
            time.sleep(0.5)
        choices = found[0].result[0]["value"]["choices"]
        wanted = [label["label"] for label in expected]
        # Label Studio asks with the labels of the interface, of which each is one of the model.
        if choices != wanted[: len(choices)] or not choices:
            fail(f"suggests {choices} for {text!r}, and predict says {wanted}")
        if abs(found[0].score - expected[0]["score"]) > 1e-6:
            fail(f"scores {found[0].score}, and predict says {expected[0]['score']}")
    print(f"suggestions: those of `plethora predict` for {len(tasks)} tasks, {len(choices)} labels each")
    chosen = [{"from_name": "subjects", "to_name": "text", "type": "choices", "value": {"choices": choices[:2]}}]
    studio.annotations.create(tasks[0].id, result=chosen)
    time.sleep(5)


if __name__ == "__main__":
    main()
