"""How well hidden words are guessed, against each row read by itself; a table of vectors is measured alone."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.checkpoint import Run
from regard.data import IGNORE
from regard.data.corruption import pieces
from regard.data.sources import Source
from regard.decode import generate, together
from regard.decode.settings import Decode
from regard.evaluate import hidden
from regard.evaluate.hidden import masked, read, spans
from regard.evaluate.job import Job
from regard.evaluate.words import skip_grams
from regard.systems import built
from regard.text import Text, Tokenizer
from tests.helpers import recipe, refused

LETTERS = Tokenizer.train(["abcdefg "], Text(kind="char"), ("<mask>", *(f"<extra_id_{i}>" for i in range(100))))
TEXTS = [("abc def gab",), ("gg",), ("the bad cab faced a bag",), ("a",), ("fed" * 5,)]
PAIRS = [("abc", "def"), ("gabe", "a"), ("d" * 6, "bad cab"), ("fa", "ce"), ("bag", "abc abc")]


def job(kind: str, objective: str, records: list[tuple[str, ...]], **settings: Any) -> Job:
    given = recipe(kind, system={"context": 32}, objective={"kind": objective, **settings})
    torch.manual_seed(5)
    model = built(given.system, len(LETTERS), head=given.objective.head).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return Job(Run(Path("mine"), given, LETTERS, model), Source("letters", lambda: iter(records), len(records)))


def entropy(tokens: list[int]) -> float:
    shares = [count / len(tokens) for count in Counter(tokens).values()]
    return -sum(share * math.log(share) for share in shares)


@pytest.mark.parametrize("budget", [40, 8192])
@torch.no_grad()
def test_hidden_tokens_one_by_one(monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    monkeypatch.setattr(hidden, "BATCH_TOKENS", budget)
    mine = job("bert", "masked-pairs", PAIRS)
    model, nats, right, wanted, judged = mine.run.model, 0.0, 0, [], []
    for batch in read(mine):
        for row in (batch.row(i) for i in range(len(batch))):
            values = model.answer(row.tokens, row.at)[0].log_softmax(-1)
            for place in (row.targets[0] != IGNORE).nonzero()[:, 0].tolist():
                wanted.append(int(row.targets[0, place]))
                nats -= float(values[place, wanted[-1]])
                right += int(values[place].argmax()) == wanted[-1]
            judged.append(int(model.head.follows(model.embed(row.tokens, row.at), row.at).argmax()) == int(row.label))
    found = masked(mine)
    assert found["tokens"] == len(wanted) > len(PAIRS) - 1 and len(judged) == len(PAIRS)
    assert found["loss"] == pytest.approx(nats / len(wanted), rel=1e-5)
    assert found["accuracy"] == right / len(wanted) and found["next_accuracy"] == sum(judged) / len(PAIRS)
    assert found["unigram_entropy"] == pytest.approx(entropy(wanted))


@torch.no_grad()
def test_spans_one_by_one() -> None:
    mine = job("t5", "spans", TEXTS, share=0.3, mean=2.0)
    (batch,) = read(mine)
    model, task = mine.run.model, mine.run.recipe.objective
    sentinels, nats, counts = task.spans(LETTERS).sentinels, 0.0, Counter[str]()
    for row in (batch.row(i) for i in range(len(batch))):
        values = model.decode(row.tokens, model.encode(row.source))[0].log_softmax(-1)
        target = row.targets[0].tolist()
        nats -= sum(float(values[i, token]) for i, token in enumerate(target))
        written = generate(model, LETTERS, Decode(max_tokens=40), sources=[row.source[0, :-1].tolist()])[0][0].tokens
        asked, told = (pieces(list(ids), sentinels) for ids in (target[:-1], written))
        counts.update(tokens=len(target), spans=len(asked), right=sum(told.get(s) == ids for s, ids in asked.items()))
    found = spans(mine)
    assert (found["tokens"], found["spans"]) == (counts["tokens"], counts["spans"])
    assert found["loss"] == pytest.approx(nats / counts["tokens"], rel=1e-5)
    assert found["spans_restored"] == counts["right"] / counts["spans"]


@pytest.mark.parametrize(("measure", "kind", "objective"), [(masked, "bert", "masked"), (spans, "t5", "spans")])
def test_who_guesses_no_better_than_by_frequency_is_told_so(
    monkeypatch: pytest.MonkeyPatch, measure: Callable[[Job], dict], kind: str, objective: str
) -> None:
    told: list[str] = []
    mine = replace(job(kind, objective, TEXTS), say=told.append)
    assert measure(mine)["loss"] > 3, "nothing was learnt"
    assert any("guesses no better than by how common tokens are" in line for line in told)
    told.clear()
    monkeypatch.setattr(hidden, "entropy", lambda seen: 99.0)
    measure(mine)
    assert not any("how common" in line for line in told)


def test_the_policy_names_the_windows_of_documents() -> None:
    """Of pairs, which are read whole, the same words are hidden in any context."""
    named = "drawn once; loss in nats per hidden token; windows of 32 tokens, start and end counted; of another length"
    assert named in masked(job("bert", "masked", TEXTS))["policy"]
    assert "; windows of 32 tokens" in spans(job("t5", "spans", TEXTS))["policy"]
    assert "windows" not in masked(job("bert", "masked-pairs", PAIRS))["policy"]


def test_a_span_counts_where_it_is_written_token_for_token(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = job("t5", "spans", TEXTS, share=0.3, mean=2.0)
    (batch,) = read(mine)
    wanted = [row[row != IGNORE][:-1].tolist() for row in batch.targets]

    class Written:
        def __init__(self, tokens: list[int]):
            self.tokens = tokens

    def half(model, tokenizer, settings, *, sources):
        """The first text's spans as they were, of the others all but the last token."""
        return [[Written(row if i == 0 else row[:-1])] for i, row in enumerate(wanted)]

    monkeypatch.setattr(hidden, "generate", half)
    sentinels = mine.run.recipe.objective.spans(LETTERS).sentinels
    counts = [len(pieces(row, sentinels)) for row in wanted]
    assert spans(mine)["spans_restored"] == (sum(counts) - len(counts) + 1) / sum(counts) < 1


def test_what_cannot_be_measured_says_where_it_stands() -> None:
    with refused("letters: there is no text in it"):
        masked(job("bert", "masked", [("",)]))
    with refused("letters: there are no two known words in it"):
        skip_grams(job("word2vec", "skip-gram", [("a",)]))


def test_what_gives_no_probabilities_together_is_measured_alone() -> None:
    for kind, objective, measure in (("bert", "masked", masked), ("word2vec", "skip-gram", skip_grams)):
        mine = job(kind, objective, TEXTS)
        run = Run(mine.run.path, mine.run.recipe, LETTERS, together([mine.run.model] * 2))
        with refused("evaluate one run"):
            measure(Job(run, mine.source))
