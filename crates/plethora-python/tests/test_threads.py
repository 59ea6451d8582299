"""Threads, processes, progress and Ctrl-C."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import plethora


def test_other_threads_run_while_a_model_is_trained(train):
    model = plethora.Parabel(seed=7, num_trees=8, n_jobs=1)
    worker = threading.Thread(target=model.fit, args=(train.texts * 2, train.labels * 2))
    worker.start()
    pauses = []
    while worker.is_alive():
        started = time.perf_counter()
        time.sleep(0.001)
        pauses.append(time.perf_counter() - started)
    assert len(pauses) > 20, "the lock of the interpreter was held"
    assert model.predict(train.texts[:1])


def test_threads_predict_with_one_model(parabel, test):
    expected = parabel.predict(test.texts)
    with ThreadPoolExecutor(4) as threads:
        for rows in threads.map(parabel.predict, [test.texts] * 8):
            assert rows == expected


def test_forked_processes_predict(parabel, test):
    expected = parabel.predict(test.texts)
    with multiprocessing.get_context("fork").Pool(2, _share, (parabel, test.texts)) as pool:
        for rows in pool.map_async(_predict, range(2)).get(timeout=120):
            assert rows == expected


def _share(model, texts):
    global SHARED
    SHARED = model, texts


def _predict(_):
    model, texts = SHARED
    return model.predict(texts)


def test_progress_is_told_stage_by_stage(train):
    told = []
    plethora.Parabel(progress=told.append).fit(train.texts, train.labels)
    assert all(isinstance(report, plethora.Progress) for report in told)
    over = [report.stage for report in told if report.is_over]
    assert over[0] == "reading" and over[-1] == "saving"
    assert f"{len(train.texts)} documents" in next(r.message for r in told if r.is_over)


def test_bars_are_drawn_by_tqdm(train, capsys):
    plethora.Parabel(progress=True).fit(train.texts, train.labels)
    assert "reading" in capsys.readouterr().err
    plethora.Parabel(progress=False).fit(train.texts, train.labels)
    assert capsys.readouterr().err == ""


def test_failing_callbacks_stop_the_work(train):
    def fail(report):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        plethora.Parabel(progress=fail, num_trees=200).fit(train.texts, train.labels)


def test_warnings_go_to_the_logger(caplog):
    with caplog.at_level(logging.WARNING, logger="plethora"):
        plethora.Parabel(text__min_df=1).fit(["Tides", "Wind", "Sand"], [["sea"], ["air"], []])
    assert "documents without labels are left out: 1" in caplog.text


INTERRUPTED = """
import signal, sys, plethora
# Shells start what runs in their background deaf to Ctrl-C, tests among it.
signal.signal(signal.SIGINT, signal.default_int_handler)
texts = [f"word{n % 97} word{n % 89} word{n % 83}" for n in range(3000)]
labels = [[f"label{n % 300}"] for n in range(3000)]
def tell(report):
    if report.stage not in ("reading", "label features"):
        print("ready", flush=True)
try:
    plethora.Parabel(num_trees=200, progress=tell, n_jobs=1).fit(texts, labels)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
print("complete")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_stops_training(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 7, rest
    assert rest.splitlines()[-1] == "interrupted"
    assert not list(tmp_path.glob("plethora-*")), "the unfinished model was left behind"
