"""What a translation looks at: kept beside the search, it ranks hypotheses and replaces unknown words."""

import math
from dataclasses import fields, replace

import pytest
import torch

from regard.attention import Look
from regard.cli.options import TranslateOptions
from regard.decode import check_alignment, generate, together, translate
from regard.decode.alignment import looking
from regard.decode.session import Session
from regard.decode.settings import Decode
from regard.decode.translate import written
from regard.systems import SYSTEMS
from regard.tap import record, taps
from regard.text import Text, Tokenizer
from tests.decode.conftest import small
from tests.helpers import refused, same
from tests.laws.cases import Case

TEXTS = ["the ch", "r", "cross the road didn't", "en the"]
TAPS = {"transformer": "decoder.blocks.1.cross.look.weights", "seq2seq-attention": "decoder.alignment.look.weights"}


def made(kind: str, vocabulary: int, seed: int = 3):
    if kind == "transformer":
        return small(kind, vocabulary, seed)
    torch.manual_seed(seed)
    known = {field.name for field in fields(SYSTEMS[kind])}
    sizes = {"width": 22, "depth": 2, "dropout": 0.0, "hidden": 29}
    model = SYSTEMS[kind](**{name: size for name, size in sizes.items() if name in known}).build(vocabulary)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return model.eval()


@pytest.fixture(scope="module", params=list(TAPS))
def kind(request) -> str:
    return request.param


def looked_at(model, tap: str, source: list[int], tokens: list[int]) -> torch.Tensor:
    """The weights of one source and one target, fed at once, from each token to the source: heads averaged."""
    with torch.no_grad(), record(model, tap) as seen:
        model.decode(torch.tensor([tokens]), model.encode(torch.tensor([source])))
    return torch.cat(seen.all(tap), dim=2)[0].mean(0)


def test_a_session_keeps_what_each_row_looks_at(tokenizer, kind) -> None:
    """Sources and prompts of different lengths, rows that change places and double: as each alone, fed at once."""
    model = made(kind, len(tokenizer))
    sources = [[*tokenizer.encode(text), tokenizer.end] for text in TEXTS[:3]]
    rows = [[tokenizer.start, 5, 7], [tokenizer.start], [tokenizer.start, 9]]
    order = [2, 0, 0, 1]
    with torch.inference_mode():
        with looking(model, sources) as looks:
            session = Session(model, [list(row) for row in rows], room=7, sources=sources, looks=looks)
            before = session.looks.newest
            session.select(order)
            assert torch.equal(session.looks.newest, before[order])
            session.append(torch.tensor([11, 6, 8, 10]), [11, 6, 8, 10])
        told = session.tell(torch.tensor([[11], [6], [8], [10]]), torch.zeros(4, 1))
    for i, (row, token) in enumerate(zip(order, [11, 6, 8, 10], strict=True)):
        alone = looked_at(model, TAPS[kind], sources[row], [*rows[row], token])
        length = len(sources[row])
        same(session.looks.newest[i, :length], alone[-1])
        same(session.looks.total[i, :length], alone[-2] + alone[-1])
        assert not session.looks.newest[i, length:].any()
        assert told[i].looked == [int(alone[-1, :-1].argmax())]
        assert told[i].covered == pytest.approx(
            float(session.looks.total[i, :length].clamp(max=1).log().sum()), rel=1e-5
        )


def test_nothing_is_kept_unless_it_is_asked_for(tokenizer, translator, monkeypatch) -> None:
    monkeypatch.setattr("regard.decode.alignment.record", None)
    found = generate(translator, tokenizer, Decode(max_tokens=7), sources=[[5, 6]])[0][0]
    assert found.aligned == []


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.9}, {"beam": 3}], ids=["greedy", "sampled", "beam"])
@pytest.mark.parametrize("aligned", [False, True], ids=["plain", "aligned"])
def test_the_device_is_asked_once_for_each_token(tokenizer, kind, settings, aligned, monkeypatch) -> None:
    model, steps, words, listened = made(kind, len(tokenizer)), [], [], []
    tell, tolist = Session.tell, torch.Tensor.tolist
    monkeypatch.setattr(Session, "tell", lambda *args: steps.append(args) or tell(*args))
    monkeypatch.setattr(torch.Tensor, "tolist", lambda tensor: words.append(tensor) or tolist(tensor))
    monkeypatch.setattr(torch.Tensor, "item", None)
    monkeypatch.setattr("regard.decode.alignment.record", lambda *args: listened.append(args) or record(*args))
    sources = [tokenizer.encode(text) for text in TEXTS]
    generate(model, tokenizer, Decode(max_tokens=13, replace_unknown=aligned, **settings), sources=sources, seed=5)
    assert len(steps) == len(words) > 5
    assert len(listened) == aligned


