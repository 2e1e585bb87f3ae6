"""How fast rotary positions turn: against slow loops, and against `transformers`."""

import math
from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from regard.attention.positions import Rotary, Turns, rates
from regard.systems.gpt import Gpt
from tests.helpers import refused, same

LLAMA_3 = Turns(500_000.0, factor=8.0, context=8192, low=1.0, high=4.0)


def test_as_they_were_where_nothing_is_said() -> None:
    assert torch.equal(Turns().rates(26), rates(26, 10_000.0))
    assert torch.equal(Rotary(26).rate, rates(26, 10_000.0))


def test_the_base_and_the_factor_of_all() -> None:
    got = Turns(77.0, factor=3.0).rates(14)
    for i in range(7):
        assert float(got[i]) == pytest.approx(77.0 ** (-2 * i / 14) / 3, rel=1e-6)


@pytest.mark.parametrize("turns", [LLAMA_3, Turns(50.0, 5.0, 23, 0.5, 2.5)], ids=["llama-3", "small"])
def test_only_pairs_that_turn_seldom_are_slowed(turns: Turns) -> None:
    """Llama 3's rule in its own words: three cases of the wave's length."""
    got, kinds = turns.rates(64), set()
    for i in range(32):
        rate = turns.base ** (-2 * i / 64)
        length = 2 * math.pi / rate
        if length < turns.context / turns.high:
            expected, kind = rate, "kept"
        elif length > turns.context / turns.low:
            expected, kind = rate / turns.factor, "slowed"
        else:
            smooth = (turns.context / length - turns.low) / (turns.high - turns.low)
            expected, kind = (1 - smooth) * rate / turns.factor + smooth * rate, "between"
        kinds.add(kind)
        assert float(got[i]) == pytest.approx(expected, rel=1e-5)
    assert kinds == {"kept", "slowed", "between"}


@pytest.mark.parametrize(
    ("given", "turns"),
    [
        ({"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6}, Turns(1e6, 4.0)),
        (
            {
                "rope_type": "llama3",
                "rope_theta": 500_000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
            LLAMA_3,
        ),
    ],
    ids=["linear", "llama-3"],
)
def test_as_transformers_has_it(given: dict[str, Any], turns: Turns) -> None:
    config = LlamaConfig(hidden_size=256, num_attention_heads=2, rope_parameters=given)
    theirs, scale = ROPE_INIT_FUNCTIONS[given["rope_type"]](config, "cpu")
    assert scale == 1
    same(turns.rates(128), theirs, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rotary_base": 1.0}, "system.rotary_base = 1.0; it must be more than 1"),
        ({"rotary_base": float("nan")}, "system.rotary_base = nan; it must be more than 1"),
        ({"rotary_factor": 0.5}, "system.rotary_factor = 0.5; it must be at least 1"),
        ({"rotary_factor": 2.0, "rotary_context": -1}, "system.rotary_context = -1; it must be at least 0"),
        (
            {"rotary_factor": 2.0, "rotary_context": 9, "rotary_low": 4.0},
            "system.rotary_high = 4.0; it must be more than rotary_low, 4.0",
        ),
        ({"rotary_context": 9}, "system.rotary_context = 9 changes nothing: system.rotary_factor is 1"),
        (
            {"rotary_factor": 2.0, "rotary_low": 2.0},
            "system.rotary_low = 2.0 changes nothing: without system.rotary_context all angles are divided",
        ),
        (
            {"rotary_base": 5.0, "position": "learned"},
            "system.rotary_base = 5.0 changes nothing: system.position is 'learned'",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else ",".join(value),
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], message: str) -> None:
    with refused(message):
        Gpt(**{"position": "rotary", **settings})


def test_a_model_turns_as_its_settings_say() -> None:
    settings = {"rotary_base": 50.0, "rotary_factor": 5.0, "rotary_context": 23, "rotary_low": 0.5, "rotary_high": 2.5}
    model = Gpt(width=24, heads=2, position="rotary", **settings).build(11)
    assert torch.equal(model.decoder.embedding.position.rate, Turns(50.0, 5.0, 23, 0.5, 2.5).rates(12))
