"""Tokenizers of translators, as they stand beside tiny models; trained here on a few sentences."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from torch import nn

ENGLISH = ["The chicken didn't cross the road because it was too tired. A boy is eating an apple."] * 3
GERMAN = ["Das Huhn überquerte die Straße nicht, weil es zu müde war. Ein Junge isst einen Apfel."] * 3


def spm(path: Path, sentences: Iterable[str], **settings: Any) -> list[str]:
    """A SentencePiece model in a file, and its pieces."""
    how = {"vocab_size": 60, "model_type": "unigram", "hard_vocab_limit": False, "minloglevel": 2, **settings}
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=file, **how)
    made = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [made.id_to_piece(i) for i in range(made.get_piece_size())]


def t5_pieces(folder: Path) -> int:
    """As T5 has it: padding, end and unknown first, and a hundred sentinels that only its settings speak of."""
    symbols = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    return len(spm(folder / "spiece.model", ENGLISH, **symbols)) + 100


def two_models(folder: Path, *, without: str = "") -> int:
    """As Marian has it: a model for sources, one for targets, and the numbers of all their pieces but perhaps one."""
    both = [spm(folder / name, text) for name, text in (("source.spm", ENGLISH), ("target.spm", GERMAN))]
    learnt = [piece for pieces in both for piece in pieces[3:]]
    names = ["</s>", "<unk>", "<pad>", ">>deu<<", *dict.fromkeys(piece for piece in learnt if piece != without)]
    (folder / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(names)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    return len(names)


def biased(model: Any) -> None:
    """An output bias, as only training makes it."""
    model.final_logits_bias += 0.3 * torch.randn_like(model.final_logits_bias)


def never_padding(model: Any) -> None:
    """As Marian's models have it: the padding, which they begin with, is not written again, however likely it is."""
    biased(model)
    model.final_logits_bias[:, 2] += 9.0
    model.generation_config.bad_words_ids = [[2]]


def own_output(model: Any) -> None:
    """As T5 1.1 is trained; a new one of `transformers` shares its words with its output."""
    model.lm_head.weight = nn.Parameter(torch.randn_like(model.shared.weight))
