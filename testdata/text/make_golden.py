"""Writes tfidf_golden.json: what scikit-learn's TfidfVectorizer makes of the texts below.

Usage: python make_golden.py    (needs scikit-learn; the values were made with 1.9.1)
"""

import json
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer

TRAIN = [
    "The sea, the Sea, the SEA: a short history of sailing in 1805.",
    "Sailing ships and the wind: rigging, ropes and sails since 1805",
    "Große Schiffe, kleine Häfen: über die Größe der Häfen in der Ostsee",
    "Die Ostsee und ihre Häfen; GROSSE Fähren, ÜBER Nacht",
    "Η ΘΑΛΑΣΣΑ και ο άνεμος: ιστορία της ναυτιλίας",
    "η θάλασσα, ο ΆΝΕΜΟΣ, η ιστορία ΤΗΣ πόλης και της θάλασσας",
    "snake_case, camelCase and __init__: names in code, v2_beta 3.14 (3 of 14)",
    "Names in code: snake_case or CamelCase? See v2_beta, 3rd edition, x1 x2 x1",
    "",
    "... --- !!!",
    "naïve café naïve CAFÉ naïve; Œuvre complète, œuvre COMPLÈTE",
    "History of the wind, the ropes, the ships; the the the the the",
    "История моря и ветра. История ИСТОРИЯ моря",
    "Ветер и море: история кораблей, МОРЯ",
    "unique_word_here",
]
TEST = [
    "The history of snake_case ships, and unknown words",
    "θάλασσα θάλασσα Häfen häfen 1805 история",
    "nothing known",
    "",
]
SETTINGS = {
    "sublinear": dict(min_df=2, sublinear_tf=True),
    "plain": dict(min_df=1, sublinear_tf=False),
    "bigrams": dict(min_df=2, sublinear_tf=True, ngram_range=(1, 2), max_df=0.4),
}


def rounded(value):
    """Twelve significant digits: the last bits depend on the processor."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def rows(matrix):
    matrix.sort_indices()
    return [[[int(c) for c in row.indices], [float(v) for v in row.data]] for row in matrix]


def case(settings):
    vectorizer = TfidfVectorizer(lowercase=True, token_pattern=r"\w+", **settings)
    train = rows(vectorizer.fit_transform(TRAIN))
    return {
        "terms": list(vectorizer.get_feature_names_out()),
        "idf": [float(v) for v in vectorizer.idf_],
        "train": train,
        "test": rows(vectorizer.transform(TEST)),
    }


def main():
    golden = {"train": TRAIN, "test": TEST}
    golden["cases"] = {name: case(settings) for name, settings in SETTINGS.items()}
    path = Path(__file__).with_name("tfidf_golden.json")
    path.write_text(json.dumps(rounded(golden), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
