"""Settings of encoders that cannot be, and what such a system does not do."""

import pytest
import torch

from regard.objectives import NextToken
from regard.place import Place
from regard.systems import SYSTEMS, built
from tests.helpers import refused

KINDS = ["rnn-encoder", "window-encoder"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "system.width = 0; it must be at least 1"),
        ({"context": 0}, "system.context = 0; it must be at least 1"),
        ({"dropout": 1.0}, "system.dropout = 1.0; it must be at least 0 and less than 1"),
    ],
)
def test_a_setting_that_cannot_be_stops(kind: str, settings: dict, message: str) -> None:
    with refused(message):
        SYSTEMS[kind](**settings)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("rnn-encoder", {"pool": "end"}, "system.pool = 'end' is not known; did you mean 'ends'?"),
        ("rnn-encoder", {"cell": "lstn"}, "system.cell = 'lstn' is not known; did you mean 'lstm'?"),
        ("rnn-encoder", {"width": 7}, "width 7 has no half for each direction; 6 and 8 have"),
        ("window-encoder", {"windows": ()}, "system.windows = []; give at least one"),
        ("window-encoder", {"windows": (3, 0)}, "system.windows = [3, 0]; give at least one, each of at least 1"),
        ("window-encoder", {"windows": (4,)}, "a window of 4 has no middle"),
    ],
)
def test_what_belongs_to_one_of_them_too(kind: str, settings: dict, message: str) -> None:
    with refused(message):
        built(SYSTEMS[kind](**settings), 11, 3, "labels")


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_writes_no_text(kind: str) -> None:
    model, tokens = built(SYSTEMS[kind](width=14), 11, 3, "labels"), torch.zeros(1, 2, dtype=torch.long)
    assert (model.labels, model.vocabulary, model.limit, model.writes_text) == (3, 11, None, False)
    for write in (lambda: model.decode(tokens), lambda: model.start(1, 2)):
        with refused("writes no text"):
            write()
    assert "writes no text" in NextToken().misfit(model)


def test_a_language_model_knows_no_labels() -> None:
    model, tokens = built(SYSTEMS["gpt"](width=14, heads=2), 11, 3), torch.zeros(1, 2, dtype=torch.long)
    assert model.labels == 0
    with refused("does not answer"):
        model.answer(tokens, Place.line(tokens))


def test_a_head_stands_on_any_language_model_and_on_no_translator() -> None:
    model, tokens = built(SYSTEMS["gpt"](width=14, heads=2), 11, 3, "labels"), torch.zeros(1, 2, dtype=torch.long)
    assert model.answer(tokens, Place.line(tokens)).shape == (1, 3)
    assert (model.writes_text, model.answers, model.limit) == (False, "labels", 256)
    with refused("let it write the answer, with objective.kind = 'translation'"):
        built(SYSTEMS["transformer"](), 11, 3, "labels")
    with refused("sees no text that follows"):
        built(SYSTEMS["gpt"](), 11, head="next")


def test_a_head_that_is_not_there_is_refused() -> None:
    with refused("head = 'label' is not known; did you mean 'labels'?"):
        built(SYSTEMS["bert"](), 11, 3, "label")


def test_a_text_of_any_length_is_read_however_long_training_texts_were() -> None:
    for kind in KINDS:
        model, tokens = built(SYSTEMS[kind](width=14, context=5), 11, 3, "labels").eval(), torch.ones(2, 47).long()
        assert model.answer(tokens, Place.line(tokens)).shape == (2, 3)
