"""Plethora on a real Ray cluster of two nodes, both on this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as parquet
from ray.cluster_utils import Cluster
from ray.train import FailureConfig, RunConfig, ScalingConfig

import plethora
import plethora.ray
from conftest import run

NUM_DOCUMENTS = 20_000
SETTINGS = {"tree__max_leaf": 10}


@pytest.fixture(scope="module")
def cluster():
    """A head and another node, each with a processor for actors and one for reading beside them."""
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 200 << 20})
    cluster.add_node(num_cpus=2, object_store_memory=200 << 20)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def many(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    size = ("-n", NUM_DOCUMENTS, "--labels", "100", "--seed", "6")
    run(program, "generate", "-o", folder / "c", *size)
    return folder / "c" / "documents.jsonl"


@pytest.fixture(scope="module")
def model(program: str, catalogue: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "model"
    fields = ("--text-field", "title,text", "--where", "split=train")
    run(program, "train", catalogue, *fields, "--system", "wide-tree", "-o", folder)
    return folder


@pytest.fixture(scope="module")
def expected(program: str, model: Path, many: Path) -> bytes:
    """What `plethora predict` gives, as Arrow has it."""
    lines = run(program, "predict", model, many, "-k", "3", "-q").splitlines()
    return stored([json.loads(line) for line in lines])


def stored(rows: list[dict]) -> bytes:
    """Rankings by id, as bytes that are equal where every id, label and score is."""
    entry = {"label": pa.string(), "key": pa.string(), "score": pa.float32(), "label_id": pa.uint32()}
    schema = pa.schema({"id": pa.string(), "predictions": pa.list_(pa.struct(entry))})
    rows = sorted(rows, key=lambda row: row["id"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema).combine_chunks())
    return sink.getvalue().to_pybytes()


def documents(many: Path, blocks: int = 8) -> ray.data.Dataset:
    rows = [json.loads(line) for line in many.read_text().splitlines()]
    table = pa.table({name: [row[name] for row in rows] for name in ("id", "title", "text")})
    size = -(-len(rows) // blocks)
    return ray.data.from_arrow([table.slice(start, size) for start in range(0, len(rows), size)])


def workers(cluster: Cluster, name: str) -> list[tuple[int, int]]:
    """Workers of this cluster that do such work now: their ids, and those of their raylets."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            title = (folder / "cmdline").read_bytes()
            status = (folder / "status").read_text()
        except OSError:
            continue
        parent = int(status.split("PPid:")[1].split()[0])
        if title.startswith(b"ray::") and name.encode() in title and parent in raylets(cluster):
            found.append((int(folder.name), parent))
    return found


def raylets(cluster: Cluster) -> dict[int, object]:
    """Nodes by the ids of their raylets."""
    return {
        process.process.pid: node
        for node in cluster.list_all_nodes()
        for process in node.all_processes.get("raylet", [])
    }


class Disaster(threading.Thread):
    """Does harm to the first worker that is seen at such work."""

    def __init__(self, cluster: Cluster, name: str, harm) -> None:
        super().__init__(daemon=True)
        self.cluster, self.name_of_work, self.harm = cluster, name, harm
        self.has_happened = self.is_over = False

    def run(self) -> None:
        while not self.is_over:
            for pid, raylet in workers(self.cluster, self.name_of_work):
                time.sleep(0.2)
                if self.harm(pid, raylet):
                    self.has_happened = True
                    return
            time.sleep(0.02)


def despite(harm, cluster: Cluster, name: str, work):
    """What comes of some work to which harm is done. Fast work may be over before that: then it is done again."""
    for attempt in range(6):
        disaster = Disaster(cluster, name, harm)
        disaster.start()
        found = work(attempt)
        disaster.is_over = True
        disaster.join()
        if disaster.has_happened:
            return found
    pytest.fail("no harm was done")


def kill(pid: int, _raylet: int) -> bool:
    os.kill(pid, signal.SIGKILL)
    return True


def test_rankings_are_those_of_the_command_line(cluster, model, many, expected):
    ranked = plethora.ray.predict(documents(many), model, top_k=3, concurrency=2)
    assert stored(ranked.take_all()) == expected


def test_a_killed_actor_is_replaced(cluster, model, many, expected):
    def rank(_attempt: int) -> bytes:
        return stored(plethora.ray.predict(documents(many, 40), model, top_k=3, batch_size=500).take_all())

    assert despite(kill, cluster, "_Ranker", rank) == expected


def train_bonsai(documents: Path, folder: Path, name: str, workers: int = 3) -> Path:
    result = plethora.ray.train(
        "bonsai",
        documents,
        seed=5,
        settings=SETTINGS,
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(
            storage_path=str(folder), name=name, failure_config=FailureConfig(max_failures=2)
        ),
        text_field=["title", "text"],
        where={"split": "train"},
    )
    assert result.metrics["n_pieces"] == workers
    return Path(result.checkpoint.path)


