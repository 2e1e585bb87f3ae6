"""word2vec (S14): one vector for each word, wherever it stands, in a run like any other."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.checkpoint import load
from regard.errors import Interrupted
from regard.evaluate.words import Words
from regard.place import Place
from regard.recipe import Recipe
from regard.systems.word2vec import Word2Vec
from regard.tap import record
from regard.train import resume, train
from tests.helpers import lines_file, recipe, refused, same
from tests.train.runs import identical, listen, log, progress

VOCABULARY = 23


def skip_gram(folder: Path, **sections: dict[str, Any]) -> Recipe:
    """Many short documents of few words."""
    chance = random.Random(7)
    words = [f"w{i}" for i in range(29)]
    rows = [" ".join(chance.choices(words, k=chance.randint(1, 31))) for _ in range(97)]
    settings: dict[str, dict[str, Any]] = {
        "data": {"train": lines_file(folder / "text.txt", rows), "document": "line"},
        "text": {"kind": "word"},
        "objective": {"subsample": 0.01, "window": 2},
        "train": {"threads": 1, "batch_tokens": 307, "steps": 13, "save_every": 5, "evaluate_every": 5},
    }
    return recipe("word2vec", **{name: {**values, **sections.get(name, {})} for name, values in settings.items()})


def test_a_word_has_one_vector_wherever_it_stands() -> None:
    model = Word2Vec(width=11).build(VOCABULARY)
    tokens = torch.randint(0, VOCABULARY, (3, 71))
    vectors = model.embed(tokens, Place.line(tokens))
    for row, line in zip(tokens.tolist(), vectors, strict=True):
        for token, vector in zip(row, line, strict=True):
            assert torch.equal(vector, model.words.weight[token])
    assert torch.equal(model.answer(tokens), vectors) and model.answers == "vectors"
    assert model.limit is None and not model.writes_text and not model.packs
    with record(model, "vectors") as seen:
        model.embed(tokens)
    assert torch.equal(seen["vectors"], vectors)


def test_words_meet_by_the_product_of_their_two_vectors() -> None:
    model = Word2Vec(width=11).build(VOCABULARY)
    torch.nn.init.normal_(model.contexts.weight)
    centres, others = torch.randint(0, VOCABULARY, (3, 5)), torch.randint(0, VOCABULARY, (3, 7))
    scores = model.meet(centres, others)
    assert scores.shape == (3, 5, 7)
    for r in range(3):
        for c in range(5):
            for o in range(7):
                expected = model.words.weight[centres[r, c]] @ model.contexts.weight[others[r, o]]
                same(scores[r, c, o], expected)


def test_it_begins_where_word2vec_begins() -> None:
    """Words within 1 / 2 of the width's inverse, contexts at 0."""
    model = Word2Vec(width=50).build(1009)
    assert 0.0099 < float(model.words.weight.detach().abs().max()) <= 0.01
    assert not model.contexts.weight.any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "system.width = 0; it must be at least 1"),
        ({"context": 1}, "system.context = 1; it must be at least 2"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(settings: dict[str, Any], message: str) -> None:
    with refused(message):
        Word2Vec(**settings)


def test_it_writes_no_text() -> None:
    model, tokens = Word2Vec(width=11).build(VOCABULARY), torch.zeros(1, 2, dtype=torch.long)
    with refused("WordVectors writes no text"):
        model.decode(tokens)


def test_resumed_is_uninterrupted_to_the_last_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(event: dict[str, Any]) -> None:
        if event["step"] == 8 and event["event"] == "step":
            raise Interrupted("here")

    asked = skip_gram(tmp_path)
    with monkeypatch.context() as patch:
        listen(patch, stop)
        with pytest.raises(Interrupted):
            train(asked, tmp_path / "broken", quiet=True)
    assert progress(tmp_path / "broken")["step"] == 5
    resume(tmp_path / "broken", quiet=True)
    train(asked, tmp_path / "whole", quiet=True)
    identical(tmp_path / "broken", tmp_path / "whole")
    assert progress(tmp_path / "whole")["epoch"] >= 1, "the data were begun anew"


def test_a_batch_in_pieces_trains_alike(tmp_path: Path) -> None:
    asked = skip_gram(tmp_path)
    train(asked, tmp_path / "whole", quiet=True)
    pieces = replace(asked, train=replace(asked.train, accumulate=3))
    train(pieces, tmp_path / "pieces", quiet=True)
    one, other = (log(tmp_path / name) for name in ("whole", "pieces"))
    for (step, loss), (again, also) in zip(one, other, strict=True):
        assert step == again
        assert loss == pytest.approx(also, rel=1e-3)


def test_the_words_of_a_run_have_the_vectors_of_its_model(tmp_path: Path) -> None:
    run = load(train(skip_gram(tmp_path), tmp_path / "run", quiet=True))
    words = Words.of(run)
    assert len(words.pieces) == len(run.tokenizer) - 4
    for piece, vector in zip(words.pieces, words.vectors, strict=True):
        (token,) = run.tokenizer.encode(piece)
        same(vector, torch.nn.functional.normalize(run.model.words.weight[token].detach(), dim=0))
