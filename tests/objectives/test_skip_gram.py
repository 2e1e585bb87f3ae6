"""Skip-gram with negative sampling (S14) against the sums of its paper, pair by pair."""

import math
from typing import Any

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.objectives import NextToken, SkipGram
from regard.objectives.skip_gram import neighbours
from regard.place import Place
from regard.recipe import Recipe
from regard.systems.gpt import Gpt
from regard.systems.word2vec import Word2Vec, WordVectors
from regard.train.run import check
from tests.helpers import refused, same

VOCABULARY = 23
REACH = [[2, 1, 3, 1, 3, 2, 1], [1, 3, 2, 2, 1, IGNORE, IGNORE]]
DOCUMENT = [[1, 1, 1, 1, 2, 2, 2], [2, 2, 2, 3, 3, -1, -1]]
PAIRS = [  # the places of each centre's neighbours, by hand
    [[1, 2], [0, 2], [0, 1, 3], [2], [5, 6], [4, 6], [5]],
    [[1], [0, 2], [0, 1], [4], [3], [], []],
]


def model() -> WordVectors:
    made = Word2Vec(width=11, context=7).build(VOCABULARY)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    return made


def batch(noise: int = 5) -> Batch:
    tokens, document = torch.randint(4, VOCABULARY, (2, 7)), torch.tensor(DOCUMENT)
    place = Place(torch.arange(7).expand(2, 7), document)
    return Batch(tokens, torch.tensor(REACH), 12, place, source=torch.randint(4, VOCABULARY, (2, noise)))


def nats(x: float) -> float:
    """-log s(x)."""
    return math.log1p(math.exp(-x))


def gradients(system: WordVectors, objective: SkipGram, pieces: list[Batch]) -> dict[str, torch.Tensor]:
    system.zero_grad()
    for piece in pieces:
        objective(system, piece).total.backward()
    return {name: parameter.grad.clone() for name, parameter in system.named_parameters()}


def test_neighbours_are_within_reach_and_in_one_document() -> None:
    found = [[row.nonzero().flatten().tolist() for row in rows] for rows in neighbours(batch())]
    assert found == PAIRS


@pytest.mark.parametrize("negatives", [1, 3])
def test_the_loss_equals_a_sum_over_pairs_and_their_noise(negatives: int) -> None:
    system, given = model(), batch()
    loss = SkipGram(negatives=negatives)(system, given)
    words, contexts = system.words.weight.tolist(), system.contexts.weight.tolist()

    def score(centre: int, other: int) -> float:
        return sum(v * u for v, u in zip(words[centre], contexts[other], strict=True))

    expected = torch.zeros(2, 7)
    for r, row in enumerate(PAIRS):
        tokens, noise = given.tokens[r].tolist(), given.source[r].tolist()
        for c, others in enumerate(row):
            for o in others:
                expected[r, c] += nats(score(tokens[c], tokens[o]))
                expected[r, c] += negatives * sum(nats(-score(tokens[c], n)) for n in noise) / len(noise)
    same(loss.each, expected)
    same(loss.total.detach(), expected.sum())
    assert loss.count == 12 and not loss.each.requires_grad


def test_padding_adds_nothing_whatever_it_says() -> None:
    system, objective, given = model(), SkipGram(), batch()
    other = given.tokens.clone()
    other[1, 5:] = 19
    again = Batch(other, given.targets, 12, given.at, source=given.source)
    same(objective(system, again).each, objective(system, given).each)


def test_in_pieces_it_has_the_same_gradient() -> None:
    system, objective, given = model(), SkipGram(), batch()
    whole, pieces = gradients(system, objective, [given]), given.split(2)
    assert [piece.count for piece in pieces] == [7, 5]
    for name, gradient in gradients(system, objective, pieces).items():
        same(gradient, whole[name])


def test_shared_noise_has_the_mean_of_noise_for_each_pair() -> None:
    """Over many draws the gradient is that of the expectation, which the paper's draws for each pair estimate too."""
    system, objective, given = model(), SkipGram(negatives=3, noise=499), batch()
    shares = torch.rand(VOCABULARY).square()
    shares /= shares.sum()
    drawn = [torch.multinomial(shares, 2 * 499, replacement=True).view(2, 499) for _ in range(97)]
    found = gradients(
        system, objective, [Batch(given.tokens, given.targets, 12, given.at, source=noise) for noise in drawn]
    )
    around = neighbours(given)
    scores = system.meet(given.tokens, given.tokens)
    every = system.meet(given.tokens, torch.arange(VOCABULARY).expand(2, VOCABULARY))
    mean = -(torch.nn.functional.logsigmoid(-every) * shares).sum(-1) * around.sum(-1)
    system.zero_grad()
    (-(torch.nn.functional.logsigmoid(scores) * around).sum() + 3 * mean.sum()).backward()
    for name, parameter in system.named_parameters():
        same(found[name] / 97, parameter.grad, rtol=0.0, atol=0.02 * float(parameter.grad.abs().max()))


def test_a_perfect_model_loses_nothing() -> None:
    """All neighbours on one side, all noise on the other."""
    system, given = model(), batch()
    with torch.no_grad():
        for table in (system.words.weight, system.contexts.weight):
            table.fill_(3.0)
        system.contexts.weight[:7] = -3.0
    met = Batch(given.tokens % 16 + 7, given.targets, 12, given.at, source=given.source % 7)
    assert float(SkipGram()(system, met).nats) < 1e-6
    unmet = Batch(given.tokens % 7, given.targets, 12, given.at, source=given.source % 16 + 7)
    assert float(SkipGram()(system, unmet).nats) > 100


def test_before_training_a_pair_is_as_likely_as_not() -> None:
    """One neighbour and k negatives, each log 2."""
    system, given = Word2Vec(width=11, context=7).build(VOCABULARY), batch()
    loss = SkipGram(negatives=3)(system, given)
    pairs = sum(len(others) for row in PAIRS for others in row)
    same(loss.total.detach(), torch.tensor(pairs * 4 * math.log(2)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "objective.window = 0; it must be at least 1"),
        ({"negatives": 0}, "objective.negatives = 0; it must be at least 1"),
        ({"noise": 0}, "objective.noise = 0; it must be at least 1"),
        ({"subsample": -0.1}, "objective.subsample = -0.1; it must lie between 0 and 1"),
        ({"subsample": 1.5}, "objective.subsample = 1.5; it must lie between 0 and 1"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(settings: dict[str, Any], message: str) -> None:
    with refused(message):
        SkipGram(**settings)


def test_systems_that_do_not_fit_are_refused() -> None:
    static = Word2Vec(width=11, context=7).build(VOCABULARY)
    assert SkipGram(window=6).misfit(static) == ""
    assert "reads 7 words in a row" in SkipGram(window=7).misfit(static)
    assert NextToken().misfit(static)
    assert SkipGram().misfit(Gpt(width=14, heads=2, depth=1).build(VOCABULARY))
    tree: dict[str, Any] = {"system": {"kind": "word2vec", "context": 5}, "objective": {"kind": "skip-gram"}}
    with refused("system 'word2vec' reads 5 words in a row and objective 'skip-gram' looks 5 words to either side"):
        check(Recipe.parse(tree, where="test"))
    with refused("has no place for a head"):
        check(Recipe.parse({**tree, "objective": {"kind": "classification"}}, where="test"))