def test_a_search_that_breaks_off_leaves_nobody_listening(tokenizer, kind, monkeypatch) -> None:
    model = made(kind, len(tokenizer))
    monkeypatch.setattr(Session, "tell", None)
    with pytest.raises(TypeError):
        generate(model, tokenizer, Decode(replace_unknown=True), sources=[[5, 6]])
    assert all(tap.listener is None for tap in taps(model).values())


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.9}, {"beam": 3}], ids=["greedy", "sampled", "beam"])
def test_each_token_has_its_place_and_asking_changes_nothing(tokenizer, kind, settings) -> None:
    model, sources = made(kind, len(tokenizer)), [tokenizer.encode(text) for text in TEXTS]
    plain = generate(model, tokenizer, Decode(max_tokens=13, **settings), sources=sources, seed=5)
    asked = Decode(max_tokens=13, replace_unknown=True, **settings)
    for source, row, expected in zip(
        sources, generate(model, tokenizer, asked, sources=sources, seed=5), plain, strict=True
    ):
        assert [replace(hypothesis, aligned=[]) for hypothesis in row] == expected
        for hypothesis in row:
            whole = looked_at(
                model, TAPS[kind], [*source, tokenizer.end], [tokenizer.start, *hypothesis.tokens, tokenizer.end]
            )
            expected_places = whole[: len(hypothesis.tokens), :-1].argmax(-1).tolist()
            assert hypothesis.aligned == expected_places


def test_the_coverage_penalty_ranks_by_equation_14(tokenizer, kind) -> None:
    model, beta = made(kind, len(tokenizer)), 0.7
    settings = Decode(max_tokens=7, beam=5, length_penalty="gnmt:0.6")
    sources = [tokenizer.encode(text) for text in TEXTS]
    without = generate(model, tokenizer, settings, sources=sources)
    found = generate(model, tokenizer, replace(settings, coverage_penalty=beta), sources=sources)
    changed = 0
    for source, row, before in zip(sources, found, without, strict=True):
        assert sorted(h.tokens for h in row) == sorted(h.tokens for h in before)
        assert [h.score for h in row] == sorted((h.score for h in row), reverse=True)
        changed += [h.tokens for h in row] != [h.tokens for h in before]
        for h in row:
            steps = len(h.log_probabilities)
            tokens = [tokenizer.start, *h.tokens][:steps]
            totals = looked_at(model, TAPS[kind], [*source, tokenizer.end], tokens).sum(0).tolist()
            penalty = sum(h.log_probabilities) / ((5 + steps) / 6) ** 0.6
            assert h.score == pytest.approx(penalty + beta * sum(math.log(min(x, 1)) for x in totals), abs=1e-4)
    assert changed, "the penalty changed no order: the test sees nothing"


def test_an_ensemble_looks_where_its_members_look_on_average(tokenizer) -> None:
    members = [made("transformer", len(tokenizer), 1), made("seq2seq-attention", len(tokenizer), 2)]
    source = [*tokenizer.encode("the road"), tokenizer.end]

    def newest(model):
        with torch.inference_mode(), looking(model, [source]) as looks:
            Session(model, [[tokenizer.start, 5]], room=3, sources=[source], looks=looks)
        return looks.newest

    same(newest(together(members)), (newest(members[0]) + newest(members[1])) / 2)
    same(newest(together([members[0], members[0]])), newest(members[0]))


