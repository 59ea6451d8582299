"""Writes small tokenizers of every kind, and golden.json.gz: the ids that `transformers` gives to 1,000 strings with them.

The files of the tokenizers lie beside this script; golden.json.gz says which of them make up the folder of each case, with
the settings that are written into it.

Usage: python make_golden.py    (needs transformers, tokenizers, sentencepiece and protobuf; the values were made with
transformers 5.22.2, tokenizers 0.23.3 and sentencepiece 0.2.2)
"""

import gzip
import io
import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import sentencepiece
from mixed_strings import mixed_strings, training_lines
from sentencepiece import sentencepiece_model_pb2
from tokenizers import ByteLevelBPETokenizer, normalizers, pre_tokenizers
from transformers import AutoTokenizer

HERE = Path(__file__).parent
LINES = training_lines(3000)
# Rules for characters as SentencePiece writes them: code points, tab, what becomes of them.
CHARACTER_RULES = [("\t", " "), ("\n", " "), ("\r", " "), ("\u00a0", " "), ("\u3000", " "), ("\u2003", " "), ("\u2028", " "), ("\u200b", " "),
                   ("\u200d", ""), ("\u200c", ""), ("\ufeff", ""), ("\x07", ""), ("\x7f", ""), ("\u00ad", ""), ("ﬁ", "fi"), ("ﬂ", "fl"), ("™", "TM"),
                   ("№", "No"), ("½", "1/2"), ("²", "2"), ("Ⅷ", "VIII"), ("④", "4"), ("…", "..."), ("‘", "'"), ("’", "'"), ("“", '"'), ("”", '"'),
                   ("か\u3099", "が"), ("ﾊ", "ハ"), ("ﾝ", "ン"), ("ｶ", "カ"), ("ｸ", "ク"), ("㍿", "株式会社"), ("\ufffd", " ")]
CHARACTER_RULES += [(chr(0xFF01 + offset), chr(0x21 + offset)) for offset in range(94)]


def choose_word_pieces(name, lower_case, special):
    """The most frequent characters, beginnings and ends of words: the trainer of `tokenizers` breaks ties by chance."""
    normalizer = normalizers.BertNormalizer(lowercase=lower_case)
    splitter = pre_tokenizers.BertPreTokenizer()
    characters, parts = Counter(), Counter()
    for line in LINES:
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(line)):
            characters.update(word)
            parts.update(word[:end] for end in range(2, len(word) + 1))
            parts.update("##" + word[start:] for start in range(1, len(word) - 1))
    ordered = lambda counts: [piece for piece, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))]
    alphabet = ordered(characters)[:120]
    pieces = special + alphabet + ["##" + character for character in alphabet] + ordered(parts)[: 420 - len(special) - 240]
    (HERE / name).write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8", newline="\n")


def train_byte_pairs():
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(LINES, vocab_size=500, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False)
    tokenizer.save_model(str(HERE))


def train_sentence_pieces():
    with tempfile.TemporaryDirectory() as scratch:
        rules = Path(scratch) / "rules.tsv"
        code_points = lambda text: " ".join(f"{ord(character):X}" for character in text)
        rules.write_text("".join(f"{code_points(old)}\t{code_points(new)}\n" for old, new in sorted(CHARACTER_RULES)))
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(LINES),
            model_writer=model,
            vocab_size=500,
            model_type="unigram",
            character_coverage=0.98,
            normalization_rule_tsv=str(rules),
            # The special pieces of XLNet at their places.
            control_symbols=["<cls>", "<sep>", "<pad>", "<mask>", "<eod>"],
            user_defined_symbols=["<eop>", ".", "(", ")", '"', "-", "–", "£", "€"],
            num_threads=1,
            minloglevel=2,
        )
        proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
        proto.normalizer_spec.ClearField("normalization_rule_tsv")  # another path each time
        (HERE / "spiece.model").write_bytes(proto.SerializeToString(deterministic=True))


