"""What an encoder-decoder may have otherwise than in 2017 (S7)."""

import pytest
import torch

from regard.systems import SYSTEMS, built, parameters
from regard.systems.t5 import T5
from regard.systems.transformer import Transformer
from tests.helpers import line, refused, same

SMALL = {"width": 14, "heads": 2, "depth": 3, "hidden": 37, "context": 23}
KINDS = pytest.mark.parametrize("kind", [Transformer, T5])


@KINDS
def test_a_decoder_may_have_another_depth(kind: type) -> None:
    for asked, got in ((0, 3), (1, 1), (5, 5)):
        model = kind(**SMALL, decoder_depth=asked).build(11)
        assert (len(model.encoder.blocks), len(model.decoder.blocks)) == (3, got)
        assert len(model.start(2, 7).layers) == got


@KINDS
def test_no_decoder_has_less_than_no_layers(kind: type) -> None:
    with refused("system.decoder_depth = -1"):
        kind(**SMALL, decoder_depth=-1)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("position", ["learned", "sinusoidal"])
def test_words_may_stay_as_they_are(scaled: bool, position: str) -> None:
    """Learned places begin with the size of the words they are added to; waves always have the height of one."""
    model = Transformer(**SMALL, scaled=scaled, position=position).build(997).eval()
    embedding, tokens = model.encoder.embedding, torch.randint(0, 997, (2, 3))
    words, at = embedding.rows(tokens) * (14**0.5 if scaled else 1.0), line(2, 3)
    same(embedding(tokens, at), words + embedding.position.table(at.index))
    size = float(embedding.position.table(torch.arange(23)[None]).detach().square().mean().sqrt())
    expected = 0.5**0.5 if position == "sinusoidal" else 1.0 if scaled else 14**-0.5
    assert size == pytest.approx(expected, rel=0.2)


def test_a_norm_may_stand_on_the_words() -> None:
    model, tokens = Transformer(**SMALL, embedding_norm=True).build(11).eval(), torch.randint(0, 11, (2, 3))
    for stack in (model.encoder, model.decoder):
        with torch.no_grad():
            stack.embedding.norm.bias.fill_(0.5)
        x = stack.embedding(tokens, line(2, 3))
        same(x.mean(-1), torch.full((2, 3), 0.5))
        same(x.var(-1, unbiased=False), torch.ones(2, 3), rtol=0, atol=1e-3)
    assert model.encoder.embedding.norm is not model.decoder.embedding.norm


@pytest.mark.parametrize("tied", ["none", "all"])
def test_every_token_may_have_a_score_of_its_own(tied: str) -> None:
    plain = Transformer(**SMALL, tied=tied).build(11)
    assert plain.output.rows.bias is None
    model, x = Transformer(**SMALL, tied=tied, output_bias=True).build(11), torch.randn(2, 3, 14)
    before = model.logits(x)
    with torch.no_grad():
        model.output.rows.bias += torch.arange(11)
    same(model.logits(x) - before, torch.arange(11.0).expand(2, 3, 11))


@pytest.mark.parametrize("kind", ["gpt", "bert", "transformer", "t5"])
def test_layers_without_residuals_norms_or_feed_forward_have_fewer_weights_and_still_learn(kind) -> None:
    def made(**settings):
        torch.manual_seed(0)
        return built(SYSTEMS[kind](width=16, heads=2, depth=2, context=32, **settings), 11)

    whole = parameters(made())
    assert parameters(made(residual=False)) == whole
    for settings in ({"normalizer": "none"}, {"feedforward": "none"}):
        model = made(**settings)
        assert parameters(model) < whole
        tokens = torch.randint(5, 11, (2, 6))
        memory = model.encode(tokens) if model.reads_source else None
        scores = model.decode(tokens, memory) if model.writes_text else model.answer(tokens)
        scores.square().sum().backward()
        assert all(weight.grad is not None for weight in model.parameters())
