"""Tokens become words again, and no weight is lost on the way."""

import numpy as np
import pytest

from regard.errors import UserError
from regard.explain import Side, Token, alignment, by_words, find, look_of_word, trace, words
from regard.explain.figures import parts
from regard.text.tokenizer import KINDS
from tests.explain.conftest import AWKWARD, SOURCE, TARGET, make


def cut(text: str, *offsets: tuple[int, int] | None) -> Side:
    return Side(text, tuple(Token(7, "</s>" if offset is None else "x", offset) for offset in offsets))


def test_tokens_of_one_word_stand_together() -> None:
    side = cut("didn't go.", (0, 3), (3, 6), (6, 9), (9, 10), None)
    assert [(word.text, word.tokens) for word in words(side)] == [
        ("didn't", (0, 1)),
        ("go", (2,)),
        (".", (3,)),
        ("</s>", (4,)),
    ]


def test_a_token_over_two_words_makes_them_one() -> None:
    assert [word.text for word in words(cut("to go. Up", (0, 2), (2, 4), (4, 6), (6, 9)))] == ["to", "go.", "Up"]


def test_a_space_belongs_to_the_word_after_it_and_a_line_end_to_none() -> None:
    side = cut("a b\nc", (0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    assert [(word.text, word.tokens) for word in words(side)] == [("a", (0,)), ("b", (1, 2)), ("⏎", (3,)), ("c", (4,))]


def test_of_an_unknown_word_stands_what_the_model_saw() -> None:
    """In the alignment of a picture, which is by words, as on a page, which shows tokens where they are words."""
    letters = "a bœd"
    pieces = [Token(5, "<unk>" if letter == "œ" else letter, (i, i + 1)) for i, letter in enumerate(letters)]
    assert [word.text for word in words(Side(letters, tuple(pieces)))] == ["a", "b<unk>d"]
    seen = trace(make("transformer-tiny", kind="word"), source="it snored", target="es war")
    (block,) = [part for part in parts(seen) if part.heading.startswith("Alignment")]
    assert block.columns == seen.source.labels == ["it", "<unk>", "</s>"]
    with pytest.raises(UserError, match=r"it has: it, snored$"):
        find(seen.source, "slept")


def test_marks_of_other_scripts_stay_in_their_word() -> None:
    text = "हिन्दी है"
    side = cut(text, *((i, i + 1) for i in range(len(text))))
    assert [word.text for word in words(side)] == ["हिन्दी", "है"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_token_is_in_one_word_and_rows_still_sum_to_one(kind: str) -> None:
    seen = trace(make("gpt", kind, context=97), text=AWKWARD)
    groups = words(seen.target)
    assert [place for word in groups for place in word.tokens] == list(range(len(seen.target.tokens)))
    for each in seen.maps:
        merged = by_words(each.weights, groups, groups)
        assert merged.shape == (3, len(groups), len(groups))
        np.testing.assert_allclose(merged.sum(-1), 1, atol=1e-5)


def test_word_weights_are_sums_of_what_is_seen_and_means_of_what_looks() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    looks, seen = words(cut("ab", (0, 1), (1, 2))), words(cut("ab c", (0, 1), (1, 2), (2, 4)))
    np.testing.assert_allclose(by_words(weights, looks, seen), [[0.45, 0.55]])


def test_alignment_is_the_mean_over_heads(translator) -> None:
    seen = trace(translator, source=SOURCE, target=TARGET)
    layers = [each.weights.mean(0) for each in seen.of("cross")]
    np.testing.assert_allclose(alignment(seen), layers[1])
    np.testing.assert_allclose(alignment(seen, layer=0), layers[0])
    np.testing.assert_allclose(alignment(seen, layer=None), (layers[0] + layers[1]) / 2, rtol=1e-6)
    assert alignment(seen).shape == (len(seen.target.tokens), len(seen.source.tokens))
    np.testing.assert_allclose(alignment(seen).sum(-1), 1, atol=1e-5)
    with pytest.raises(UserError, match="no layer 2; this run has layers 0 to 1"):
        alignment(seen, layer=2)


def test_a_language_model_aligns_nothing(speaker) -> None:
    with pytest.raises(UserError, match="only a translator with attention aligns"):
        alignment(trace(speaker, text=SOURCE))


def test_a_word_is_found_by_its_characters() -> None:
    side = cut("It bit it, it's IT", (0, 2), (2, 4), (4, 6), (6, 9), (9, 10), (10, 15), (15, 18))
    assert (find(side, "it").tokens, find(side, "it").times) == ((3,), 2)
    assert find(side, "bit").tokens == (1, 2)
    assert find(side, "BIT").text == "bit"
    with pytest.raises(UserError, match="the text has no word 'wide'; it has: It, bit, it, ,, it's, IT"):
        find(side, "wide")
    with pytest.raises(UserError, match="no word ''"):
        find(side, "")


def test_a_word_looks_in_every_layer_and_head(translator, speaker) -> None:
    seen = trace(translator, source=SOURCE, target=TARGET)
    look = look_of_word(seen, "chicken")
    places = list(look.word.tokens)
    assert look.kind == "encoder"
    assert len(places) > 1
    for layer, each in enumerate(seen.of("encoder")):
        np.testing.assert_allclose(look.weights[layer], each.weights[:, places].mean(1))
    assert look_of_word(seen, "Huhn").kind == "decoder"
    written = look_of_word(seen, "Huhn", kind="cross")
    before = [place - 1 for place in look_of_word(seen, "Huhn").word.tokens]
    np.testing.assert_allclose(written.weights[0], seen.of("cross")[0].weights[:, before].mean(1))
    assert look_of_word(trace(speaker, text=SOURCE), "it").kind == "decoder"
    with pytest.raises(UserError, match="the source has no word 'wide'"):
        look_of_word(seen, "wide")
    with pytest.raises(UserError, match="no attention 'crosss'; did you mean 'cross'"):
        look_of_word(seen, "it", kind="crosss")
