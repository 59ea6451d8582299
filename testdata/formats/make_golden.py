"""Writes the same documents with pandas, pyarrow, polars and datasets, in the forms people have them."""

import csv
import json
import shutil
from pathlib import Path

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

DOCUMENTS = [
    ("d1", "Der Hafen von Lübeck, 1200; Schiffe | Boote", ["Häfen", "sea, open"]),
    ("d2", "A text\nof two lines with \"quotes\" and a 'tick'", ["captain's"]),
    ("d3", "Größe und Maß der Küste", ["sea, open", "Häfen", "two words"]),
    ("d4", "A text without labels", []),
    ("d5", "The last one – with a dash", ["two words"]),
]
NAMES = ["Häfen", "sea, open", "captain's", "two words"]

IDS = [key for key, _, _ in DOCUMENTS]
TEXTS = [text for _, text, _ in DOCUMENTS]
LABELS = [labels for _, _, labels in DOCUMENTS]


def in_order_of_names(labels: list[str]) -> list[str]:
    return [name for name in NAMES if name in labels]


# Columns of 0 and 1 have no order of labels but their own, so all documents have it.
LABELS = [in_order_of_names(labels) for labels in LABELS]


def write_text(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def lines() -> None:
    rows = [
        json.dumps({"id": key, "text": text, "labels": labels}, ensure_ascii=False)
        for key, text, labels in zip(IDS, TEXTS, LABELS)
    ]
    write_text("documents.jsonl", "".join(f"{row}\n" for row in rows))


def with_pandas() -> None:
    frame = pd.DataFrame({"id": IDS, "text": TEXTS, "labels": LABELS})
    frame.to_csv("pandas_lists.csv", index=False)
    joined = frame.assign(labels=frame["labels"].map(";".join))
    # As German Excel has it.
    joined.to_csv("pandas_semicolons.csv", index=False, sep=";", lineterminator="\r\n")
    joined.to_csv("pandas_tab.csv", index=False, sep="\t")
    joined.to_csv("pandas_cp1252.csv", index=False, encoding="cp1252")
    joined.to_csv("pandas_utf16.csv", index=False, sep=";", encoding="utf-16", quoting=csv.QUOTE_ALL)
    cells = frame.assign(labels=frame["labels"].map(json.dumps))
    cells.to_csv("pandas_json_cells.csv", index=False)
    flags = frame[["id", "text"]].copy()
    for name in NAMES:
        flags[name] = [int(name in labels) for labels in LABELS]
    # With the index, as people forget to leave it out.
    flags.to_csv("pandas_flags.csv")
    flags.to_parquet("pandas_flags.parquet", index=False)
    frame.explode("labels").to_csv("pandas_rows_per_label.csv", index=False)
    frame.to_json(
        "pandas.jsonl.gz", orient="records", lines=True, compression={"method": "gzip", "mtime": 0}
    )
    frame.to_parquet("pandas.parquet")
    frame.to_feather("pandas.feather")
    Path("pandas_parts").mkdir(exist_ok=True)
    frame[:2].to_parquet("pandas_parts/part-0.parquet")
    cells[2:].to_csv("pandas_parts/part-1.csv", index=False)


def with_pyarrow() -> None:
    table = pa.table({"id": IDS, "text": TEXTS, "labels": LABELS})
    with pa.OSFile("pyarrow_lz4.arrow", "wb") as file:
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(file, table.schema, options=options) as writer:
            for batch in table.to_batches(max_chunksize=2):
                writer.write_batch(batch)
    dictionary = pa.table(
        {
            "id": pa.array(IDS).dictionary_encode(),
            "text": TEXTS,
            "labels": pa.array(LABELS, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        }
    )
    pq.write_table(dictionary, "pyarrow_dictionary.parquet", compression="gzip", row_group_size=2)
    large = pa.table(
        {
            "id": pa.array(IDS, pa.large_string()),
            "text": pa.array(TEXTS, pa.large_string()),
            "labels": pa.array(LABELS, pa.large_list(pa.large_string())),
        }
    )
    pq.write_table(large, "pyarrow_large.parquet", compression="lz4")


def with_polars() -> None:
    frame = pl.DataFrame({"id": IDS, "text": TEXTS, "labels": LABELS})
    frame.write_parquet("polars.parquet")
    frame.write_ipc("polars.arrow", compression="zstd")
    frame.write_ndjson("polars.ndjson")


def with_hugging_face() -> None:
    plain = datasets.Dataset.from_dict({"id": IDS, "text": TEXTS, "labels": LABELS})
    shutil.rmtree("hugging_face", ignore_errors=True)
    plain.save_to_disk("hugging_face")
    numbers = [[NAMES.index(label) for label in labels] for labels in LABELS]
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "text": datasets.Value("string"),
            "labels": datasets.Sequence(datasets.ClassLabel(names=NAMES)),
        }
    )
    named = datasets.Dataset.from_dict(
        {"id": IDS, "text": TEXTS, "labels": numbers}, features=features
    )
    named.to_parquet("hugging_face_names.parquet")


def as_annif() -> None:
    shutil.rmtree("annif", ignore_errors=True)
    for index, (key, text, labels) in enumerate(zip(IDS, TEXTS, LABELS)):
        write_text(f"annif/{key}.txt", f"{text}\n")
        if index % 2:
            write_text(f"annif/{key}.key", "".join(f"{label}\n" for label in labels))
        else:
            write_text(f"annif/{key}.tsv", "".join(f"<{label}>\t{label}\n" for label in labels))


lines()
with_pandas()
with_pyarrow()
with_polars()
with_hugging_face()
as_annif()
