"""Hugging Face's own command sends a model folder to a hub and gets it back, and its card has the metrics."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from conftest import run
from huggingface_hub import ModelCard

REPOSITORY = "ada/subjects"
COMMIT = "0" * 39 + "1"


class Hub(BaseHTTPRequestHandler):
    """What the command needs of a hub, with files in memory."""

    protocol_version = "HTTP/1.1"
    files: dict = {}

    def answer(self, body, status=200, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), "content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def entries(self):
        return [{"type": "file", "path": name, "size": len(body), "oid": hashlib.sha1(body).hexdigest()}
                for name, body in self.files.items()]

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path == "/api/repos/create":
            return self.answer({"url": f"http://{self.headers['host']}/{REPOSITORY}", "name": REPOSITORY, "id": REPOSITORY})
        if "/preupload/" in self.path:
            return self.answer({"files": [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                                          for file in json.loads(body)["files"]]})
        if "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            return self.answer({"commitUrl": f"http://{self.headers['host']}/{REPOSITORY}/commit/{COMMIT}", "commitOid": COMMIT, "success": True})
        if "/paths-info/" in self.path:
            return self.answer(self.entries())
        return self.answer({"error": self.path, "valid": True}, 200 if "validate" in self.path else 404)

    def do_GET(self):
        path = unquote(self.path.split("?")[0])
        if found := re.fullmatch(f"/{REPOSITORY}/resolve/[^/]+/(.+)", path):
            body = self.files.get(found[1])
            if body is None:
                return self.answer({}, 404, x_error_code="EntryNotFound")
            etag = f'"{hashlib.sha1(body).hexdigest()}"'
            return self.answer(body, x_repo_commit=COMMIT, etag=etag, content_type="application/octet-stream")
        if "/tree/" in path:
            return self.answer(self.entries())
        if path == "/api/whoami-v2":
            return self.answer({"name": "ada", "type": "user", "auth": {"accessToken": {"role": "write"}}})
        siblings = [{"rfilename": name, "size": len(body)} for name, body in self.files.items()]
        return self.answer({"id": REPOSITORY, "modelId": REPOSITORY, "sha": COMMIT, "siblings": siblings, "tags": [],
                            "private": False, "downloads": 0, "likes": 0})

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    Hub.files = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_a_model_comes_back_from_the_hub_as_it_was_sent(folder, hub, tmp_path):
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_TOKEN": "hf_test", "HF_HOME": str(tmp_path / "home"),
                   "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    hf = Path(sys.executable).with_name("hf")
    model, back = folder / "dense", tmp_path / "back"
    for command in (["upload", REPOSITORY, model], ["download", REPOSITORY, "--local-dir", back]):
        done = subprocess.run([hf, *command], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    sent = {path.name: path.read_bytes() for path in model.iterdir()}
    assert {name: (back / name).read_bytes() for name in sent} == sent
    # The command leaves a folder of its own there; `info` compares every checksum.
    assert (back / ".cache").is_dir()
    run("info", back)


def test_the_hub_reads_metrics_from_the_card(folder, tmp_path):
    data, other, model = folder / "data.jsonl", tmp_path / "other.jsonl", tmp_path / "measured"
    other.write_text("".join(sorted(set(data.read_text().splitlines(keepends=True)))))
    run("train", data, "--system", "wide-tree", "--valid", other, "--quiet", "-o", model)
    card = ModelCard.load(model / "README.md")
    assert card.data.tags
    metrics = {result.metric_type: result.metric_value for result in card.data.eval_results}
    assert metrics["P@1"] > 0.9 and "nDCG@5" in metrics
