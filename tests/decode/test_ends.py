"""Several symbols may end a text; one of them is written."""

import json

import pytest

from regard.decode import generate, score
from regard.decode.settings import Decode
from regard.text import Tokenizer
from tests.decode.test_generate import encoded

MANY = [Decode(max_tokens=17), Decode(max_tokens=17, temperature=1.1), Decode(max_tokens=9, beam=3)]


def ending(tokenizer: Tokenizer, *more: int) -> Tokenizer:
    return Tokenizer(json.dumps({**json.loads(tokenizer.to_json()), "regard": {"ends": more}}))


@pytest.mark.parametrize("settings", MANY[:2], ids=["greedy", "sampled"])
def test_a_text_ends_at_the_first_of_them(tokenizer, speaker, settings) -> None:
    """What comes before is what it was: nothing else is asked."""
    prompts = encoded(tokenizer)
    before = generate(speaker, tokenizer, settings, prompts=prompts, seed=3)
    other = next(best.tokens[3] for (best,) in before if len(best.tokens) > 3)
    after = generate(speaker, ending(tokenizer, other), settings, prompts=prompts, seed=3)
    assert any(best.end == other for (best,) in after)
    for (mine,), (whole,) in zip(after, before, strict=True):
        at = whole.tokens.index(other) if other in whole.tokens else len(whole.tokens)
        assert mine.tokens == whole.tokens[:at]
        assert mine.end == (other if at < len(whole.tokens) else whole.end)
        assert (mine.ended, len(mine.log_probabilities)) == (
            ("end", at + 1) if at < len(whole.tokens) else (whole.ended, len(whole.log_probabilities))
        )


def test_a_beam_ends_at_each_of_them(tokenizer, speaker) -> None:
    """Its hypotheses are what the model says they are, with the symbol that ended them; and it stays full."""
    ends = [tokenizer.encode(letter)[0] for letter in "the rod"]
    many = ending(tokenizer, *ends)
    prompts = encoded(tokenizer, ["the ch", "r", "didn't", ""])
    settings = Decode(max_tokens=9, beam=3)
    found = generate(speaker, many, settings, prompts=prompts)
    assert {h.end for row in found for h in row if h.ended == "end"} & {*ends}
    for prompt, row in zip(prompts, found, strict=True):
        assert len(row) == 3
        for each in row:
            assert not many.ends & {*each.tokens}
            whole = [*each.tokens, each.end] if each.end is not None else each.tokens
            said = score(speaker, tokenizer, [[*prompt, *whole]])[0][len(prompt) : len(prompt) + len(whole)]
            assert said == pytest.approx(each.log_probabilities, abs=1e-4)
        alone = generate(speaker, many, settings, prompts=[prompt])[0]
        assert [h.tokens for h in row] == [h.tokens for h in alone]


@pytest.mark.parametrize("settings", MANY, ids=["greedy", "sampled", "beam"])
def test_the_end_again_changes_nothing(tokenizer, speaker, settings) -> None:
    prompts = encoded(tokenizer)
    assert generate(speaker, ending(tokenizer, tokenizer.end), settings, prompts=prompts) == generate(
        speaker, tokenizer, settings, prompts=prompts
    )


def test_none_of_them_leaves_a_trace(tokenizer) -> None:
    other = tokenizer.encode("t")[0]
    many = ending(tokenizer, other)
    assert (many.end, many.ends) == (tokenizer.end, {tokenizer.end, other})
    assert many.decode([*tokenizer.encode("he"), other, tokenizer.end]) == "he"
