"""Writes the smallest encoder that tests can train: a random BERT of three layers with a vocabulary of word pieces.

It knows nothing, but has every file that a Hugging Face folder has. Not run by `cargo xtask golden`: the files are no golden values.
"""

import pathlib

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel

HERE = pathlib.Path(__file__).parent
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXTS = [
    "history of roman coins and harbours in the north sea",
    "introduction to the theory of music, trade and painting of the middle ages",
    "letters on botany, geology and the weather of mountain valleys 1789 - 1945",
    "essays about law, language and education; with an index",
]

tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.decoder = decoders.WordPiece()
letters = [chr(ord("a") + number) for number in range(26)] + list("0123456789")
trainer = trainers.WordPieceTrainer(
    vocab_size=200, special_tokens=SPECIAL, initial_alphabet=letters, show_progress=False
)
# Every letter also goes on with a word, so that no word is unknown.
tokenizer.train_from_iterator(TEXTS + [first + "".join(letters) for first in letters], trainer)
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)
tokenizer.save(str(HERE / "tokenizer.json"))

torch.manual_seed(5)
config = BertConfig(
    vocab_size=tokenizer.get_vocab_size(),
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=64,
)
BertModel(config, add_pooling_layer=False).save_pretrained(HERE)
