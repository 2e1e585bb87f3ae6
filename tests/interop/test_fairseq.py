"""Transformers of fairseq, beside those of `transformers` that were made of them, and beside torch's own layers."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.checkpoint import load
from regard.decode import generate
from regard.decode.settings import Decode
from regard.interop import import_model
from tests.helpers import same
from tests.interop.fairseq import CONTEXT, HEADS, HIDDEN, ROWS, SIZES, WIDTH, fsmt, names_of, written

LENGTHS = (11, 5, 7)
PRESENT = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


def drawn(seed: int) -> Tensor:
    tokens = torch.randint(4, ROWS, (3, max(LENGTHS)), generator=torch.Generator().manual_seed(seed))
    return tokens.masked_fill(~PRESENT, 1)


@torch.no_grad()
@pytest.mark.parametrize("tied", [True, False])
def test_scores_are_those_of_transformers(tied: bool, tmp_path: Path) -> None:
    theirs = fsmt(tied)
    path = written(tmp_path, names_of(theirs), share_all_embeddings=tied)
    found = import_model(path, tmp_path / "run")
    assert found.recipe.system.tied == ("all" if tied else "none")
    assert found.about["left_out"] == []
    model, tokens, source = load(tmp_path / "run").model, drawn(3), drawn(4)
    got = model.decode(tokens, model.encode(source, PRESENT))
    asked = {"input_ids": source, "attention_mask": PRESENT.long(), "decoder_input_ids": tokens}
    same(got[PRESENT], theirs(**asked, use_cache=False).logits[PRESENT], rtol=0, atol=1e-4)


@pytest.mark.parametrize("beam", [1, 4])
def test_the_same_texts_are_written(beam: int, tmp_path: Path) -> None:
    """What is written begins with the end symbol, and padding is never written."""
    theirs = fsmt(tied=False)
    with torch.no_grad():
        theirs.model.decoder.output_projection.weight[1] *= 9.0
    path = written(tmp_path, names_of(theirs))
    import_model(path, tmp_path / "run")
    run = load(tmp_path / "run")
    sources = [row[there].tolist() for row, there in zip(drawn(6), PRESENT, strict=True)]
    settings = Decode(max_tokens=9, beam=beam, length_penalty="average")
    got = [found[0].tokens for found in generate(run.model, run.tokenizer, settings, sources=sources)]
    how = {"num_beams": beam, "do_sample": False, "max_new_tokens": 9, "early_stopping": True, "bad_words_ids": [[1]]}
    for mine, source in zip(got, sources, strict=True):
        wanted = theirs.generate(torch.tensor([[*source, 2]]), **how)[0].tolist()[1:]
        assert mine == (wanted[: wanted.index(2)] if 2 in wanted else wanted)
        assert 1 not in mine


class Layers(nn.Module):
    """Torch's own layers under fairseq's settings: norms first, learned places from 2 on, a norm on the words."""

    def __init__(self, side: str, depth: int, *, across: bool):
        super().__init__()
        kind = nn.TransformerDecoderLayer if across else nn.TransformerEncoderLayer
        how = {"dropout": 0.0, "activation": nn.functional.gelu, "batch_first": True, "norm_first": True}
        self.side, self.layers = side, nn.ModuleList([kind(WIDTH, HEADS, HIDDEN, **how) for _ in range(depth)])
        self.words, self.places = nn.Embedding(ROWS, WIDTH), nn.Embedding(CONTEXT + 2, WIDTH)
        self.on_words, self.last = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, tokens: Tensor, *memory: Tensor, **masks: Any) -> Tensor:
        x = self.on_words(self.words(tokens) + self.places(torch.arange(tokens.shape[1]) + 2))
        for layer in self.layers:
            x = layer(x, *memory, **masks)
        return self.last(x)

    def named(self) -> dict[str, Tensor]:
        names = {"words": "embed_tokens", "places": "embed_positions", "last": "layer_norm"}
        names["on_words"] = "layernorm_embedding"
        within = {"linear1": "fc1", "linear2": "fc2", "multihead_attn": "encoder_attn", "norm1": "self_attn_layer_norm"}
        across = {**within, "norm2": "encoder_attn_layer_norm", "norm3": "final_layer_norm"}
        names |= across if self.side == "decoder" else {**within, "norm2": "final_layer_norm"}
        found = {}
        for name, tensor in self.state_dict().items():
            found[f"{self.side}." + ".".join(names.get(part, part) for part in name.split("."))] = tensor
        return found


def pair() -> tuple[Layers, Layers, dict[str, Tensor]]:
    """An encoder, a shallower decoder, and their tensors: one makes queries, keys and values, as once in fairseq."""
    torch.manual_seed(5)
    encoder, decoder = Layers("encoder", 3, across=False), Layers("decoder", 2, across=True)
    for part in (encoder, decoder):
        for parameter in part.parameters():
            nn.init.normal_(parameter, std=0.4)
    return encoder.eval(), decoder.eval(), {**encoder.named(), **decoder.named()}


LATER = {
    **dict.fromkeys(("encoder_normalize_before", "decoder_normalize_before"), True),
    **dict.fromkeys(("encoder_learned_pos", "decoder_learned_pos"), True),
    **dict.fromkeys(("layernorm_embedding", "no_scale_embedding", "share_decoder_input_output_embed"), True),
    "activation_fn": "gelu",
    "encoder_layers": 3,
}


def later(encoder: Layers, decoder: Layers, source: Tensor, tokens: Tensor) -> Tensor:
    blind = ~PRESENT
    memory = encoder(source, src_key_padding_mask=blind)
    ahead = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    return decoder(tokens, memory, tgt_mask=ahead, memory_key_padding_mask=blind) @ decoder.words.weight.T


@torch.no_grad()
def test_norms_first_learned_places_and_words_as_they_are(tmp_path: Path) -> None:
    encoder, decoder, tensors = pair()
    import_model(written(tmp_path, tensors, **LATER), tmp_path / "run")
    model, tokens, source = load(tmp_path / "run").model, drawn(3), drawn(4)
    system = model.settings
    assert (system.norm, system.position, system.tied, system.decoder_depth) == ("pre", "learned", "output", 2)
    got = model.decode(tokens, model.encode(source, PRESENT))
    same(got[PRESENT], later(encoder, decoder, source, tokens)[PRESENT], rtol=0, atol=1e-4)


@torch.no_grad()
def test_settings_may_stand_in_tables(tmp_path: Path) -> None:
    """As newer files have them: `cfg`, and in it a table for each side."""
    _, _, tensors = pair()
    path = written(tmp_path, tensors, **LATER)
    flat, model = {**SIZES, **LATER}, dict[str, Any]()
    for name, value in flat.items():
        side, _, rest = name.partition("_")
        if side in ("encoder", "decoder"):
            model.setdefault(side, {})[rest] = value
        else:
            model[name] = value
    plain = import_model(path, tmp_path / "plain")
    torch.save({"args": None, "cfg": {"model": model}, "model": tensors}, path)
    assert import_model(path, tmp_path / "tables").recipe == plain.recipe


@torch.no_grad()
def test_old_names_are_understood(tmp_path: Path) -> None:
    theirs = names_of(fsmt(tied=False))
    new = import_model(written(tmp_path, theirs), tmp_path / "new").model.state_dict()
    old = dict(theirs)
    old["decoder.embed_out"] = old.pop("decoder.output_projection.weight")
    for side, norms in (("encoder", ("self_attn", "final")), ("decoder", ("self_attn", "encoder_attn", "final"))):
        for layer in range(2):
            start = f"{side}.layers.{layer}."
            for kind in ("weight", "bias"):
                for number, norm in enumerate(norms):
                    old[f"{start}layer_norms.{number}.{kind}"] = old.pop(f"{start}{norm}_layer_norm.{kind}")
                for looks in norms[:-1]:
                    parts = [old.pop(f"{start}{looks}.{part}_proj.{kind}") for part in "qkv"]
                    old[f"{start}{looks}.in_proj_{kind}"] = torch.cat(parts)
    again = import_model(written(tmp_path, old), tmp_path / "old").model.state_dict()
    assert new.keys() == again.keys()
    assert all(torch.equal(new[name], again[name]) for name in new)
