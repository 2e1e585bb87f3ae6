"""The loss of a label: nothing for a sure and right one, the log of their number for a guess."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from regard.data import Batch
from regard.data.sources import Record, Source
from regard.objectives import Classification
from regard.place import Place
from regard.systems import SYSTEMS, built
from tests.helpers import refused, same

LABELS = torch.tensor([4, 0, 2])


def source(records: list[Record]) -> Source:
    return Source("reviews", lambda: iter(records), len(records))


def loss(scores: torch.Tensor, **settings: float) -> tuple[float, float]:
    tokens = torch.zeros(3, 7, dtype=torch.long)
    model = SimpleNamespace(whole_batches=False, answer=lambda tokens, at: scores)
    found = Classification(**settings)(model, Batch(tokens, LABELS, 3, Place.line(tokens)))
    assert found.count == 3
    return float(found.total), float(found.nats)


def test_a_perfect_models_loss_is_zero_and_guessing_costs_the_log_of_the_labels() -> None:
    sure = torch.nn.functional.one_hot(LABELS, 5).float() * 100
    assert loss(sure) == (pytest.approx(0, abs=1e-6),) * 2
    assert loss(torch.zeros(3, 5)) == (pytest.approx(3 * math.log(5)),) * 2


def test_smoothing_asks_a_part_for_every_label_alike_and_leaves_the_nats() -> None:
    scores = torch.randn(3, 5)
    total, nats = loss(scores, smoothing=0.3)
    expected = torch.nn.functional.cross_entropy(scores, LABELS, label_smoothing=0.3, reduction="sum")
    assert total == pytest.approx(float(expected), rel=1e-5)
    assert nats == loss(scores)[1]


def test_the_model_is_told_what_is_padding() -> None:
    told = []
    tokens, present = torch.zeros(3, 7, dtype=torch.long), torch.arange(7) < torch.tensor([[7], [2], [5]])
    model = SimpleNamespace(whole_batches=False, answer=lambda tokens, at: told.append(at.present) or torch.zeros(3, 5))
    Classification()(model, Batch(tokens, LABELS, 3, Place.line(tokens, present)))
    same(told[0].float(), present.float())


def test_labels_are_the_sorted_names_of_the_training_split() -> None:
    assert Classification().labels(source([("a", "so"), ("b", "no"), ("c", "so"), ("d", "if")])) == ("if", "no", "so")


def test_labels_that_tell_nothing_apart_are_refused() -> None:
    with refused("reviews: every text has the label 'so'; there is nothing to tell apart"):
        Classification().labels(source([("a", "so"), ("b", "so")]))
    with refused("reviews: record 2 has no label"):
        Classification().labels(source([("a", "so"), ("b", "")]))


def test_only_what_classifies_is_trained_to(tmp_path: Path) -> None:
    assert Classification().misfit(built(SYSTEMS["rnn-encoder"](), 11, 3, "labels")) == ""
    assert Classification().misfit(built(SYSTEMS["gpt"](), 11, 3, "labels")) == ""
    assert "does not classify" in Classification().misfit(built(SYSTEMS["gpt"](), 11, 3))


def test_smoothing_lies_between_0_and_1() -> None:
    for wrong in (-0.1, 1.0):
        with refused(f"objective.smoothing = {wrong}; it must be at least 0 and less than 1"):
            Classification(smoothing=wrong)


def test_pairs_have_three_columns_and_the_last_is_the_label() -> None:
    pairs = Classification(pairs=True)
    assert pairs.columns == ("first", "second", "label") and Classification().columns == ("text", "label")
    assert pairs.labels(source([("a", "b", "so"), ("b", "so", "no")])) == ("no", "so")
    with refused("reviews: record 2 has no label"):
        pairs.labels(source([("a", "b", "so"), ("b", "so", "")]))


@pytest.mark.parametrize("segments", [0, 1, 2])
def test_with_less_than_two_segments_only_symbols_part_two_texts(segments: int) -> None:
    """As DistilBERT and RoBERTa have it: where the second text begins is not told."""
    small = {"width": 14, "heads": 2, "depth": 1, "context": 11, "dropout": 0.0}
    torch.manual_seed(5)
    model = built(SYSTEMS["bert"](**small, segments=segments), 13, 5, "labels").eval()
    assert not Classification(pairs=True).misfit(model)
    tokens = torch.randint(13, (3, 7))
    line = Place.line(tokens)
    told = replace(line, segment=(line.index > 3).long())
    assert torch.equal(model.answer(tokens, told), model.answer(tokens, line)) is (segments < 2)
