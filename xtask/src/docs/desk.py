"""Makes the files that the pages name of a generated catalogue, whose labels become URIs."""

import csv
import json
import os
import re
import shutil
import struct
from pathlib import Path

TESTDATA = Path(os.environ["REPOSITORY"], "testdata")


def uri(key):
    return f"http://example.org/{key}"


def read(name):
    return [json.loads(line) for line in Path("catalogue", name).read_text().splitlines()]


def write_lines(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def enlarge(small, target, places, layers):
    """Copies an encoder and gives it more places and layers, as real ones have: its own over and over."""
    weights = (small / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", weights[:8])
    header, data = json.loads(weights[8 : 8 + size]), weights[8 + size :]
    own = json.loads((small / "config.json").read_text())
    written, tensors = {}, b""
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        begin, end = tensor["data_offsets"]
        content = data[begin:end]
        if "position_embeddings" in name:
            content *= places // tensor["shape"][0]
            tensor["shape"][0] = places
        part = re.search(r"layer\.(\d+)\.", name)
        copies = range(int(part[1]), layers, own["num_hidden_layers"]) if part else [None]
        for copy in copies:
            copied = name if copy is None else name.replace(part[0], f"layer.{copy}.")
            written[copied] = {**tensor, "data_offsets": [len(tensors), len(tensors) + len(content)]}
            tensors += content
    head = json.dumps(written).encode()
    head += b" " * (-len(head) % 8)
    (target / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + tensors)
    changed = {**own, "max_position_embeddings": places, "num_hidden_layers": layers}
    (target / "config.json").write_text(json.dumps(changed))


labels = [{**row, "key": uri(row["key"]), "parents": [uri(key) for key in row.get("parents", [])]}
          for row in read("labels.jsonl")]
documents = [{**row, "labels": [uri(key) for key in row["labels"]]} for row in read("documents.jsonl")]
next(row for row in labels if row["key"] == documents[0]["labels"][0])["name"] = "glass"
train = [row for row in documents if row["split"] == "train"]
test = [row for row in documents if row["split"] != "train"]

for name in ["papers", "books", "titles", "laws", "a"]:
    write_lines(f"{name}.jsonl", documents)
for name in ["test", "new", "new-books", "validation"]:
    write_lines(f"{name}.jsonl", test)
write_lines("newly-labelled.jsonl", test[:5])

with open("papers.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["id", "text", "labels"])
    rows.writerows([row["id"], row["text"], ";".join(row["labels"])] for row in documents)

# Texts without labels.
Path("texts").mkdir()
for row in test[:3]:
    Path("texts", f"{row['id']}.txt").write_text(row["text"])
Path("titles.txt").write_text("".join(row["title"] + "\n" for row in test))
Path("report.txt").write_text("A history of harbours\nand of those who\nbuilt them.\n\nThe second part is about\nlighthouses.\n")

# The vocabulary, and what is new or gone.
write_lines("subjects.jsonl", labels)
Path("subjects.tsv").write_text("".join(f"<{row['key']}>\t{row['name']}\n" for row in labels))
shutil.copy("subjects.tsv", "labels.tsv")
turtle = ["@prefix skos: <http://www.w3.org/2004/02/skos/core#> ."]
for row in labels:
    names = [f'skos:prefLabel "{row["name"]}"@en']
    names += [f'skos:altLabel "{name}"@en' for name in row.get("alternatives", [])]
    names += [f"skos:broader <{key}>" for key in row["parents"]]
    turtle.append(f"<{row['key']}> a skos:Concept ; " + " ; ".join(names) + " .")
Path("subjects.ttl").write_text("\n".join(turtle) + "\n")
Path("new-subjects.tsv").write_text(f"<{uri('new-1')}>\tTide mills\n<{uri('new-2')}>\tWindmills\n")
write_lines("a-few-books.jsonl", [{"id": "n1", "text": "A tide mill by the harbour", "labels": [uri("new-1")]}])
Path("gone.tsv").write_text(train[0]["labels"][0] + "\n")
judged = train[1]
feedback = {"text": judged["text"], "right": judged["labels"][:1], "wrong": [], "missing": judged["labels"][1:],
            "labels": judged["labels"]}
write_lines("feedback.jsonl", [feedback])

# What is pretrained: a random encoder of two small layers, by the names of real ones, and a few vectors.
encoder = Path("encoder")
encoder.mkdir()
shutil.copy(TESTDATA / "encoder/tokenizer.json", encoder)
enlarge(TESTDATA / "encoder", encoder, places=512, layers=6)
for name in ["all-MiniLM-L6-v2", "all-mpnet-base-v2"]:
    os.symlink("encoder", name)
    # Not where it is looked for: training without a system takes what it finds there.
    hub = Path("huggingface/hub", f"models--sentence-transformers--{name}")
    (hub / "snapshots").mkdir(parents=True)
    (hub / "refs").mkdir()
    (hub / "refs/main").write_text("0" * 40)
    shutil.copytree(encoder, hub / "snapshots" / ("0" * 40))
words = sorted({word.lower() for row in documents for word in row["title"].split()})
numbers = lambda place: " ".join(str((place * 7 + step * 3) % 11 / 10 - 0.5) for step in range(16))
Path("glove.txt").write_text("".join(f"{word} {numbers(place)}\n" for place, word in enumerate(words)))

# Tables in columns.
shutil.copy(TESTDATA / "formats/pandas.parquet", "papers.parquet")
shutil.copytree(TESTDATA / "formats/hugging_face", "my_dataset")
Path("data").mkdir()
shutil.copy(TESTDATA / "formats/polars.parquet", "data/train-00000-of-00001.parquet")
