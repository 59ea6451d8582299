"""Writes the same word vectors in the formats of word2vec and GloVe, and as plain numbers.

vectors.bin, vectors.bin.gz   word2vec's binary format, by gensim
vectors.vec                   word2vec's text format, which fastText uses too, by gensim
vectors.glove.txt             the same without the first line, by gensim
golden.json                   the words and numbers, as gensim reads them back from vectors.bin

Usage: python make_golden.py    (needs gensim; the files were made with 4.4.0)
"""

import gzip
import json
from pathlib import Path

import numpy
from gensim.models import KeyedVectors

WORDS = ["the", "The", "sea", "Sea", "Meer", "über", "ÜBER", "Größe", "naïve", "θάλασσα", "море", "日", ",", "don't", "v2_beta"]
WIDTH = 5


def main():
    folder = Path(__file__).parent
    # One division each, so that every processor gives the same bits.
    values = (numpy.arange(len(WORDS) * WIDTH).reshape(-1, WIDTH) * 37 % 101 - 50) / 101
    vectors = KeyedVectors(WIDTH)
    vectors.add_vectors(WORDS, values.astype(numpy.float32))

    binary = folder / "vectors.bin"
    vectors.save_word2vec_format(str(binary), binary=True, sort_attr=None)
    vectors.save_word2vec_format(str(folder / "vectors.vec"), binary=False, sort_attr=None)
    vectors.save_word2vec_format(str(folder / "vectors.glove.txt"), binary=False, write_header=False, sort_attr=None)
    # No name and no time, so that the same bytes come out again.
    with open(folder / "vectors.bin.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:
        compressed.write(binary.read_bytes())

    read_back = KeyedVectors.load_word2vec_format(str(binary), binary=True)
    golden = {word: [float(value) for value in read_back[word]] for word in read_back.index_to_key}
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    (folder / "golden.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
