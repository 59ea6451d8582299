"""Tables and columns of other libraries: each gives the model of the plain lists."""

from __future__ import annotations

import subprocess
import sys

import datasets
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse as sp

import plethora

TITLES = ["Tides", "Wind", "Harbours", "Night"] * 4
BODIES = ["of the sea", None, "and wind over dunes", "tides"] * 4
JOINED = ["Tides\nof the sea", "Wind", "Harbours\nand wind over dunes", "Night\ntides"] * 4
LABELS = [["sea"], ["air"], ["sea", "air"], ["night", "sea"]] * 4
NUMBERS = [[2], [0], [2, 0], [1, 2]] * 4
NAMES = ["air", "night", "sea"]
FIELDS = ["title", "body"]


def small(**params):
    return plethora.WideTree(text__min_df=1, seed=3, **params)


@pytest.fixture(scope="module")
def expected():
    return small().fit(JOINED, LABELS).predict(JOINED)


def tables(labels=LABELS, name="labels"):
    """The same rows in each library."""
    content = {"title": TITLES, "body": BODIES, name: labels}
    turned = datasets.Dataset.from_dict({key: values[::-1] for key, values in content.items()})
    frame = pandas.DataFrame(content)
    made = {
        "pandas": frame,
        "arrow strings of pandas": frame.convert_dtypes(),
        "polars": polars.DataFrame(content, strict=False),
        "lazy polars": polars.DataFrame(content, strict=False).lazy(),
        "arrow": pyarrow.table(content),
        "arrow batch": pyarrow.table(content).to_batches()[0],
        "datasets": datasets.Dataset.from_dict(content),
        "chosen rows of datasets": turned.select(range(len(TITLES) - 1, -1, -1)),
    }
    return made


@pytest.mark.parametrize("kind", list(tables()))
def test_tables_give_the_model_of_lists(kind, expected, tmp_path):
    table = tables()[kind]
    model = small().fit(table, valid=table, text_field=FIELDS)
    assert model.predict(table) == expected
    assert model.score(table) == pytest.approx(model.evaluate(JOINED, LABELS)["nDCG@5"])
    assert model.report_["metrics"]["P@1"] == model.evaluate(table)["P@1"]
    assert model.text_fields_ == FIELDS
    loaded = plethora.load(model.save(tmp_path / "model"))
    assert loaded.predict(table) == expected and loaded.text_fields_ == FIELDS


@pytest.mark.parametrize("kind", list(tables()))
def test_columns_give_the_model_of_lists(kind):
    table = tables()[kind]
    if kind == "lazy polars":
        table = table.collect()
    model = small().fit(table["title"], table["labels"])
    assert model.predict(table["title"]) == small().fit(TITLES, LABELS).predict(TITLES)
    missing = model.predict(table["body"])
    assert len(missing) == len(BODIES)
    assert plethora.metrics.precision_at_k(table["labels"], model.predict(TITLES), k=1) == (
        plethora.metrics.precision_at_k(LABELS, model.predict(TITLES), k=1)
    )


@pytest.mark.parametrize("kind", list(tables(NUMBERS)))
def test_numbers_are_labels_and_may_have_names(kind, expected):
    table = tables(NUMBERS)[kind]
    model = small().fit(table, text_field=FIELDS, label_names=NAMES)
    assert model.predict(JOINED) == expected and list(model.classes_) == NAMES
    assert model.score(table) == model.score(JOINED, LABELS)
    unnamed = small().fit(table, text_field=FIELDS)
    assert sorted(unnamed.classes_) == ["0", "1", "2"]
    assert unnamed.score(JOINED, NUMBERS) == model.score(JOINED, LABELS)


def test_numbers_in_lists(expected):
    with pytest.raises(plethora.DataError, match="expected a matrix of 0 and 1, found 2"):
        small().fit(JOINED, np.asarray([[2], [0], [1], [2]] * 4))
    rows = small().fit(JOINED, [np.asarray(row) for row in NUMBERS], label_names=NAMES)
    assert rows.predict(JOINED) == expected
    value = plethora.metrics.precision_at_k([[3]], [[("3", 0.5)]], k=1)
    assert value == 1.0
    with pytest.raises(plethora.DataError, match="none has the number 7"):
        small().fit(JOINED, [[7]] * 16, label_names=NAMES)
    with pytest.raises(plethora.DataError, match="expected a list of str, found bool in it"):
        small().fit(JOINED, [[True]] * 16)
    with pytest.raises(plethora.DataError, match="expected a list of str, found float in it"):
        small().fit(JOINED, [[1.5]] * 16)


