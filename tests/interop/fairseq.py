"""Small files as fairseq writes them, made here: the dictionary, the tensors of a model that `transformers` has too."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import FSMTConfig, FSMTForConditionalGeneration

from regard.interop.tokens.fairseq import SYMBOLS

WORDS = ["the", "chick@@", "en", "road", "was", "too", "ti@@", "red", "wide", "r@@", "e@@", "d", "a", "o@@", "t@@"]
ROWS = len(SYMBOLS) + len(WORDS)
WIDTH, HEADS, HIDDEN, CONTEXT = 14, 2, 23, 19
SIZES = {
    **dict.fromkeys(("encoder_embed_dim", "decoder_embed_dim"), WIDTH),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), HEADS),
    **dict.fromkeys(("encoder_ffn_embed_dim", "decoder_ffn_embed_dim"), HIDDEN),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("max_source_positions", "max_target_positions"), CONTEXT),
    "source_lang": "en",
    "target_lang": "de",
}


def written(folder: Path, tensors: dict[str, Tensor], words: list[str] = WORDS, **settings: Any) -> Path:
    """A file of fairseq with its dictionaries."""
    folder.mkdir(parents=True, exist_ok=True)
    for language in ("en", "de"):
        (folder / f"dict.{language}.txt").write_text("".join(f"{word} {7}\n" for word in words))
    torch.save({"args": Namespace(**{**SIZES, **settings}), "model": tensors, "extra_state": {}}, folder / "model.pt")
    return folder / "model.pt"


def fsmt(tied: bool) -> FSMTForConditionalGeneration:
    torch.manual_seed(5)
    config = FSMTConfig(
        src_vocab_size=ROWS,
        tgt_vocab_size=ROWS,
        d_model=WIDTH,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=HIDDEN,
        decoder_ffn_dim=HIDDEN,
        encoder_layers=2,
        decoder_layers=2,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=tied,
        forced_eos_token_id=None,
    )
    model = FSMTForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter += 0.2 * torch.randn_like(parameter)
    return model


def names_of(model: FSMTForConditionalGeneration) -> dict[str, Tensor]:
    """Its tensors, as fairseq had called them."""
    named = {name.removeprefix("model."): tensor for name, tensor in model.state_dict().items()}
    kept = {name: tensor for name, tensor in named.items() if "embed_positions" not in name}
    return {**kept, "encoder.version": torch.tensor([3.0]), "decoder.embed_positions._float_tensor": torch.zeros(1)}
