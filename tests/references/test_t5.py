"""A tiny T5 of Hugging Face, built from a configuration and never downloaded, with its weights put into ours.

Version 1.0 (ReLU, tied, output scaled) and version 1.1 (gated GELU, an output of its own, heads of another width): the
same buckets, logits, loss, gradients and spread of the first weights. Texts are longer than the last bucket begins.
"""

import pytest
import torch
from torch import Tensor, nn
from transformers import T5Config, T5ForConditionalGeneration
from transformers.models.t5.modeling_t5 import T5Attention, T5LayerNorm

from regard.attention.relative import Buckets
from regard.attention.schemes import BIAS
from regard.blocks.norms import normalizer
from regard.data import IGNORE, Batch
from regard.interop.families.t5 import table
from regard.objectives import NextToken
from regard.systems import System
from regard.systems.t5 import T5
from tests.references.copy import exact, lively, put_like

VOCABULARY, SOURCE, TARGET = 31, 151, 139
SEEN = torch.arange(SOURCE) < torch.tensor([[SOURCE], [43], [137]])
PRESENT = torch.arange(TARGET) < torch.tensor([[17], [TARGET], [131]])
SIZES = {"width": 24, "hidden": 37, "depth": 3, "dropout": 0.0}
VERSIONS = {
    "1.0": {**SIZES, "heads": 4},
    "1.1": {**SIZES, "heads": 5, "head_width": 7, "feedforward": "geglu", "tied": False},
}
every_version = pytest.mark.parametrize("version", VERSIONS)


def made(version: str, **sizes: int) -> tuple[System, T5ForConditionalGeneration]:
    """Ours and theirs, as each begins."""
    settings = T5(**{**VERSIONS[version], **sizes})
    config = T5Config(
        vocab_size=VOCABULARY,
        d_model=settings.width,
        d_kv=settings.each,
        d_ff=settings.hidden,
        num_layers=settings.depth,
        num_heads=settings.heads,
        dropout_rate=settings.dropout,
        feed_forward_proj="gated-gelu" if settings.feedforward == "geglu" else "relu",
        tie_word_embeddings=settings.tied,
        decoder_start_token_id=0,
    )
    theirs = T5ForConditionalGeneration(config)
    if not settings.tied:  # the configuration leaves the scale out and ties all the same
        theirs.lm_head.weight = nn.Parameter(torch.randn(VOCABULARY, settings.width))
    return settings.build(VOCABULARY), theirs


def copied(version: str) -> tuple[System, T5ForConditionalGeneration]:
    """Both with the same weights, in double precision."""
    mine, theirs = made(version)
    for part in theirs.modules():
        for name, norm in part.named_children():
            if isinstance(norm, T5LayerNorm):  # computes in single precision, whatever the model is in
                setattr(part, name, nn.RMSNorm(len(norm.weight), eps=norm.variance_epsilon))
    mine, theirs = mine.double(), lively(theirs)
    with torch.no_grad():
        for tensor, other in pairs(mine, theirs):
            tensor.copy_(other)
    return mine, theirs


def pairs(mine: System, theirs: T5ForConditionalGeneration) -> list[tuple[Tensor, Tensor]]:
    """Every tensor, ours beside theirs, by the table that models are imported with."""
    ours, others = dict(mine.named_parameters()), dict(theirs.named_parameters())
    return [(ours[name], others[pair.theirs]) for pair in table(mine.settings).pairs(ours) for name in pair.ours]


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize(("buckets", "reach"), [(32, 128), (12, 10), (20, 61)])
def test_distances_fall_into_the_same_buckets(ahead: bool, buckets: int, reach: int) -> None:
    scheme = Buckets(3, ahead=ahead, std=1.0, buckets=buckets, reach=reach)
    offset = torch.arange(-reach, reach + 1)
    assert torch.equal(scheme.numbers, T5Attention._relative_position_bucket(offset, ahead, buckets, reach))
    beyond = T5Attention._relative_position_bucket(torch.tensor([-10 * reach, 10 * reach]), ahead, buckets, reach)
    assert torch.equal(scheme.numbers[[0, -1]], beyond)


