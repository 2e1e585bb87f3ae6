"""Models broken on purpose: the right line sees it."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from regard.attention import Look, Pattern
from regard.attention.cache import KeyValues as Cache
from regard.attention.cache import Slots
from regard.attention.kernels import fastest
from regard.attention.patterns import Sight
from regard.blocks.recurrent import CELLS
from regard.checkpoint import Run
from regard.data import IGNORE
from regard.decode.session import Session
from regard.objectives import NextToken
from regard.place import Place
from regard.systems.transformer import EncoderDecoder
from regard.train import state
from regard.verify import saved
from regard.verify.check import attentions
from regard.verify.recurrence import recurrences
from tests.verify.conftest import failing

Patch = pytest.MonkeyPatch

NEXT_SEEN = Pattern(lambda q, k: k.index <= q.index + 1)
INVERTED = Pattern(lambda q, k: k.index >= q.index)


@pytest.mark.parametrize("pattern", [NEXT_SEEN, INVERTED], ids=["next token seen", "inverted"])
def test_a_wrong_mask(run: Run, pattern: Pattern) -> None:
    for block in run.model.decoder.blocks:
        block.attention.look.pattern = pattern
    assert failing(run) >= {"past ignores future", "cached = full"}


def test_unscaled_scores_in_the_fast_kernel_alone(run: Run) -> None:
    def unscaled(query, key, value, **rest):
        return fastest(query * query.shape[-1] ** 0.5, key, value, **rest)

    for part in attentions(run.model).values():
        part.kernel = unscaled
    # what is loaded again has the right kernel
    assert failing(run) == {"fast = readable attention", "recorded = fast", "saved = loaded"}


def test_a_recurrent_kernel_that_takes_the_cell_for_the_hidden_vector(recurrent: Run) -> None:
    for layer in recurrences(recurrent.model):
        layer.cell = replace(layer.cell, one=lambda x, state, *weights: torch.lstm_cell(x, state[::-1], *weights))
    assert failing(recurrent) >= {"fast = readable recurrence", "cached = full"}
    for layer in recurrences(recurrent.model):
        layer.cell = CELLS["lstm"]
        layer.fused.register_forward_hook(lambda fused, given, found: (0.9 * found[0], found[1]))
    assert "fast = readable recurrence" in failing(recurrent)


def test_a_cache_that_does_not_follow_its_rows(run: Run, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Cache, "reorder", lambda self, rows: None)
    assert failing(run) >= {"cached = full", "batched decoding = single"}


def test_keys_at_a_wrong_slot(run: Run, monkeypatch: Patch) -> None:
    write = Slots.write

    def beside(self, at, *new):
        write(self, replace(at, index=(at.index + 1) % self.cache.capacity), *new)

    monkeypatch.setattr(Slots, "write", beside)
    assert "cached = full" in failing(run)


def test_a_length_that_is_not_advanced(translator: Run, monkeypatch: Patch) -> None:
    def stands_still(self, at):
        self.used += at.index.shape[1]

    monkeypatch.setattr(Cache, "advance", stands_still)
    assert "cached = full" in failing(translator)


def test_padding_of_prompts_that_is_counted(run: Run, monkeypatch: Patch) -> None:
    advance = Cache.advance
    monkeypatch.setattr(Cache, "advance", lambda self, at: advance(self, replace(at, present=None)))
    assert failing(run) >= {"cached = full", "padding inert"}


def test_documents_that_see_each_other(language: Run, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Sight, "_documents", property(lambda self: False))
    assert failing(language) == {"packed = unpacked", "fast = readable attention"}


def test_documents_that_are_not_counted_from_their_start(language: Run, monkeypatch: Patch) -> None:
    hidden = type(language.model).hidden

    def counted_from_the_window(self, tokens, memory=None, cache=None, at=None):
        if at is not None and at.document is not None:
            at = replace(at, index=Place.line(tokens).index)
        return hidden(self, tokens, memory, cache, at)

    monkeypatch.setattr(type(language.model), "hidden", counted_from_the_window)
    assert failing(language) == {"packed = unpacked"}


def test_an_encoder_that_sees_padding(translator: Run, monkeypatch: Patch) -> None:
    encode = EncoderDecoder.encode
    monkeypatch.setattr(EncoderDecoder, "encode", lambda self, source, present=None: encode(self, source))
    assert failing(translator) >= {"padding inert", "batch = single"}


def test_a_mean_of_means(run: Run, monkeypatch: Patch) -> None:
    total = NextToken.__call__

    def mean(self, model, batch):
        loss = total(self, model, batch)
        return replace(loss, total=loss.total / (batch.targets != IGNORE).sum())

    monkeypatch.setattr(NextToken, "__call__", mean)
    assert failing(run) == {"accumulated = full batch"}


def test_a_beam_that_does_not_reorder_its_cache(run: Run, monkeypatch: Patch) -> None:
    select, reorder = Session.select, Cache.reorder

    def forgets(self, rows):
        with Patch.context() as patch:
            same = len(rows) == len(self.rows)
            patch.setattr(Cache, "reorder", lambda cache, index: None if same else reorder(cache, index))
            select(self, rows)

    monkeypatch.setattr(Session, "select", forgets)
    assert "cached = full" in failing(run)


def test_a_greedy_search_that_is_not(language: Run, monkeypatch: Patch) -> None:
    from regard.decode import beam

    best = beam.best_tokens

    def second_best_first(session, count):
        return [[(a, s), (b, t), *rest] for (a, t), (b, s), *rest in best(session, count)]

    monkeypatch.setattr(beam, "best_tokens", second_best_first)
    assert "beam 1 = greedy" in failing(language)


def test_ties_lost_on_the_way(run: Run, monkeypatch: Patch) -> None:
    load = saved.load

    def untied(folder, device):
        copy = load(folder, device)
        copy.model.output.rows.weight = nn.Parameter(copy.model.output.rows.weight.clone())
        return copy

    monkeypatch.setattr(saved, "load", untied)
    assert failing(run) == {"saved = loaded"}


def test_a_setting_lost_on_the_way(language: Run, monkeypatch: Patch) -> None:
    load = saved.load

    def blurred(folder, device):
        copy = load(folder, device)
        copy.model.decoder.blocks[0].around_attention.norm.eps = 1e-3
        return copy

    monkeypatch.setattr(saved, "load", blurred)
    assert failing(language) == {"saved = loaded"}


@pytest.mark.parametrize("forgotten", ["put_optimiser_tensors", "put_generators"])
def test_a_resume_that_forgets(translator: Run, monkeypatch: Patch, forgotten: str) -> None:
    monkeypatch.setattr(state, forgotten, lambda *parts: None)
    assert failing(translator) == {"resumed = uninterrupted"}


def test_a_resume_at_another_batch(language: Run, monkeypatch: Patch) -> None:
    restore = state.State.restore

    def from_the_beginning(self, folder):
        restore(self, folder)
        self.progress.batch = 0

    monkeypatch.setattr(state.State, "restore", from_the_beginning)
    assert failing(language) == {"resumed = uninterrupted"}


def test_weights_recorded_from_elsewhere(run: Run, monkeypatch: Patch) -> None:
    show = Look._show
    monkeypatch.setattr(Look, "_show", lambda self, query, *rest: show(self, query.flip(1), *rest))
    assert failing(run) == {"recorded = fast"}


def test_a_recording_that_changes_what_is_computed(translator: Run, monkeypatch: Patch) -> None:
    show = Look._show

    def intrudes(self, query, key, value, sight, context):
        show(self, query, key, value, sight, context)
        if self.weights.listener is not None:
            context *= 1 + 1e-6

    monkeypatch.setattr(Look, "_show", intrudes)
    assert failing(translator) == {"recorded = fast"}