def test_one_column_for_each_label(expected):
    content = {name: [int(name in row) for row in LABELS] for name in NAMES}
    frame = pandas.DataFrame(content)
    model = small().fit(JOINED, frame)
    assert model.predict(JOINED) == expected and list(model.classes_) == NAMES
    assert model.score(JOINED, frame[["sea", "air", "night"]]) == model.score(JOINED, LABELS)
    with pytest.raises(plethora.DataError, match="expected 0 or 1 in column `sea`, found 3"):
        small().fit(JOINED, frame.assign(sea=3))


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        ([" ; ".join(row) for row in LABELS], ";"),
        ([str(row) for row in LABELS], None),
        ([str(row).replace("'", '"') for row in LABELS], None),
    ],
)
def test_labels_in_one_string(cells, separator, expected):
    frame = pandas.DataFrame({"text": JOINED, "labels": cells})
    assert small().fit(frame, label_separator=separator).predict(frame) == expected


def test_cells_without_labels_are_documents_without_labels():
    frame = pandas.DataFrame({"text": JOINED, "labels": [["sea"], None] * 8})
    model = small().fit(frame)
    assert model.report_["n_documents"] == 8


def test_classes_of_data_sets_have_their_names(expected):
    content = {"text": JOINED, "labels": NUMBERS}
    classes = datasets.Sequence(datasets.ClassLabel(names=NAMES))
    features = datasets.Features({"text": datasets.Value("string"), "labels": classes})
    data = datasets.Dataset.from_dict(content, features=features)
    assert small().fit(data).predict(data) == expected
    with pytest.raises(plethora.DataError, match=r"several splits \(train\); take one of them"):
        small().fit(datasets.DatasetDict({"train": data}))


def test_what_is_missing_is_named():
    frame = pandas.DataFrame({"title": TITLES, "subjects": LABELS})
    message = "no column `text`; columns found: title, subjects. Name another with text_field="
    with pytest.raises(plethora.DataError, match=message):
        small().fit(frame)
    with pytest.raises(plethora.DataError, match="label_field="):
        small().fit(frame, text_field="title")
    with pytest.raises(plethora.DataError, match="no column `subject`; .*label_field="):
        small().fit(frame, text_field="title", label_field="subject")
    with pytest.raises(plethora.DataError, match="a single str; .*label_separator="):
        small().fit(TITLES, ["sea;air"] * 16)


def test_a_single_text_has_one_ranking(expected):
    model = small().fit(JOINED, LABELS)
    assert model.predict(JOINED[0]) == expected[0]
    assert model.predict_csr(JOINED[0]).shape == (1, 3)


def test_data_sets_of_the_package_are_taken_whole(train, test):
    model = plethora.WideTree(seed=7).fit(train, valid=test)
    assert model.predict(test, 3) == model.predict(test.texts, 3)
    assert model.score(test) == model.score(test.texts, test.labels)


def test_no_library_is_imported_for_lists():
    script = (
        "import sys, plethora\n"
        "plethora.WideTree(text__min_df=1).fit(['a b', 'c d'] * 3, [['x'], ['y']] * 3)\n"
        "found = {'pandas', 'polars', 'pyarrow', 'datasets', 'mlflow', 'IPython'} & set(sys.modules)\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_probabilities_are_sparse_and_thresholds_are_not_cut_at_top_k(parabel, test):
    matrix = parabel.predict_proba(test.texts)
    assert sp.issparse(matrix) and matrix.shape == (len(test.texts), len(parabel.classes_))
    assert matrix.data.min() >= 0 and matrix.data.max() <= 1
    few = plethora.load(parabel.path_, top_k=1)
    all_of_them = few.predict(test.texts, threshold=0.0)
    assert max(map(len, all_of_them)) > 10
    assert all(len(row) == 1 for row in few.predict(test.texts))
    assert all(len(row) <= 2 for row in few.predict(test.texts, 2, threshold=0.0))
