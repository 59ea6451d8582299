"""Corpora in the forms that pandas, pyarrow, polars and others write them."""

from __future__ import annotations

from pathlib import Path

import pytest

import plethora

FORMATS = Path(__file__).resolve().parents[3] / "testdata" / "formats"


@pytest.mark.parametrize(
    "name, options",
    [
        ("pandas_lists.csv", {}),
        ("pandas_semicolons.csv", {"delimiter": ";"}),
        ("pandas_cp1252.csv", {"encoding": "cp1252"}),
        ("pandas_flags.csv", {"label_columns": "Häfen..two words"}),
        ("pandas_rows_per_label.csv", {"group_rows": True, "label_separator": ";"}),
        ("pandas.parquet", {}),
        ("polars.arrow", {}),
        ("hugging_face_names.parquet", {}),
        ("pandas_parts", {}),
    ],
)
def test_other_forms_have_the_same_documents(name, options):
    expected = plethora.load_dataset(FORMATS / "documents.jsonl")
    read = plethora.load_dataset(FORMATS / name, **options)
    assert read.ids == expected.ids
    assert read.texts == expected.texts
    assert read.labels == expected.labels


def test_several_files_are_one_corpus():
    parts = [FORMATS / "pandas_parts" / "part-0.parquet", FORMATS / "pandas_parts" / "part-1.csv"]
    assert plethora.load_dataset(parts).ids == plethora.load_dataset(FORMATS / "documents.jsonl").ids
    with pytest.raises(ValueError, match="at least one file"):
        plethora.load_dataset([])
