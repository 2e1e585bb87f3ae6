"""What a system is built from: its settings are checked, and its tables begin on one scale."""

import math

import pytest
import torch

from regard.attention.heads import MultiHead
from regard.blocks.embedding import Embedding
from regard.recipe import presets, read
from regard.systems import SYSTEMS
from regard.systems.gpt import Gpt
from regard.systems.layers import Layers
from regard.systems.transformer import Transformer
from tests.helpers import refused

TRANSFORMERS = [kind for kind, system in SYSTEMS.items() if issubclass(system, Layers)]
SYSTEM_OF = {name: read(name).system for name in presets()}
ABLATED = [name for name, system in SYSTEM_OF.items() if isinstance(system, Layers) and system.feedforward != "experts"]


@pytest.mark.parametrize("kind", TRANSFORMERS)
@pytest.mark.parametrize("where", ["input", "heads"])
def test_position_rows_begin_on_the_scale_of_the_word_vectors(kind: str, where: str) -> None:
    """On another scale one of the two drowns the other, and a model with every shape right learns nothing."""
    model = SYSTEMS[kind](width=104, heads=4, context=101, position="learned", position_at=where).build(103)
    embedding = next(part for part in model.modules() if isinstance(part, Embedding))
    words = float(embedding.rows.weight.std().detach()) * embedding.scale
    assert float(embedding.position.table.rows.weight.std().detach()) == pytest.approx(words, rel=0.1)


@pytest.mark.parametrize(("width", "std"), [(768, 0.02), (192, 0.04), (48, 0.08)])
def test_gpt_begins_like_gpt_2_and_a_narrow_one_with_the_same_sums(width: int, std: float) -> None:
    """0.02 in a width of 768; where fewer numbers are summed up each begins larger, or nothing is heard."""
    for depth in (1, 3):
        model = Gpt(width=width, heads=4, depth=depth).build(11)
        for block in model.decoder.blocks:
            for layer in (block.attention.output, block.feedforward.output):
                assert float(layer.weight.std().detach()) == pytest.approx(std / math.sqrt(2 * depth), rel=0.1)
            assert float(block.attention.to_query.weight.std().detach()) == pytest.approx(std, rel=0.1)


def test_the_transformer_begins_with_glorots_spread() -> None:
    model = Transformer(width=104, heads=4).build(11)
    for layer in (model.encoder.blocks[0].attention.to_value, model.decoder.blocks[1].cross.output):
        assert float(layer.weight.abs().max().detach()) == pytest.approx(math.sqrt(6 / 208), rel=0.01)
        assert not layer.bias.any()


@pytest.mark.parametrize("kind", TRANSFORMERS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 510, "heads": 8}, "width 510 does not split into 8 heads; 504 and 512 do"),
        ({"width": 0}, "system.width = 0; it must be at least 1"),
        ({"depth": 0}, "system.depth = 0; it must be at least 1"),
        ({"dropout": 1.0}, "system.dropout = 1.0; it must be at least 0 and less than 1"),
        ({"dropout": float("nan")}, "system.dropout = nan; it must be at least 0 and less than 1"),
        ({"groups": -1}, "system.groups = -1; it must be 0 (automatic) or more"),
        ({"groups": 3}, "4 heads cannot share 3 key-value heads evenly"),
        ({"head_width": -1}, "system.head_width = -1; it must be 0 (automatic) or more"),
        ({"epsilon": 0.0}, "system.epsilon = 0.0; it must be more than 0"),
        ({"epsilon": float("nan")}, "system.epsilon = nan; it must be more than 0"),
        ({"norm": "pree"}, "system.norm = 'pree' is not known; did you mean 'pre'?"),
        ({"normalizer": "batch"}, "no normalizer 'batch'; known: layer, rms"),
        ({"feedforward": "glu"}, "system.feedforward = 'glu' is not known; did you mean 'gelu'?"),
        ({"bias_at": "queries"}, "system.bias_at = 'queries' is not known; known: all, attention, heads, feedforward"),
        ({"bias": False, "bias_at": "heads"}, "system.bias_at = heads changes nothing: system.bias is false"),
        ({"feedforward": "none", "experts": 4}, "system.experts = 4 changes nothing: system.feedforward is 'none'"),
        ({"score": "scaled_dot"}, "system.score = 'scaled_dot' is not known; did you mean 'scaled-dot'?"),
        ({"position": "rotary", "width": 12}, "a head of width 3 has an odd one"),
        (
            {"position": "sinusoidal", "position_at": "concatenated"},
            "concatenated positions make word vectors narrower",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else ",".join(value),
)
def test_a_setting_that_cannot_be_stops_before_anything_is_built(kind: str, settings: dict, message: str) -> None:
    with refused(message):
        SYSTEMS[kind](**settings).build(11)


