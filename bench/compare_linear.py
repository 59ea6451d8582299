"""Plethora beside omikuji and PECOS on the same features: see README.md in this folder.

Every training and every prediction runs in a process of its own. CPU seconds count user and system time of all
threads. For omikuji they include reading the features (its interface offers no other way); for PECOS they are
training alone, with the features already in memory; for Plethora they are the whole process: reading, training,
saving and checksumming.
"""

import argparse
import json
import lzma
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sparse

THREADS = 2
TOP_K = 10
PEERS = ["omikuji-parabel", "omikuji-bonsai", "pecos-xr-linear"]
OURS = ["plethora-wide-tree", "plethora-parabel", "plethora-bonsai", "plethora-one-vs-all"]
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

DATA_SETS = {
    "eurlex57k": ("eurlex57k.docs.jsonl.xz", lambda row: True, lambda row: row["text"]),
    "gnd-tib-en": ("gnd-tib.docs.jsonl.xz", lambda row: row["lang"] == "en", lambda row: row["title"] + " " + row["abstract"]),
    "cve-lib": ("cve-lib.docs.jsonl.xz", lambda row: True, lambda row: row["text"]),
}


def cpu_seconds():
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def folder_size(path):
    return sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file())


def prepare(name, data, out):
    """TF-IDF fitted on train, as CSR arrays for PECOS and as XMC text for the others."""
    folder = out / name
    if (folder / "ready").exists():
        return folder
    from sklearn.feature_extraction.text import TfidfVectorizer

    file, chosen, text = DATA_SETS[name]
    with lzma.open(data / file, "rt", encoding="utf8") as lines:
        rows = [row for row in map(json.loads, lines) if chosen(row)]
    splits = {split: [row for row in rows if row["split"] == split] for split in ("train", "test")}
    seen = sorted({label for row in splits["train"] for label in row["labels"]})
    unseen = sorted({label for row in splits["test"] for label in row["labels"]} - set(seen))
    index = {label: number for number, label in enumerate(seen + unseen)}
    tfidf = TfidfVectorizer(lowercase=True, token_pattern=r"\w+", min_df=2, sublinear_tf=True, dtype=np.float32)
    tfidf.fit(text(row) for row in splits["train"])
    folder.mkdir(parents=True, exist_ok=True)
    for split, members in splits.items():
        x = tfidf.transform(text(row) for row in members).tocsr()
        x.sort_indices()
        labels = [sorted({index[label] for label in row["labels"]}) for row in members]
        if split == "train":
            kept = np.diff(x.indptr) > 0
            x, labels = x[kept], [row for row, keep in zip(labels, kept) if keep]
        starts = np.cumsum([0] + [len(row) for row in labels])
        flat = np.fromiter((label for row in labels for label in row), np.int32)
        width = len(seen) if split == "train" else len(index)
        y = sparse.csr_matrix((np.ones(len(flat), np.float32), flat, starts), shape=(len(labels), width))
        sparse.save_npz(folder / f"{split}.x.npz", x)
        sparse.save_npz(folder / f"{split}.y.npz", y)
        with open(folder / f"{split}.txt", "w") as file:
            file.write(f"{x.shape[0]} {x.shape[1]} {width}\n")
            for row in range(x.shape[0]):
                entries = slice(x.indptr[row], x.indptr[row + 1])
                pairs = " ".join(f"{c}:{v:.6g}" for c, v in zip(x.indices[entries], x.data[entries]))
                file.write(",".join(map(str, labels[row])) + " " + pairs + "\n")
    (folder / "ready").touch()
    return folder


def accuracy(ranked, truth):
    """P@1, P@3, P@5, nDCG@5 in percent; a short ranking counts as misses, unseen labels stay in the truth."""
    sets = [set(truth.indices[truth.indptr[row] : truth.indptr[row + 1]]) for row in range(truth.shape[0])]
    hits = np.array([[k < len(row) and row[k] in labels for k in range(5)] for row, labels in zip(ranked, sets)])
    gains = 1 / np.log2(np.arange(2, 7))
    best = np.array([gains[: len(labels)].sum() for labels in sets])
    ndcg = np.where(best > 0, hits @ gains / np.maximum(best, 1e-9), 0)
    return [100 * hits[:, :k].sum() / (k * len(sets)) for k in (1, 3, 5)] + [100 * ndcg.mean()]


def train_omikuji(folder, model, bonsai):
    import omikuji

    settings = omikuji.Model.default_hyper_param()
    if bonsai:
        settings.cluster_balanced, settings.cluster_k, settings.max_depth = False, 100, 3
    start = cpu_seconds()
    trained = omikuji.Model.train_on_data(str(folder / "train.txt"), settings, n_threads=THREADS)
    spent = cpu_seconds() - start
    trained.save(str(model))
    return spent


def predict_omikuji(folder, model):
    import omikuji

    loaded = omikuji.Model.load(str(model))
    loaded.init_prediction_thread_pool(THREADS)
    loaded.densify_weights(0.1, THREADS)
    x = sparse.load_npz(folder / "test.x.npz")
    rows = [list(zip(x.indices[a:b].tolist(), x.data[a:b].tolist())) for a, b in zip(x.indptr, x.indptr[1:])]
    start = cpu_seconds()
    ranked = [loaded.predict(row, top_k=TOP_K) if row else [] for row in rows]
    return cpu_seconds() - start, [[label for label, _ in row] for row in ranked]


