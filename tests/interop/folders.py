"""Small folders as Hugging Face writes them, made here and never downloaded."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import BertConfig

WORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<", ">", "[", "]", "/", "'", ".", ",", "s", "t", "a", "b"),
    *("cafe", "Cafe", "café", "the", "The", "dog", "road", "cross", "##ed", "##s", "##es", "mask", "pad", "un", "##k"),
    *("京", "##a", "##b", "3", "##3"),
)
SIZES = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 19,
    "max_position_embeddings": 29,
}


def config(**changes: Any) -> BertConfig:
    return BertConfig(**{"vocab_size": len(WORDS), **SIZES, **changes})


def written(folder: Path, kind: type[nn.Module], *, rows: int = len(WORDS), **changes: Any) -> nn.Module:
    """A model in a folder with a vocabulary, and the model itself; every tensor has numbers of its own."""
    torch.manual_seed(7)
    model = kind(config(vocab_size=rows, **changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    vocabulary(folder)
    return model


def vocabulary(folder: Path, **settings: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("".join(word + "\n" for word in WORDS), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, **settings}))


def changed(folder: Path, name: str, **values: Any) -> None:
    """Settings put into a file of the folder."""
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