def test_the_norm_is_the_same() -> None:
    x, theirs = 1e-3 * torch.randn(3, 5, 23), lively(T5LayerNorm(23)).float()
    mine = normalizer("rms", 23, T5().epsilon)
    put_like(mine, theirs)
    torch.testing.assert_close(mine(x), theirs(x))


@every_version
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_the_logits_are_the_same(version: str, training: bool, padded: bool) -> None:
    mine, theirs = (model.train(training) for model in copied(version))
    source, target = torch.randint(2, VOCABULARY, (3, SOURCE)), torch.randint(2, VOCABULARY, (3, TARGET))
    got = mine.decode(target, mine.encode(source, SEEN if padded else None))
    reference = theirs(
        input_ids=source, attention_mask=SEEN.long() if padded else None, decoder_input_ids=target, use_cache=False
    )
    exact(got, reference.logits)


@every_version
def test_the_loss_and_every_gradient_are_the_same(version: str) -> None:
    """Their decoder begins with padding: ours is given the same tokens."""
    mine, theirs = copied(version)
    source, labels = torch.randint(2, VOCABULARY, (3, SOURCE)), torch.randint(2, VOCABULARY, (3, TARGET))
    labels = labels.masked_fill(~PRESENT, IGNORE)
    begun = theirs.prepare_decoder_input_ids_from_labels(labels)
    assert not begun[:, 0].any()
    reference = theirs(input_ids=source, attention_mask=SEEN.long(), labels=labels).loss
    count = int(PRESENT.sum())
    loss = NextToken()(mine, Batch(begun, labels, count, source=source, source_present=SEEN)).total / count
    torch.testing.assert_close(loss, reference, check_dtype=False)  # sums in single precision
    loss.backward()
    reference.backward()
    for tensor, other in pairs(mine, theirs):
        assert tensor.grad.any()
        torch.testing.assert_close(tensor.grad, other.grad, rtol=1e-4, atol=1e-6)


@every_version
def test_the_logits_are_the_same_with_a_cache(version: str) -> None:
    mine, theirs = (model.eval() for model in copied(version))
    source, target = torch.randint(2, VOCABULARY, (3, SOURCE)), torch.randint(2, VOCABULARY, (3, TARGET))
    with torch.no_grad():
        memory, cache, past = mine.encode(source, SEEN), mine.start(3, TARGET), None
        encoded = theirs.encoder(source, attention_mask=SEEN.long())
        exact(memory.vectors[SEEN], encoded.last_hidden_state[SEEN])
        for a, b in ((0, 130), (130, 131), (131, 132), (132, 139)):
            reference = theirs(
                encoder_outputs=encoded,
                attention_mask=SEEN.long(),
                decoder_input_ids=target[:, a:b],
                past_key_values=past,
                use_cache=True,
            )
            past = reference.past_key_values
            exact(mine.decode(target[:, a:b], memory, cache), reference.logits)


@every_version
def test_the_first_weights_are_spread_alike(version: str) -> None:
    mine, theirs = made(version, width=96, heads=12, head_width=11, hidden=197)
    for tensor, other in pairs(mine, theirs):
        if tensor is mine.output.rows.weight and version == "1.1":  # ours begins small enough for scores of one
            assert float(tensor.detach().std()) == pytest.approx(96**-0.5, rel=0.1)
        elif tensor.shape == (32, 12):  # distances: ours begin wide enough for heads to differ
            assert float(tensor.detach().std()) == pytest.approx(BIAS, rel=0.15)
        else:
            spreads = [float(each.detach().square().mean().sqrt()) for each in (tensor, other)]
            assert spreads[0] == pytest.approx(spreads[1], rel=0.15)
