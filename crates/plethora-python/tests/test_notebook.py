"""What notebooks show: short lines, tables, marked texts, progress."""

from __future__ import annotations

import copy
import pickle
from html.parser import HTMLParser

import nbclient
import nbformat
import pytest

import plethora

VOID = {"br", "progress"}


class Balanced(HTMLParser):
    """Fails where tags are not closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown(value) -> str:
    """The text of what a notebook shows."""
    parser = Balanced()
    parser.feed(value._repr_html_())
    assert not parser.open
    return parser.text


def test_data_sets_are_short(train):
    assert repr(train) == f"<Dataset: {len(train.ids)} documents (texts), {num_labels(train)} labels>"
    assert len(repr(train)) < 80


def num_labels(data) -> int:
    return len({label for row in data.labels for label in row})


def test_loaded_models_show_what_differs_from_their_recipe(train, tmp_path):
    model = plethora.Parabel(seed=7, tree__max_leaf=50).fit(train, output=tmp_path / "model")
    loaded = plethora.load(tmp_path / "model")
    assert repr(loaded) == repr(model) == "Parabel(seed=7, tree__max_leaf=50)"
    assert "83" not in shown(plethora.Parabel()) and "not fitted" in shown(plethora.Parabel())
    assert f"{len(train.ids)}" in shown(loaded) and str(tmp_path) in shown(loaded)


def test_explanations_mark_the_text(parabel, test):
    text = "<b>&amp;\n" + test.texts[0]
    found = parabel.explain(text, parabel.predict(text)[0][0])
    assert len(repr(found)) < 500 and found["label"] in repr(found)
    assert text.replace("\n", "") in shown(found)
    assert "background:rgba(46,160,67" in found._repr_html_()
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found and again._repr_html_() == found._repr_html_()


def test_neighbours_are_shown(train):
    model = plethora.KNN(n_jobs=1).fit(train)
    found = model.explain(train.texts[0], train.labels[0][0])
    assert "similar document" in shown(found)


def test_metrics_are_a_table(parabel, test):
    measured = parabel.evaluate(test)
    assert f"{100 * measured['nDCG@5']:.2f}" in shown(measured)
    assert measured == dict(measured)


def test_notebooks_draw_progress_without_further_packages():
    code = (
        "import plethora\n"
        "model = plethora.WideTree(text__min_df=1)\n"
        "model.fit(['a b', 'c d'] * 9, [['x'], ['y']] * 9)"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=60).execute()
    pages = [output["data"]["text/html"] for output in notebook.cells[0].outputs]
    assert len(pages) == 2 and "reading: 18 documents" in pages[0]
    assert "WideTree()" in pages[1]
