"""The inputs: ragged, real, longer than the reach."""

from dataclasses import replace

import pytest

from regard.attention import causal
from regard.checkpoint import Run
from regard.data.prepare import stores
from regard.verify.check import attentions
from regard.verify.inputs import make, ragged

ROOMS = [(64, 0), (41, 0), (1024, 0), (1024, 128), (64, 59), (64, 63), (64, 64), (16, 64), (9, 0)]


@pytest.mark.parametrize("rows", [4, 8])
@pytest.mark.parametrize("context, reach", ROOMS)
def test_lengths_differ_fit_and_pass_the_reach_where_there_is_room(context: int, reach: int, rows: int) -> None:
    lengths = ragged(context, reach, rows)
    assert len(set(lengths)) == len(lengths) == rows
    assert min(lengths) >= 2 and max(lengths) <= context
    assert max(lengths) > reach or context <= reach
    assert min(lengths) > reach or context < reach + rows


def test_a_tiny_context_gets_fewer_rows() -> None:
    assert sorted(ragged(3, 0, 4)) == [2, 3]


def test_texts_come_from_the_run(language: Run) -> None:
    inputs = make(language)
    (store,) = stores(language.path / "tokens/valid", ("text",))
    held_out = " ".join(map(str, store.flat))
    assert [len(text) for text in inputs.texts] == ragged(41, 0, 4)
    assert all(text[0] == language.tokenizer.start for text in inputs.texts)
    assert all(" ".join(map(str, text[1:])) in held_out for text in inputs.texts)


def test_pairs_are_real_and_no_two_sides_are_equally_long(translator: Run) -> None:
    inputs, tokenizer = make(translator), translator.tokenizer
    assert len(set(inputs.lengths)) == 8
    for text, source in zip(inputs.texts, inputs.sources, strict=True):
        assert text[0] == tokenizer.start and source[-1] == tokenizer.end
        assert all(token > tokenizer.end for token in text[1:] + source[:-1])


def test_short_pairs_are_joined_beyond_the_reach(translator: Run) -> None:
    for part in attentions(translator.model).values():
        part.pattern = replace(causal, reach=23)
    inputs = make(translator)
    assert min(inputs.lengths) > 23 and max(inputs.lengths) <= translator.model.context
    assert len(set(inputs.lengths)) == 8
