"""Text as it comes: whole characters, whole words, nothing lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.decode import Stream, cut
from regard.text import KINDS, Text, Tokenizer

TEXT = "Größe, 日本 and 👩‍👩‍👧 – the chicken\ndidn't cross the road.\n"
MADE = {kind: Tokenizer.train([TEXT] * 3, Text(kind=kind)) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_pieces_together_are_the_text(kind) -> None:
    tokenizer = MADE[kind]
    ids, stream = tokenizer.encode(TEXT), Stream(tokenizer)
    pieces = [stream.push(i) for i in ids] + [stream.close()]
    assert "".join(pieces) == tokenizer.decode(ids)
    assert not any("\ufffd" in piece for piece in pieces)
    assert sum(map(bool, pieces)) > 5, "nothing was streamed"


@given(st.text(max_size=40))
def test_bytes_are_held_back_until_a_character_is_whole(text: str) -> None:
    tokenizer = MADE["byte"]
    ids, stream = tokenizer.encode(text), Stream(tokenizer)
    pieces = [stream.push(i) for i in ids]
    assert all("\ufffd" not in piece for piece in pieces) or "\ufffd" in text
    assert "".join(pieces) + stream.close() == text


def test_a_stop_string_is_never_shown_in_part() -> None:
    tokenizer = MADE["char"]
    stream = Stream(tokenizer, ["cross", "chip"])
    pieces = [stream.push(i) for i in tokenizer.encode("the chicken crosses the road")]
    assert "".join(pieces) == "the chicken "
    assert stream.close() == ""
    assert cut("the chicken crosses", ["cross", "ken"]) == "the chic"


def test_what_only_looked_like_a_stop_string_is_shown_in_the_end() -> None:
    tokenizer = MADE["char"]
    stream = Stream(tokenizer, ["roads"])
    assert "".join(stream.push(i) for i in tokenizer.encode("the road")) == "the "
    assert stream.close() == "road"
