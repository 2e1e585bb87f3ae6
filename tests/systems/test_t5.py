"""What makes T5 a T5 (S10), beside what every Transformer shares."""

import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from regard.recipe import read
from regard.systems import parameters
from regard.systems.t5 import T5
from tests.helpers import line, same

SMALL = {"width": 14, "heads": 2, "depth": 3, "hidden": 37, "context": 23}


def test_nothing_has_a_bias_and_norms_only_scale() -> None:
    assert {name.rpartition(".")[2] for name, _ in T5(**SMALL).build(11).named_parameters()} == {"weight"}


@pytest.mark.parametrize("tied", [True, False])
def test_a_tied_output_is_made_smaller_and_one_of_its_own_is_not(tied: bool) -> None:
    model, x = T5(**SMALL, tied=tied).build(11), torch.randn(2, 3, 14)
    rows = model.decoder.embedding.rows.weight
    assert (model.output.rows.weight is rows) is tied
    same(model.logits(x), x @ model.output.rows.weight.T * (14**-0.5 if tied else 1.0))


def test_source_and_target_share_their_words_and_words_are_not_scaled() -> None:
    model, tokens = T5(**SMALL, tied=False).build(11).eval(), torch.randint(0, 11, (2, 3))
    rows = model.decoder.embedding.rows.weight
    assert model.encoder.embedding.rows.weight is rows
    for stack in (model.encoder, model.decoder):
        assert torch.equal(stack.embedding(tokens, line(2, 3)), rows[tokens])


def test_what_enters_and_what_leaves_a_stack_is_dropped_from_in_training() -> None:
    model, x = T5(**SMALL, dropout=0.3).build(11).train(), 1 + torch.rand(7, 97, 14)
    for stack in (model.encoder, model.decoder):
        for part in (stack.norm, stack.embedding.dropout):
            assert float((part(x) == 0).float().mean()) == pytest.approx(0.3, abs=0.03)
        assert all(block.attention.look.dropout == block.feedforward.dropout.p == 0.3 for block in stack.blocks)


def test_t5_small_has_the_size_of_the_paper() -> None:
    """60 M parameters (section 3.7), as many as the model of that name elsewhere."""
    with torch.device("meta"):
        mine, theirs = read("t5-small").system.build(32128), T5ForConditionalGeneration(T5Config())
    assert parameters(mine) == parameters(theirs) == 60_506_624
