#!/usr/bin/env python3
"""Lets Annif's own readers and `plethora convert` read the same files, in every form of corpus that Annif has.

    python3 -m venv .bench/annif && .bench/annif/bin/pip install annif==1.4.3
    .bench/annif/bin/python bench/annif_corpora.py target/release/plethora

Texts and labels have to be the same. Exits with 1 and says what differs where anything does.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from annif.corpus.document import DocumentDirectory, DocumentFileCSV, DocumentFileJSONL, DocumentFileTSV
from annif.vocab.subject_file import VocabFileTSV
from annif.vocab.subject_index import SubjectIndexFile

SUBJECTS = {"http://example.org/sea": "Häfen und Küsten", "http://example.org/glass": "glass", "http://example.org/air": "air, moving"}
DOCUMENTS = [
    ("Der Hafen von Lübeck", ["http://example.org/sea"]),
    ("A history of glass, \"quoted\"", ["http://example.org/glass", "http://example.org/air"]),
    ("Wind over dunes", ["http://example.org/air", "http://example.org/sea"]),
]


def write(folder):
    """The same documents in each form."""
    rows = [(text, " ".join(f"<{uri}>" for uri in uris)) for text, uris in DOCUMENTS]
    (folder / "corpus.tsv").write_text("".join(f"{text}\t{uris}\n" for text, uris in rows))
    quoted = [(text.replace('"', '""'), uris) for text, uris in rows]
    (folder / "corpus.csv").write_text("text,subject_uris\n" + "".join(f'"{text}",{uris}\n' for text, uris in quoted))
    lines = [{"text": text, "subjects": [{"uri": uri} for uri in uris]} for text, uris in DOCUMENTS]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for kind in ["tsv", "key"]:
        (folder / kind).mkdir()
        for number, (text, uris) in enumerate(DOCUMENTS):
            (folder / kind / f"{number}.txt").write_text(text)
            labels = [f"<{uri}>\t{SUBJECTS[uri]}" if kind == "tsv" else SUBJECTS[uri] for uri in uris]
            (folder / kind / f"{number}.{kind}").write_text("".join(f"{label}\n" for label in labels))


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        vocabulary = folder / "subjects.tsv"
        vocabulary.write_text("".join(f"<{uri}>\t{label}\n" for uri, label in SUBJECTS.items()))
        index = SubjectIndexFile()
        index.load_subjects(VocabFileTSV(str(vocabulary), "de"))
        forms = {
            "corpus.tsv": DocumentFileTSV,
            "corpus.csv": DocumentFileCSV,
            "corpus.jsonl": DocumentFileJSONL,
            "tsv": DocumentDirectory,
            "key": DocumentDirectory,
        }
        for form, reader in forms.items():
            options = {"require_subjects": True} if reader is DocumentDirectory else {}
            if reader in (DocumentDirectory, DocumentFileJSONL):
                options["language"] = "de"
            theirs = reader(str(folder / form), subject_index=index, **options)
            found = [(document.text, sorted(index[number].uri for number in document.subject_set)) for document in theirs.documents]
            subprocess.run([program, "convert", folder / form, folder / "out.jsonl", "--force", "-q"], check=True)
            ours = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
            # A .key has names, which are keys of their own here.
            uris = {label: uri for uri, label in SUBJECTS.items()} if form == "key" else {}
            ours = [(row["text"], sorted(uris.get(label, label) for label in row["labels"])) for row in ours]
            if ours != found or len(found) != len(DOCUMENTS):
                sys.exit(f"{form}: Annif reads {found}\nplethora reads {ours}")
            print(f"{form}: {len(found)} documents, read alike")


if __name__ == "__main__":
    main()
