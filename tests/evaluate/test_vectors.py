"""Vectors of texts and words: those of the model, whatever is read together, for every system."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.checkpoint import Run
from regard.evaluate import vectors
from regard.evaluate.vectors import sentence_vectors, token_vectors, word_vectors
from regard.place import Place
from regard.recipe import Embed, Recipe
from regard.systems import SYSTEMS
from regard.text import Text, Tokenizer
from tests.helpers import refused, same
from tests.laws.cases import VOCABULARY, Case

LETTERS = Tokenizer.train(["abcdefghijklmnopqrstuvwxyz "], Text(kind="char"))
TEXTS = ["the bank by the river", "a bank", "no money", "", "we sat on a bank of grass"]
STATIC = ("word2vec",)
every_system = pytest.mark.parametrize("kind", list(SYSTEMS))


def run(kind: str, tokenizer: Tokenizer = LETTERS, **settings: object) -> Run:
    assert len(tokenizer) == VOCABULARY
    return Run(Path("mine"), Recipe(), tokenizer, Case(kind, dict(settings)).build())


def row(model: Run, text: str) -> torch.Tensor:
    """The vectors of a text read alone, without those of its symbols, as the protocol gives them."""
    ids, start, end = LETTERS.encode(text), LETTERS.start, LETTERS.end
    with torch.no_grad():
        if not model.model.writes_text:
            tokens = torch.tensor([[start, *ids, end]])
            return model.model.embed(tokens, Place.line(tokens))[0, 1:-1]
        if model.model.reads_source:
            return model.model.encode(torch.tensor([[*ids, end]])).vectors[0, : len(ids)]
        return model.model.hidden(torch.tensor([[start, *ids]]))[0, 1:]


@every_system
def test_a_text_has_the_mean_of_its_tokens(kind: str) -> None:
    mine = run(kind)
    found = sentence_vectors(mine, TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        same(vector, row(mine, text).mean(0) if text else torch.zeros_like(vector))


@every_system
def test_texts_come_in_their_order_whatever_is_read_together(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, done = run(kind), []
    alone = torch.cat([sentence_vectors(mine, [text]) for text in TEXTS])
    monkeypatch.setattr(vectors, "BATCH_TOKENS", 31)
    same(sentence_vectors(mine, TEXTS, on_done=done.append), alone)
    assert done == [1, 2, 5]


@every_system
def test_a_word_in_its_text(kind: str) -> None:
    """The mean over its letters; of a model that sees the past alone, the last of them."""
    mine = run(kind)
    (words,) = word_vectors(mine, ["the bank, by"])
    whole = row(mine, "the bank, by")
    assert [(word.text, word.start, word.end) for word in words] == [
        *(("the", 0, 3), ("bank", 4, 8), (",", 8, 9), ("by", 10, 12))
    ]
    last = mine.model.writes_text and not mine.model.reads_source
    for word in words:
        assert word.vector is not None
        same(word.vector, whole[word.end - 1] if last else whole[word.start : word.end].mean(0))


@every_system
def test_what_stands_around_a_word_counts_unless_it_is_static(kind: str) -> None:
    mine = run(kind)
    (one,), (two,) = ([w for w in words if w.text == "bank"] for words in word_vectors(mine, ["a bank x", "on bank x"]))
    assert one.vector is not None and two.vector is not None
    assert torch.allclose(one.vector, two.vector, atol=1e-6) == (kind in STATIC)


def test_who_writes_sees_the_past_alone_and_who_reads_all() -> None:
    for kind, changes in (("gpt", False), ("rnn-lm", False), ("bert", True), ("rnn-encoder", True)):
        one, two = (words[0].vector for words in word_vectors(run(kind), ["bank of", "bank it"]))
        assert torch.allclose(one, two, atol=1e-6) != changes, kind


def test_a_head_on_a_writer_changes_nothing_of_that() -> None:
    mine = Run(Path("mine"), Recipe(), LETTERS, Case("gpt", {}, "labels").build())
    (words,) = word_vectors(mine, ["the bank"])
    same(words[1].vector, row(mine, "the bank")[-1])
    with refused("its first one knows nothing; take the last"):
        sentence_vectors(mine, ["bank"], pool="first")


@every_system
def test_every_layer_has_a_vector_for_each_token(kind: str) -> None:
    mine, ids = run(kind), [LETTERS.encode(text) for text in TEXTS]
    if kind in (*STATIC, "window-encoder"):
        with refused("mine has no layers to choose from"):
            token_vectors(mine, ids, layer=0)
        return
    for layer in range(3):
        found = token_vectors(mine, ids, layer=layer)
        assert [len(read.tokens) for read in found] == [len(each) for each in ids]
        (alone,) = token_vectors(mine, ids[:1], layer=layer)
        same(alone.tokens, found[0].tokens)
    with refused("no layer 99; mine has layers 0 to "):
        token_vectors(mine, ids, layer=99)


def test_the_last_layer_is_what_is_used() -> None:
    bert = run("bert", norm="post")
    same(sentence_vectors(bert, TEXTS, layer=2), sentence_vectors(bert, TEXTS))
    both_ways = run("rnn-encoder")
    same(sentence_vectors(both_ways, TEXTS, layer=2), sentence_vectors(both_ways, TEXTS))
    gpt = run("gpt", norm="pre")
    (stream,), (top,) = (token_vectors(gpt, [LETTERS.encode("bank")], layer=layer) for layer in (2, None))
    same(gpt.model.decoder.norm(stream.tokens).detach(), top.tokens)
    assert not torch.allclose(sentence_vectors(bert, TEXTS, layer=1), sentence_vectors(bert, TEXTS))


def test_an_encoder_s_layers_alone_are_counted() -> None:
    for kind in ("transformer", "t5", "seq2seq"):
        with refused("no layer 3; mine has layers 0 to 2"):
            sentence_vectors(run(kind), TEXTS, layer=3)


def test_pools() -> None:
    bert, ids = run("bert"), LETTERS.encode("bank")
    tokens = torch.tensor([[LETTERS.start, *ids, LETTERS.end]])
    whole = bert.model.embed(tokens, Place.line(tokens))[0].detach()
    wanted = {"first": whole[0], "last": whole[-2], "mean": whole[1:-1].mean(0), "all": whole.mean(0)}
    for pool, vector in wanted.items():
        same(sentence_vectors(bert, ["bank", "the bank of a river"], pool=pool)[0], vector)
    same(sentence_vectors(run("t5"), ["bank"], pool="first")[0], row(run("t5"), "bank")[0])
    with refused("its first one knows nothing; take the last"):
        sentence_vectors(run("gpt"), ["bank"], pool="first")
    with refused("that of the start symbol is the same in all texts"):
        sentence_vectors(run("word2vec"), ["bank"], pool="first")
    with refused("pool = 'max' is not known"):
        sentence_vectors(bert, ["bank"], pool="max")


def test_normalised_vectors_are_one_unit_long() -> None:
    found = sentence_vectors(run("bert"), TEXTS, normalise=True)
    same(found.norm(dim=-1), torch.tensor([1.0, 1.0, 1.0, 0.0, 1.0]))
    assert sentence_vectors(run("bert"), []).shape == (0, 24)


def test_blanks_around_a_text_change_offsets_alone() -> None:
    (words,) = word_vectors(run("bert"), ["  the bank \n"])
    (plain,) = word_vectors(run("bert"), ["the bank"])
    assert [(word.text, word.start, word.end) for word in words] == [("the", 2, 5), ("bank", 6, 10)]
    for one, other in zip(words, plain, strict=True):
        same(one.vector, other.vector)


def test_a_word_of_which_nothing_is_left_has_no_vector() -> None:
    """Where tokens are words, marks that were never seen are unknown; a wordpiece vocabulary may drop them."""
    pieces = Tokenizer.train(["abcdefghijklm"], Text(kind="wordpiece"))
    model = Case("bert").build()
    mine = Run(Path("mine"), Recipe(), pieces, model)
    (words,) = word_vectors(mine, ["ab\u0000 c"], spans=lambda text: [(0, 2), (3, 3), (4, 5)])
    assert [word.vector is None for word in words] == [False, True, False]


def told(mine: Run, **settings: object) -> Run:
    """The run with other settings of `[embed]`."""
    return replace(mine, recipe=replace(mine.recipe, embed=Embed(**settings)))


def test_the_settings_of_the_run_hold_where_nothing_is_asked() -> None:
    mine = run("bert")
    sealed = told(mine, pool="all", normalise=True)
    same(sentence_vectors(sealed, TEXTS), sentence_vectors(mine, TEXTS, pool="all", normalise=True))
    same(sentence_vectors(sealed, TEXTS, pool="mean", normalise=False), sentence_vectors(mine, TEXTS))
    assert not torch.allclose(sentence_vectors(sealed, TEXTS), sentence_vectors(mine, TEXTS, normalise=True))


def test_a_text_too_long_is_refused_and_the_way_out_named() -> None:
    with refused("text 2 with its start and end has 44 tokens and the context holds 41; --truncate reads"):
        sentence_vectors(run("bert"), ["a", "a" * 42])
    with refused(
        "has 6 tokens and 5 are read (--max-tokens); --truncate reads the beginning of such a text alone, a larger"
    ):
        sentence_vectors(told(run("bert"), max_tokens=5), ["bank"])
    with refused("the beginning of such a text alone, training with a larger system.context all of it"):
        word_vectors(run("bert"), ["a" * 42])
    with refused("--max-tokens 42: the context holds 41; give at most that"):
        sentence_vectors(run("bert"), ["a"], max_tokens=42)
    with refused("--max-tokens 2 leaves no room for a text; give at least 3"):
        sentence_vectors(run("bert"), ["a"], max_tokens=2)
    with refused("embed.max_tokens = -1; it must be at least 0"):
        sentence_vectors(run("bert"), ["a"], max_tokens=-1)


@pytest.mark.parametrize("kind", ["bert", "gpt", "t5"])
def test_of_a_text_too_long_the_beginning_is_read(kind: str) -> None:
    mine = run(kind)
    around = {"bert": 2, "gpt": 1, "t5": 1}[kind]
    short = told(mine, max_tokens=around + 6, truncate=True)
    same(sentence_vectors(short, ["the bank", "a"]), sentence_vectors(mine, ["the ba", "a"]))
    assert vectors.cut_off(short, [LETTERS.encode(text) for text in ("the bank", "the ba", "a")]) == 1
    assert vectors.cut_off(mine, [[7] * 99]) == 0
    (words,) = word_vectors(short, ["the bank of"])
    (wanted,) = word_vectors(mine, ["the ba"])
    assert [word.vector is None for word in words] == [False, False, True]
    for word, other in zip(words, wanted, strict=False):
        same(word.vector, other.vector)