def save_fast(name, folder_of, case):
    """A tokenizer.json with the settings for batches that people leave in it."""
    with tempfile.TemporaryDirectory() as folder:
        folder_of(case, Path(folder))
        tokenizer = AutoTokenizer.from_pretrained(folder)._tokenizer
        tokenizer.enable_truncation(max_length=16)
        tokenizer.enable_padding(length=16)
        (HERE / name).write_text(tokenizer.to_str() + "\n", encoding="utf-8", newline="\n")


CASES = {
    "bert": {"files": {"vocab.txt": "uncased.txt"}, "settings": {"config.json": {"model_type": "bert"}}},
    "bert, cased": {
        "files": {"vocab.txt": "cased.txt"},
        "settings": {
            "config.json": {"model_type": "bert"},
            "tokenizer_config.json": {"do_lower_case": False, "tokenize_chinese_chars": False},
        },
    },
    "distilbert, accents kept": {
        "files": {"vocab.txt": "uncased.txt"},
        "settings": {
            "config.json": {"model_type": "distilbert"},
            "tokenizer_config.json": {"do_lower_case": True, "strip_accents": False},
            "special_tokens_map.json": {
                "unk_token": "[UNK]",
                "mask_token": {"content": "[MASK]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False},
            },
            "added_tokens.json": {"catalogue under": 420, "Łódź": 421},
        },
    },
    "mpnet": {
        "files": {"vocab.txt": "mpnet.txt"},
        "settings": {"config.json": {"model_type": "mpnet"}, "tokenizer_config.json": {"do_lower_case": True, "mask_token": "<mask>"}},
    },
    "roberta": {
        "files": {"vocab.json": "vocab.json", "merges.txt": "merges.txt"},
        "settings": {"config.json": {"model_type": "roberta"}},
    },
    "roberta, space before": {
        "files": {"vocab.json": "vocab.json", "merges.txt": "merges.txt"},
        "settings": {
            "config.json": {"model_type": "roberta"},
            "tokenizer_config.json": {
                "add_prefix_space": True,
                "added_tokens_decoder": {
                    "4": {"content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False, "special": True},
                    "500": {"content": "Bücherei", "lstrip": False, "normalized": True, "rstrip": False, "single_word": True, "special": False},
                },
            },
        },
    },
    "xlnet": {"files": {"spiece.model": "spiece.model"}, "settings": {"config.json": {"model_type": "xlnet"}}},
    "xlnet, lower case": {
        "files": {"spiece.model": "spiece.model"},
        "settings": {"config.json": {"model_type": "xlnet"}, "tokenizer_config.json": {"do_lower_case": True}},
    },
    "tokenizer.json": {"files": {"tokenizer.json": "tokenizer.json"}, "settings": {"config.json": {"model_type": "bert"}}},
}


def folder_of(case, folder):
    for name, source in case["files"].items():
        shutil.copy(HERE / source, folder / name)
    for name, content in case["settings"].items():
        (folder / name).write_text(json.dumps(content))


def ids_of(case, strings):
    with tempfile.TemporaryDirectory() as folder:
        folder_of(case, Path(folder))
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokenizer._tokenizer.no_truncation()
        tokenizer._tokenizer.no_padding()
        return [tokenizer(text, truncation=False, padding=False)["input_ids"] for text in strings]


def main():
    choose_word_pieces("uncased.txt", True, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    choose_word_pieces("cased.txt", False, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    choose_word_pieces("mpnet.txt", True, ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    train_byte_pairs()
    train_sentence_pieces()
    save_fast("tokenizer.json", folder_of, CASES["bert"])
    strings = mixed_strings(1000)
    cases = [{"name": name, **case, "ids": ids_of(case, strings)} for name, case in CASES.items()]
    text = json.dumps({"strings": strings, "cases": cases}, separators=(",", ":"))
    (HERE / "golden.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


main()