@pytest.mark.parametrize("preset", ABLATED)
@pytest.mark.parametrize("part", ["feedforward", "normalizer"])
def test_parts_can_be_left_out_of_every_preset(preset: str, part: str) -> None:
    """Though it says how wide they are, or where they stand (C6, C10)."""
    assert getattr(read(preset, [f"system.{part}=none"]).system, part) == "none"


@pytest.mark.parametrize("kind", TRANSFORMERS)
@pytest.mark.parametrize("position_at", ["input", "heads"])
@pytest.mark.parametrize("position", ["learned", "rotary", "buckets"])
def test_heads_of_another_width_are_no_part_of_the_width(kind: str, position: str, position_at: str) -> None:
    if position != "learned" and position_at == "heads":
        return  # refused: there is no table to put there
    settings = SYSTEMS[kind](width=14, heads=5, head_width=6, position=position, position_at=position_at)
    for part in settings.build(11).modules():
        if isinstance(part, MultiHead):
            assert part.to_key.weight.shape == (30, 14)
            assert part.output.weight.shape == (14, 30)


@pytest.mark.parametrize("kind", TRANSFORMERS)
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("all", {"to_query", "to_key", "to_value", "output", "widen"}),
        ("attention", {"to_query", "to_key", "to_value", "output"}),
        ("heads", {"to_query", "to_key", "to_value"}),
        ("feedforward", {"widen", "output"}),
    ],
)
def test_biases_are_where_they_were_asked_for(kind: str, where: str, expected: set[str]) -> None:
    model = SYSTEMS[kind](width=14, heads=2, bias=True, bias_at=where, normalizer="rms").build(11)
    stack = model.decoder if hasattr(model, "decoder") else model.encoder
    found = {name.split(".")[-2] for name, _ in stack.blocks.named_parameters() if name.endswith("bias")}
    assert found - {"table", "buckets"} == expected
    output = stack.blocks[0].attention.output.bias is not None, stack.blocks[0].feedforward.output.bias is not None
    assert output == (where in ("all", "attention"), where in ("all", "feedforward"))


@pytest.mark.parametrize("kind", TRANSFORMERS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_norm_has_the_epsilon_asked_for(kind: str, norm: str) -> None:
    model = SYSTEMS[kind](width=14, heads=2, norm=norm, epsilon=0.03).build(11)
    found = {part.eps for part in model.modules() if isinstance(part, torch.nn.LayerNorm | torch.nn.RMSNorm)}
    assert found == {0.03}


def test_an_unknown_tie_is_suggested() -> None:
    with refused("system.tied = 'both' is not known; known: none, output, all"):
        Transformer(tied="both").build(11)


def test_a_language_model_reads_no_source() -> None:
    with refused("reads no source text"):
        Gpt(width=14, heads=2).build(11).encode(torch.zeros(1, 1, dtype=torch.long))


def test_a_text_longer_than_the_context_is_refused() -> None:
    model = Gpt(width=14, heads=2, context=5).build(11)
    model.fits(5, "the prompt")
    with refused("the prompt has 6 tokens and the context holds 5"):
        model.fits(6, "the prompt")
