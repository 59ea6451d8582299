"""The flavour of MLflow, with MLflow itself."""

from __future__ import annotations

import mlflow
import pandas
import pytest

import plethora
import plethora.mlflow

TEXTS = ["Tides and harbours", "Wind over dunes", "Harbours in wind", "Tides at night"] * 3
LABELS = [["sea"], ["air"], ["sea", "air"], ["sea", "night"]] * 3


def test_models_are_saved_loaded_and_predict(tmp_path):
    model = plethora.WideTree(text__min_df=1).fit(TEXTS, LABELS)
    plethora.mlflow.save_model(model, tmp_path / "mlflow")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "mlflow"))
    found = loaded.predict(pandas.DataFrame({"text": TEXTS}), params={"top_k": 2})
    expected = [
        [{"label": label, "score": score} for label, score in row] for row in model.predict(TEXTS, 2)
    ]
    assert found["predictions"].tolist() == expected
    assert loaded.predict(TEXTS[:1])["predictions"].tolist()[0][0]["label"] == "sea"
    assert type(loaded.get_raw_model()) is plethora.WideTree
    high = loaded.predict(pandas.DataFrame({"text": TEXTS}), params={"threshold": 0.99})
    assert len(high) == len(TEXTS)


def test_fields_of_tables_are_those_of_the_model(tmp_path):
    frame = pandas.DataFrame({"title": TEXTS, "body": "sand", "subjects": LABELS})
    model = plethora.WideTree(text__min_df=1)
    model.fit(frame, text_field=["title", "body"], label_field="subjects")
    plethora.mlflow.save_model(model, tmp_path / "mlflow")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "mlflow"))
    assert loaded.metadata.get_input_schema().input_names() == ["title", "body"]
    rows = loaded.predict(frame[["body", "title"]])["predictions"]
    assert [row[0]["label"] for row in rows] == [row[0][0] for row in model.predict(frame)]


def test_models_are_logged_to_a_run(tmp_path, monkeypatch):
    # mlflow-skinny has no other store, and MLflow itself wants to be told that this one is meant.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("subjects")
    model = plethora.WideTree(text__min_df=1).fit(TEXTS, LABELS)
    with mlflow.start_run():
        logged = plethora.mlflow.log_model(model, name="subjects")
    loaded = mlflow.pyfunc.load_model(logged.model_uri)
    assert len(loaded.predict(TEXTS)) == len(TEXTS)