def train_pecos(folder, model):
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    x = sparse.load_npz(folder / "train.x.npz").astype(np.float32)
    y = sparse.load_npz(folder / "train.y.npz").astype(np.float32)
    start = cpu_seconds()
    features = LabelEmbeddingFactory.create(y, x, method="pifa")
    clusters = Indexer.gen(features, indexer_type="hierarchicalkmeans", threads=THREADS)
    trained = XLinearModel.train(x, y, C=clusters, threads=THREADS)
    spent = cpu_seconds() - start
    trained.save(str(model))
    return spent


def predict_pecos(folder, model):
    from pecos.xmc.xlinear.model import XLinearModel

    loaded = XLinearModel.load(str(model), is_predict_only=True)
    x = sparse.load_npz(folder / "test.x.npz").astype(np.float32)
    loaded.predict(x[:64], only_topk=TOP_K, threads=THREADS)
    start = cpu_seconds()
    scores = loaded.predict(x, only_topk=TOP_K, beam_size=10, threads=THREADS)
    spent = cpu_seconds() - start
    rows = [slice(a, b) for a, b in zip(scores.indptr, scores.indptr[1:])]
    return spent, [scores.indices[row][np.argsort(-scores.data[row], kind="stable")] for row in rows]


def plethora(arguments):
    command = [os.environ["PLETHORA"], *map(str, arguments), "--threads", str(THREADS), "--quiet"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def train_plethora(folder, model, system):
    start = cpu_seconds()
    plethora(["train", folder / "train.txt", "-o", model, "--system", system])
    return cpu_seconds() - start


def predict_plethora(folder, model):
    measured = json.loads(plethora(["eval", model, folder / "test.txt", "--json"]))
    lines = plethora(["predict", model, folder / "test.txt", "-k", TOP_K]).splitlines()
    ranked = [[int(entry["key"]) for entry in json.loads(line)["predictions"]] for line in lines]
    return measured["speed"]["ranking_ms_cpu_per_doc"] * len(ranked) / 1000, ranked


def child(step, system, folder, model):
    """One step of one system, in this process; prints a JSON line."""
    name = system.split("-", 1)[1]
    if step == "train":
        trainers = {"omikuji": lambda: train_omikuji(folder, model, name == "bonsai"), "pecos": lambda: train_pecos(folder, model)}
        spent = trainers.get(system.split("-")[0], lambda: train_plethora(folder, model, name))()
        print(json.dumps({"cpu_s": spent, "bytes": folder_size(model)}))
        return
    predictors = {"omikuji": predict_omikuji, "pecos": predict_pecos, "plethora": predict_plethora}
    spent, ranked = predictors[system.split("-")[0]](folder, model)
    truth = sparse.load_npz(folder / "test.y.npz")
    print(json.dumps({"cpu_ms": 1000 * spent / truth.shape[0], "precision": accuracy(ranked, truth)}))


def run_step(step, system, folder, model):
    command = [sys.executable, __file__, "--child", step, system, str(folder), str(model)]
    # omikuji draws its progress whoever listens.
    with open(f"{model}.{step}.log", "w") as log:
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=log, text=True).stdout
    return json.loads(output.strip().splitlines()[-1])


def spread(values, digits):
    low, middle, high = min(values), statistics.median(values), max(values)
    text = f"{middle:.{digits}f}"
    return text if len(values) == 1 else f"{text} ({low:.{digits}f}-{high:.{digits}f})"


def compare(name, folder, systems, repeat):
    runs = {system: [] for system in systems}
    for _ in range(repeat):
        for system in systems:
            model = folder / f"model-{system}"
            shutil.rmtree(model, ignore_errors=True)
            started = time.time()
            trained = run_step("train", system, folder, model)
            runs[system].append(trained | run_step("predict", system, folder, model))
            print(f"{name} {system}: {time.time() - started:.0f} s", file=sys.stderr, flush=True)
    print(f"\n{name}, test split, {THREADS} threads, {repeat} runs: median (least-most)\n")
    print("| system | P@1 | P@3 | P@5 | nDCG@5 | train, CPU s | predict, CPU ms/document | MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for system, results in runs.items():
        cells = [spread([result["precision"][k] for result in results], 2) for k in range(4)]
        cells.append(spread([result["cpu_s"] for result in results], 1))
        cells.append(spread([result["cpu_ms"] for result in results], 3))
        cells.append(spread([result["bytes"] / 2**20 for result in results], 1))
        print(f"| {system} | {' | '.join(cells)} |")
    print_shares(runs)
    print(flush=True)


def print_shares(runs):
    """Each of our systems beside each of the others: its share of their time, run by run."""
    print("\n| share of the time of | train | predict |\n| --- | ---: | ---: |")
    for system in filter(lambda name: name in OURS, runs):
        for peer in filter(lambda name: name in PEERS, runs):
            pairs = list(zip(runs[system], runs[peer]))
            cells = [spread([ours[key] / theirs[key] for ours, theirs in pairs], 2) for key in ("cpu_s", "cpu_ms")]
            print(f"| {system} / {peer} | {' | '.join(cells)} |")


def main():
    if sys.argv[1:2] == ["--child"]:
        step, system, folder, model = sys.argv[2:]
        return child(step, system, pathlib.Path(folder), pathlib.Path(model))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=DATA_SETS, help="data sets")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the corpora")
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / ".bench")
    parser.add_argument("--plethora", type=pathlib.Path, default=REPOSITORY / "target/release/plethora")
    parser.add_argument("--systems", nargs="+", default=PEERS + OURS[:1], choices=PEERS + OURS)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["PLETHORA"] = str(arguments.plethora)
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    for name in arguments.names:
        compare(name, prepare(name, arguments.data, arguments.out), arguments.systems, arguments.repeat)


if __name__ == "__main__":
    main()
