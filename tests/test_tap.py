"""Looking inside: only while somebody listens, only where asked, and never with an effect."""

import pytest
import torch

from regard.systems.gpt import Gpt
from regard.tap import collect, record, taps
from tests.helpers import refused

MODEL = Gpt(width=14, heads=2, depth=2, context=11).build(13).eval()
TOKENS = torch.randint(0, 13, (3, 7))


def test_a_name_with_stars_chooses_the_taps() -> None:
    with record(MODEL, "decoder.blocks.*.attention.look.weights", "*.vectors") as seen:
        MODEL.decode(TOKENS)
    assert set(seen) == {
        "decoder.blocks.0.attention.look.weights",
        "decoder.blocks.1.attention.look.weights",
        "decoder.embedding.vectors",
    }


def test_every_tap_of_a_model_can_be_heard() -> None:
    with record(MODEL, "*") as seen:
        MODEL.decode(TOKENS)
    assert set(seen) == set(taps(MODEL))
    assert not any(tensor.requires_grad for tensor in seen.values())


def test_every_showing_is_kept_in_order() -> None:
    with record(MODEL, "decoder.embedding.vectors") as seen:
        for i in range(3):
            MODEL.decode(TOKENS[i : i + 1])
    assert len(seen.all("decoder.embedding.vectors")) == 3
    assert torch.equal(seen["decoder.embedding.vectors"], seen.all("decoder.embedding.vectors")[2])
    assert seen.all("nobody") == []


def test_nothing_is_computed_when_nobody_listens() -> None:
    def fail() -> torch.Tensor:
        raise AssertionError("computed for nobody")

    for tap in taps(MODEL).values():
        tap(fail)


def test_listening_ends_with_its_block_even_when_that_fails() -> None:
    with pytest.raises(ZeroDivisionError), record(MODEL, "*"):
        raise ZeroDivisionError
    assert all(tap.listener is None for tap in taps(MODEL).values())


def test_a_listener_inside_another_gives_the_first_its_place_back() -> None:
    with record(MODEL, "*.stream") as outer:
        with record(MODEL, "*.stream") as inner:
            MODEL.decode(TOKENS)
        assert inner and not outer
        MODEL.decode(TOKENS)
    assert set(outer) == set(inner)


def test_a_name_that_no_tap_has_is_told_those_that_there_are() -> None:
    with refused("no tap matches *.wieghts; this model has decoder.embedding.vectors"), record(MODEL, "*.wieghts"):
        pass


@pytest.mark.parametrize("settings", [{}, {"groups": 2}, {"score": "bilinear"}], ids=str)
def test_weights_of_chosen_heads_are_those_of_all_heads(settings) -> None:
    model = Gpt(width=24, heads=4, depth=2, context=11, **settings).build(13).eval()
    with record(model, "*.weights", "*.scores") as whole:
        model.decode(TOKENS)
    with record(model, "decoder.blocks.1.attention.look.weights", "*.scores", heads=[3, 1]) as some:
        model.decode(TOKENS)
    assert len(some) == 3
    for name, tensor in some.items():
        torch.testing.assert_close(tensor, whole[name][:, [3, 1]])
    assert all(tap.heads is None for tap in taps(model).values())


def test_what_is_collected_keeps_its_gradient() -> None:
    with collect(MODEL, "decoder.embedding.vectors") as seen:
        MODEL.decode(TOKENS)
    (gradient,) = torch.autograd.grad(seen["decoder.embedding.vectors"].sum(), [MODEL.decoder.embedding.rows.weight])
    assert gradient.any()
    assert all(tap.listener is None for tap in taps(MODEL).values())
