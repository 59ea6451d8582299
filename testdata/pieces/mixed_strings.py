"""Strings of many scripts, with what breaks tokenizers between them. Same seed, same strings."""

import random

WORDS = {
    "english": "the library of trees in winter and their catalogue under children's don't it'll we've they're I'm he'd "
    "classification subject heading unbelievable extraordinarily state-of-the-art e.g. U.S.A. Ph.D. re-entry".split(),
    "accents": "café naïve Ünïcödé façade Ångström jalapeño Łódź žluťoučký Đorđe smørrebrød Straße ŒUVRE İstanbul ıssız "
    "Nguyễn Việt Nam coöperate Zürich ÉCOLE".split(),
    "decomposed": "cafe\u0301 nai\u0308ve a\u030angstro\u0308m o\u0328\u0301 z\u0323\u0307 e\u0302\u0301".split(),
    "greek": "Ελληνικά βιβλιοθήκη Οδυσσέας ΣΊΣΥΦΟΣ ἄνθρωπος ψυχή".split(),
    "cyrillic": "библиотека деревья зимой Ёлка ёжик українська їжак ЩИТ бъдеще".split(),
    "arabic": "مكتبة الأشجار في الشتاء العَرَبِيَّة لا إله ٱلْكِتَٰب ۱۲۳ ٤٥٦".split(),
    "hebrew": "ספרייה עצים בחורף שָׁלוֹם יִשְׂרָאֵל".split(),
    "devanagari": "पुस्तकालय सर्दियों में पेड़ क्षत्रिय हिन्दी १२३ ज़िंदगी".split(),
    "chinese": "图书馆 冬天的树木 圖書館 㐀㐁 𠀀𠀁 中文分词 ，。！".split(),
    "japanese": "図書館 冬の木々 カタカナ ひらがな ﾊﾝｶｸ ガ か\u3099 一〇〇".split(),
    "korean": "도서관 겨울나무 한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8 ㄱㄴㄷ".split(),
    "thai": "ห้องสมุด ต้นไม้ในฤดูหนาว น้ำ ๑๒๓".split(),
    "emoji": "😀 👍🏽 👨‍👩‍👧‍👦 🇩🇪 ❤️ 🏳️‍🌈 1️⃣ ☃ ✔︎ 🤷🏿‍♀️".split(),
    "digits": "1 12 1,000 3.14159 1990, 2010, 10:30 50% $5.99 1e-9 ½ ² Ⅷ ④ ００７ 1234567890123 9,".split(),
    "addresses": "https://example.org/a/b?c=d&e=%20#f www.test.de mailto:a.b+c@d-e.org /usr/lib/x_y.so C:\\dir\\f.txt "
    "#hashtag @name_1 10.1000/182 978-3-16-148410-0".split(),
    "marks": "“quoted” ‘single’ «guillemets» ``latex'' -- — – … !?!? ((([[{{}}]])) *** ~~ ^^ || <> <b>bold</b> &amp; £9 €9 "
    "♫ © ™ ﬁ ﬂ № ∑∫√ ≠ → ±".split(),
    "special": "[CLS] [SEP] [MASK] [UNK] [PAD] <s> </s> <pad> <unk> <mask> <cls> <sep> <eop> <eod> [cls] ##ing ▁the Ġthe".split(),
    "long": ["a" * 120, "ab" * 80, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "字" * 110, "x1" * 60,
             "é" * 101, "." * 130, "ß" * 100, "z" * 100, "z" * 101],
    "odd": ["\u200b", "zero\u200bwidth", "join\u200der", "non\u200cjoiner", "soft\u00adhyphen", "bom\ufeff", "\u2060", "rtl\u200f", "bell\x07",
            "nul\x00nul", "esc\x1b[31m", "del\x7f", "nel\u0085x", "\ufffd", "\ue000", "\U0010fffd", "\u0378", "tag\U000e0041", "ﷺ", "\u1e9b\u0323",
            "Ǆ", "ŉ", "K", "Å", "\u0130", "\u0345", "\uff21\uff22", "𝔘𝔫𝔦", "Ａ１", "a\u0301\u0301\u0301\u0301\u0301\u0301", "\u0301start", "㍿", "ﾞ"],
}
GAPS = [" "] * 30 + ["", "", "  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u2028", "\u2029", "\u202f", "\u1680", "\x0b", "\x0c", "\x1c",
                     "\x85", " \n ", ", ", ". ", "; ", "-", "/", "'", "\u180e"]
EDGES = ["", "", "", "", " ", "  ", "\n", "\t ", "\u00a0", "\u200b"]
FIXED = ["", " ", "\n", "\t\t", "\u200b", "\u00a0", "\x00", ".", "'", "''", "``", "a", "A", "é", "中", "😀", "[CLS]", "<mask>", " <mask>", "x <mask>y", "\ufeff",
         "\u0301", "▁", "▁▁", "Ġ", "##", "a" * 1000, "a " * 300, " " * 1000, "\n" * 50 + "x", "x" + " " * 257 + "y", "''''", "```", "don''t ``so''", "\u3000x\u3000"]


def mixed_strings(count, seed=7):
    """`count` strings, each a few words of one or several scripts."""
    rng = random.Random(seed)
    kinds = list(WORDS)
    strings = list(FIXED)
    while len(strings) < count:
        chosen = rng.sample(kinds, rng.choice([1, 1, 2, 3, 5]))
        text = rng.choice(EDGES)
        for _ in range(rng.choice([1, 2, 3, 5, 8, 13])):
            word = rng.choice(WORDS[rng.choice(chosen)])
            text += rng.choice([word, word, word, word.upper(), word.title(), word[: rng.randint(1, 8)]]) + rng.choice(GAPS)
        strings.append(text.rstrip(" ") + rng.choice(EDGES))
    return strings[:count]


def training_lines(count, seed=11):
    """Running text to train small tokenizers on: no special tokens, no control characters."""
    rng = random.Random(seed)
    kinds = [kind for kind in WORDS if kind not in ("special", "long", "odd")]
    words = [word for kind in kinds for word in WORDS[kind]]
    english = WORDS["english"] + WORDS["accents"] + WORDS["digits"]
    return [" ".join(rng.choice(rng.choice([words, english])) for _ in range(rng.randint(3, 12))) for _ in range(count)]