@pytest.fixture(scope="module")
def bonsai(many: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a model that one process has trained."""
    folder = tmp_path_factory.mktemp("bonsai") / "model"
    plethora.train_piece(
        "bonsai",
        many,
        folder,
        shard=None,
        seed=5,
        settings=SETTINGS,
        text_field=["title", "text"],
        where={"split": "train"},
    )
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_trees_as_tasks_are_those_of_one_process(cluster, many, bonsai, tmp_path):
    assert files(train_bonsai(many, tmp_path, "three")) == bonsai
    assert {path.name for path in (tmp_path / "three").iterdir()} == {"model"}


def test_a_killed_task_is_tried_again(cluster, many, bonsai, tmp_path):
    def train(attempt: int) -> dict[str, bytes]:
        return files(train_bonsai(many, tmp_path, f"killed-{attempt}"))

    assert despite(kill, cluster, "_piece", train) == bonsai


def test_documents_of_a_ray_data_set_are_trained_on(cluster, catalogue, tmp_path):
    rows = [json.loads(line) for line in catalogue.read_text().splitlines()]
    table = pa.table({name: [row[name] for row in rows] for name in ("id", "text", "labels")})
    result = plethora.ray.train(
        "wide-tree",
        ray.data.from_arrow(table),
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=str(tmp_path), name="set"),
    )
    model = plethora.load(result.checkpoint.path)
    assert len(model.predict(["Tides and harbours"])) == 1


def test_a_document_without_text_is_named(cluster, model, tmp_path):
    table = pa.table({"id": ["a", "b"], "title": ["Tides", None], "text": ["harbours", None]})
    ranked = plethora.ray.predict(ray.data.from_arrow(table), model)
    with pytest.raises(Exception, match="document `b`: `title` is null, expected a text"):
        ranked.take_all()
    # Parquet files of other programs may hold any bytes.
    buffers = pa.array([b"Tides", b"Har\xffbours"]).buffers()
    damaged = pa.StringArray.from_buffers(2, buffers[1], buffers[2])
    parquet.write_table(pa.table({"id": ["a", "c"], "text": damaged}), tmp_path / "bad.parquet")
    read = ray.data.read_parquet(str(tmp_path / "bad.parquet"))
    with pytest.raises(Exception, match="document `c`: `text` is no UTF-8, as byte 3 shows"):
        plethora.ray.predict(read, model, text_field="text").take_all()


def test_mistakes_end_in_one_message(cluster, catalogue, tmp_path):
    config = {"scaling_config": ScalingConfig(num_workers=2)}
    with pytest.raises(plethora.ConfigError, match="name a folder that all nodes see"):
        plethora.ray.train("bonsai", catalogue, **config)
    config["run_config"] = RunConfig(storage_path=str(tmp_path), name="m")
    with pytest.raises(plethora.ConfigError, match="cannot be divided"):
        plethora.ray.train("knn", catalogue, **config)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"id": "1", "text": "a", "labels": ["x"]}\n{"id": "2", "text": \n')
    with pytest.raises(plethora.Error, match="bad.jsonl:2"):
        plethora.ray.train("bonsai", bad, **config)


def test_a_search_is_that_of_one_process(cluster, catalogue, tmp_path):
    options = {
        "system": "wide-tree",
        "budget": "10m",
        "method": "random",
        "trials": 3,
        "ranges": {"solver.cost": "log:0.1..10"},
        "text_field": ["title", "text"],
        "where": {"split": "train"},
    }
    plethora.search(catalogue, tmp_path / "one", progress=False, **options)
    plethora.ray.search(catalogue, tmp_path / "many", progress=False, **options)
    one, many = (trials(tmp_path / name) for name in ("one", "many"))
    assert many == one
    assert (tmp_path / "many/best.toml").read_text() == (tmp_path / "one/best.toml").read_text()
    assert not (tmp_path / "many.trials").exists()


def trials(folder: Path) -> list[dict]:
    records = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    return [{**record, "seconds": 0} for record in records]


def test_a_deployment_answers_as_the_server(cluster, program, model, tmp_path):
    from ray import serve

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(plethora.ray.deployment(model, name="subjects"), name="plethora")
    asked = {"documents": [{"id": "a", "text": "Tides and harbours"}, "Wind"], "top_k": 3}
    answer = ask(port, asked)
    file = tmp_path / "new.jsonl"
    file.write_text('{"id": "a", "text": "Tides and harbours"}\n{"id": "2", "text": "Wind"}\n')
    lines = run(program, "predict", model, file, "-k", "3", "-q", "--text-field", "text").splitlines()
    assert answer == {"model": "subjects", "results": [json.loads(line) for line in lines]}
    assert ask(port, {"documents": []})["detail"] == "documents: expected at least one"
    serve.shutdown()


def ask(port: int, asked: dict) -> dict:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps(asked).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def test_a_lost_node_is_made_up_for(cluster, many, model, expected, bonsai, tmp_path):
    """The last test, as it takes a node away."""

    def remove(_pid: int, raylet: int) -> bool:
        node = raylets(cluster).get(raylet)
        if node is None or node is cluster.head_node:
            return False
        cluster.remove_node(node, allow_graceful=False)
        return True

    def train(attempt: int) -> dict[str, bytes]:
        return files(train_bonsai(many, tmp_path, f"lost-{attempt}"))

    def rank(_attempt: int) -> bytes:
        ranked = plethora.ray.predict(documents(many, 40), model, top_k=3, batch_size=500, concurrency=2)
        return stored(ranked.take_all())

    assert despite(remove, cluster, "_piece", train) == bonsai
    cluster.add_node(num_cpus=2, object_store_memory=200 << 20)
    assert despite(remove, cluster, "_Ranker", rank) == expected


def test_ray_is_not_imported_unless_asked_for():
    code = (
        "import sys; sys.modules['ray'] = None; import plethora\n"
        "try:\n    import plethora.ray\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "plethora.ray needs Ray; install it with: pip install 'plethora[ray]'\n"
    code = "import sys, plethora; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"
