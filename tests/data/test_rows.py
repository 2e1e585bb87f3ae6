"""Texts laid out in rows: symbols around and between, which text each token is of, and what is cut where room ends."""

import json

import numpy as np
import pytest
import torch

from regard.data.rows import between, laid_out, room, segments, shortened
from regard.text import Text, Tokenizer

LETTERS = Tokenizer.train(["abcdefg"], Text(kind="char"))
ONE, TWO, THREE = ([LETTERS.encode(text) for text in row] for row in (["abc", "de"], ["g", "fedcb"], ["", "a"]))


def test_symbols_stand_around_and_between() -> None:
    assert between([[7, 8]], 1, 2).tolist() == [1, 7, 8, 2]
    assert between([[7, 8], [9]], 1, 2).tolist() == [1, 7, 8, 2, 9, 2]
    assert between([[], [9]], 1, 2).tolist() == [1, 2, 9, 2]
    for texts in ([[7, 8]], [[7, 8], [9]]):
        assert len(between(texts, 1, 2)) == sum(map(len, texts)) + room(len(texts)) == len(segments(texts))


@pytest.mark.parametrize("parted", [1, 2, 3])
def test_several_end_symbols_may_stand_between(parted: int) -> None:
    ends = [2] * parted
    assert between([[7, 8], [9]], 1, 2, parted).tolist() == [1, 7, 8, *ends, 9, 2]
    assert between([[7], [], [9]], 1, 2, parted).tolist() == [1, 7, *ends, *ends, 9, 2]
    for texts in ([[7, 8]], [[7, 8], [9]], [[7], [], [9]]):
        assert len(between(texts, 1, 2, parted)) == sum(map(len, texts)) + room(len(texts), parted)


def test_what_more_end_symbols_part_has_no_segments() -> None:
    twice = Tokenizer(json.dumps({**json.loads(LETTERS.to_json()), "regard": {"parted": 2}}))
    tokens, at = laid_out([ONE, TWO], twice)
    assert tokens.shape == (2, 10) and at.segment is None
    assert tokens[1].tolist() == [twice.start, *TWO[0], twice.end, twice.end, *TWO[1], twice.end]
    assert at.present is not None and at.present.sum(1).tolist() == [9, 10]


def test_an_end_is_of_the_text_before_it_and_the_start_of_the_first() -> None:
    assert segments([[7, 8], [9]]).tolist() == [0, 0, 0, 0, 1, 1]
    assert segments([[], [9, 9]]).tolist() == [0, 0, 1, 1, 1]
    assert segments([[7]]).tolist() == [0, 0, 0]


def test_rows_side_by_side() -> None:
    tokens, at = laid_out([ONE, TWO, THREE], LETTERS)
    assert tokens.shape == (3, 9) and at.present is not None and at.segment is not None
    assert at.present.sum(1).tolist() == [8, 9, 4]
    for i, texts in enumerate((ONE, TWO, THREE)):
        there = at.present[i]
        assert tokens[i][there].tolist() == between(texts, LETTERS.start, LETTERS.end).tolist()
        assert at.segment[i][there].tolist() == segments(texts).tolist()
        assert (tokens[i][~there] == LETTERS.pad).all()
    assert torch.equal(at.index, torch.arange(9).expand(3, 9))


def test_one_text_a_row_has_no_segments() -> None:
    tokens, at = laid_out([[ONE[0]], [np.array(TWO[1])]], LETTERS)
    assert at.segment is None and tokens.shape == (2, 7)
    _, even = laid_out([[ONE[0]], [ONE[0]]], LETTERS)
    assert even.present is None


def test_the_longer_text_is_cut() -> None:
    long, short = list(range(11)), list(range(3))
    assert shortened([long, short], 14) == [long, short]
    assert shortened([long, short], 9) == [long[:6], short]
    assert shortened([short, long], 9) == [short, long[:6]]
    assert shortened([long, long], 7) == [long[:3], long[:4]]
    assert shortened([long], 5) == [long[:5]]
