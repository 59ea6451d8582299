"""Compares the ids of real encoders' tokenizers with those of `transformers` on mixed-script strings.

    cargo build -p plethora-neural --example pieces
    python testdata/pieces/compare_real.py target/debug/examples/pieces ENCODER_FOLDER...

A folder with nothing but a `spiece.model` is taken for XLNet's. Folders that have the older files beside `tokenizer.json`
are compared a second time without it. Needs: transformers, tokenizers, sentencepiece, protobuf.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from mixed_strings import mixed_strings
from transformers import AutoTokenizer

OLDER_FILES = ["vocab.txt", "vocab.json", "merges.txt", "spiece.model"]
SETTINGS = ["config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"]


def older_form(folder, into):
    """The folder without tokenizer.json: byte pairs are taken from it where it is all there is."""
    for name in OLDER_FILES + SETTINGS:
        if (folder / name).exists():
            shutil.copy(folder / name, into / name)
    if (into / "spiece.model").exists() and not (into / "config.json").exists():
        (into / "config.json").write_text('{"model_type": "xlnet"}')
    if not any((into / name).exists() for name in OLDER_FILES):
        model = json.loads((folder / "tokenizer.json").read_text())["model"]
        (into / "vocab.json").write_text(json.dumps(model["vocab"]))
        merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
        (into / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")


def compare(program, folder, name, strings):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer._tokenizer.no_truncation()
    tokenizer._tokenizer.no_padding()
    expected = [tokenizer(text, truncation=False, padding=False)["input_ids"] for text in strings]
    lines = "".join(json.dumps(text) + "\n" for text in strings)
    output = subprocess.run([program, folder, "--json"], input=lines, capture_output=True, text=True, check=True).stdout
    found = [[int(word) for word in line.split()] for line in output.splitlines()]
    different = [index for index in range(len(strings)) if found[index] != expected[index]]
    for index in different[:5]:
        print(repr(strings[index]))
        print("  transformers:", tokenizer.convert_ids_to_tokens(expected[index]))
        print("  plethora:    ", tokenizer.convert_ids_to_tokens(found[index]))
    pieces = sum(map(len, expected))
    print(f"{name}: {type(tokenizer).__name__}, {len(strings)} strings, {pieces} pieces, {len(different)} differ")
    return not different


def main():
    program, folders = sys.argv[1], [pathlib.Path(argument) for argument in sys.argv[2:]]
    strings = mixed_strings(1000)
    same = True
    for folder in folders:
        if (folder / "tokenizer.json").exists():
            same &= compare(program, str(folder), folder.name, strings)
        with tempfile.TemporaryDirectory() as scratch:
            older_form(folder, pathlib.Path(scratch))
            same &= compare(program, scratch, folder.name + " (older files)", strings)
    sys.exit(0 if same else 1)


main()
