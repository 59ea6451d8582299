"""PECOS XR-Transformer on raw texts, as a mark for networks: see README.md in this folder.

Trains on the split `train`, ranks `dev` and `test`, and prints a line of figures for each. Features are the TF-IDF of
compare_linear.py, over titles too. The encoder is a Hugging Face folder of an architecture that PECOS knows (BERT,
RoBERTa, XLNet, DistilBERT).
"""

import argparse
import json
import lzma
import pathlib
import time

import numpy as np
import scipy.sparse._sputils
import scipy.sparse as sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from compare_linear import accuracy

FIELDS = {"eurlex57k": ["title", "text"], "gnd-tib": ["title", "abstract"], "cve-lib": ["text"]}


def read(path, fields, languages):
    with lzma.open(path, "rt", encoding="utf8") as lines:
        rows = [row for row in map(json.loads, lines) if not languages or row.get("lang") in languages]
    for row in rows:
        row["input"] = "\n".join(row[field] or "" for field in fields)
    return {split: [row for row in rows if row["split"] == split] for split in ("train", "dev", "test")}


def label_matrix(rows, index, width):
    labels = [sorted({index[label] for label in row["labels"]}) for row in rows]
    starts = np.cumsum([0] + [len(row) for row in labels])
    flat = np.fromiter((label for row in labels for label in row), np.int32)
    return sparse.csr_matrix((np.ones(len(flat), np.float32), flat, starts), shape=(len(labels), width))


def let_pecos_run():
    """libpecos 1.2.8 uses names that SciPy and NumPy have dropped since."""
    names = {"float_": np.float64, "product": np.prod, "in1d": np.isin, "Inf": np.inf}
    for name, value in names.items():
        if not hasattr(np, name):
            setattr(np, name, value)
    sparse.sputils = scipy.sparse._sputils
    array = np.array
    # False meant "only if needed".
    np.array = lambda *given, copy=True, **more: array(*given, copy=None if copy is False else copy, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="NAME.docs.jsonl.xz")
    parser.add_argument("--encoder", required=True, help="Hugging Face folder")
    parser.add_argument("--language", action="append", default=[], help="only documents of this language")
    parser.add_argument("--pieces", type=int, default=512, help="pieces of a text that are read")
    parser.add_argument("--epochs", type=int, default=3, help="epochs per level of the tree")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    arguments = parser.parse_args()
    let_pecos_run()
    from pecos.xmc.xtransformer.model import XTransformer
    from pecos.xmc.xtransformer.module import MLProblemWithText

    splits = read(arguments.data, FIELDS[arguments.data.name.split(".")[0]], arguments.language)
    seen = sorted({label for row in splits["train"] for label in row["labels"]})
    others = {label for split in ("dev", "test") for row in splits[split] for label in row["labels"]}
    index = {label: number for number, label in enumerate(seen + sorted(others - set(seen)))}
    tfidf = TfidfVectorizer(lowercase=True, token_pattern=r"\w+", min_df=2, sublinear_tf=True, dtype=np.float32)
    texts = {split: [row["input"] for row in rows] for split, rows in splits.items()}
    features = {"train": tfidf.fit_transform(texts["train"])}
    started = time.time()
    matcher = {
        "model_shortcut": arguments.encoder,
        "batch_size": arguments.batch,
        "learning_rate": arguments.learning_rate,
        "num_train_epochs": arguments.epochs,
        "save_steps": 1_000_000,
        "pre_tokenize": True,
    }
    train = XTransformer.TrainParams.from_dict({"matcher_params_chain": matcher}, recursive=True)
    predict = XTransformer.PredParams.from_dict({"matcher_params_chain": {"truncate_length": arguments.pieces}}, recursive=True)
    problem = MLProblemWithText(texts["train"], label_matrix(splits["train"], index, len(seen)), X_feat=features["train"])
    model = XTransformer.train(problem, train_params=train, pred_params=predict, beam_size=20)
    print(json.dumps({"train_s": round(time.time() - started, 1), **vars(arguments), "data": str(arguments.data)}), flush=True)
    for split in ("dev", "test"):
        if not splits[split]:
            continue
        started = time.time()
        scores = model.predict(texts[split], X_feat=tfidf.transform(texts[split]), only_topk=10, batch_size=128)
        rows = [slice(start, end) for start, end in zip(scores.indptr, scores.indptr[1:])]
        ranked = [scores.indices[row][np.argsort(-scores.data[row], kind="stable")] for row in rows]
        figures = accuracy(ranked, label_matrix(splits[split], index, len(index)))
        names = ("P@1", "P@3", "P@5", "nDCG@5")
        print(json.dumps({"split": split, "predict_s": round(time.time() - started, 1)} | dict(zip(names, figures))), flush=True)


if __name__ == "__main__":
    main()