def test_a_model_without_attention_to_a_source_is_refused(tokenizer, speaker, translator) -> None:
    blind = made("seq2seq", len(tokenizer))
    for settings in (Decode(replace_unknown=True), Decode(beam=2, coverage_penalty=0.2)):
        with refused("this model has no attention to a source"):
            generate(blind, tokenizer, settings, sources=[[5]])
        with refused("this model has no attention to a source"):
            generate(together([translator, blind]), tokenizer, settings, sources=[[5]])
        with refused("has no attention to a source"):
            check_alignment(speaker, settings, "word")
    with refused("where there is one"):
        generate(speaker, tokenizer, Decode(replace_unknown=True), prompts=[[5]])


def test_settings_that_would_be_ignored_are_refused(translator) -> None:
    with refused("decode.coverage_penalty ranks the hypotheses of a beam"):
        Decode(coverage_penalty=0.2)
    with refused("decode.coverage_penalty = -0.5"):
        Decode(beam=3, coverage_penalty=-0.5)
    with refused("decode.replace_unknown copies whole words, and text.kind is 'bpe'"):
        check_alignment(translator, Decode(replace_unknown=True), "bpe")


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    lines = ["the old chicken crossed the old road", "the road the road"]
    return Tokenizer.train(lines, Text(kind="word", lowercase=True, vocabulary=7))


@pytest.mark.parametrize("settings", [{}, {"temperature": 1.5}, {"beam": 3}], ids=["greedy", "sampled", "beam"])
def test_an_unknown_word_is_written_as_the_source_word_it_looked_at(words, settings) -> None:
    model, texts = made("seq2seq-attention", len(words)), ["The Chicken crossed", "old  Road!", "Hen"]
    sources = [(text, words.encode_with_offsets(text)) for text in texts]
    asked = Decode(max_tokens=11, replace_unknown=True, **settings)
    replaced = 0
    for (text, encoded), row in zip(sources, translate(model, words, asked, sources, kind="word"), strict=True):
        for found in row:
            tokens = found.hypothesis.tokens
            expected = [
                text.split()[at] if token == words.unknown else words.decode([token])
                for token, at in zip(tokens, found.hypothesis.aligned, strict=True)
            ]
            assert found.text.split() == [word for word in expected if word]
            replaced += words.unknown in tokens
            assert written(words, Decode(), found.hypothesis, text, encoded) == words.decode(tokens)
    assert replaced, "no unknown word was made: the test sees nothing"


def test_an_empty_source_has_an_empty_translation(words) -> None:
    model = made("seq2seq-attention", len(words))
    ((found,),) = translate(
        model, words, Decode(replace_unknown=True), [("", words.encode_with_offsets(""))], kind="word"
    )
    assert (found.text, found.hypothesis.ended) == ("", "empty")


def test_options_let_the_penalty_of_a_run_step_back_with_its_beam() -> None:
    run = Decode(beam=4, coverage_penalty=0.2, replace_unknown=True)
    assert TranslateOptions(beam=2).over(run) == replace(run, beam=2)
    assert TranslateOptions(beam=1).over(run) == replace(run, beam=1, coverage_penalty=0.0)
    assert TranslateOptions(temperature=0.7).over(run) == replace(run, beam=1, temperature=0.7, coverage_penalty=0.0)
    assert not TranslateOptions(replace_unknown=False).over(run).replace_unknown
    with refused("set decode.beam above 1"):
        TranslateOptions(beam=1, coverage_penalty=0.3).over(run)


@pytest.mark.parametrize("name", [kind for kind in SYSTEMS if Case(kind).build().reads_source])
def test_every_translator_looks_at_present_places_alone_or_says_that_it_cannot(name: str) -> None:
    model, sources = Case(name).build(), [[5, 6, 7, 9, 3], [8, 3]]
    if not any(isinstance(part, Look) and part.role == "cross" for part in model.modules()):
        with refused("has no attention to a source"), looking(model, sources):
            pass
        return
    with torch.inference_mode(), looking(model, sources) as looks:
        session = Session(model, [[2], [2, 11]], room=5, sources=sources, looks=looks)
        session.append(torch.tensor([13, 17]), [13, 17])
    same(session.looks.newest.sum(1), torch.ones(2))
    same(session.looks.total.sum(1), torch.full((2,), 2.0))
    assert not session.looks.total[1, 2:].any()
