"""One text or many, short or past the context: the same text comes out."""

from itertools import product

import pytest
import torch

from regard.decode import Ensemble, generate, score, together
from regard.decode.beam import beam_search
from regard.decode.hypothesis import length_penalty
from regard.decode.session import Session, window_start
from regard.decode.settings import Decode
from regard.errors import UserError
from tests.decode.conftest import small

PROMPTS = ["the ch", "r", "cross the road didn't", "", "en the"]


def encoded(tokenizer, texts=PROMPTS):
    return [tokenizer.encode(text) for text in texts]


@pytest.mark.parametrize(
    "settings",
    [
        Decode(max_tokens=41),
        Decode(max_tokens=41, temperature=1.3, top_k=7, top_p=0.9, min_p=0.01),
        Decode(max_tokens=41, temperature=0.7, repetition_penalty=1.3),
        Decode(max_tokens=17, beam=3),
        Decode(max_tokens=31, beam=4, length_penalty="gnmt:0.8"),
    ],
    ids=["greedy", "sampled", "repetition", "beam", "beam-past-the-context"],
)
def test_a_batch_gives_what_each_text_gives_alone(tokenizer, speaker, settings) -> None:
    """Most of these texts pass the context of 23 tokens, each at another step."""
    prompts = encoded(tokenizer)
    batch = generate(speaker, tokenizer, settings, prompts=prompts, seed=5)
    if settings.temperature == 0:
        alone = [generate(speaker, tokenizer, settings, prompts=[prompt])[0] for prompt in prompts]
    else:  # the number of a text chooses its random numbers, so it keeps its number
        alone = [
            generate(speaker, tokenizer, settings, prompts=prompts[: i + 1], seed=5)[i] for i in range(len(prompts))
        ]
    for together_, single in zip(batch, alone, strict=True):
        assert [h.tokens for h in together_] == [h.tokens for h in single]
        assert [h.ended for h in together_] == [h.ended for h in single]
    assert any(len(best[0].tokens) + 1 > speaker.context for best in batch) or settings.max_tokens < 23


@pytest.mark.parametrize("beam", [1, 4])
def test_a_batch_of_translations_gives_what_each_gives_alone(tokenizer, translator, beam) -> None:
    sources = encoded(tokenizer, ["the ch", "r", "cross the road didn't", "en the"])
    settings = Decode(max_tokens=30, beam=beam)
    batch = generate(translator, tokenizer, settings, sources=sources)
    for best, source in zip(batch, sources, strict=True):
        alone = generate(translator, tokenizer, settings, sources=[source])[0]
        assert [h.tokens for h in best] == [h.tokens for h in alone]


@pytest.mark.parametrize("kind", ["gpt", "transformer"])
def test_a_beam_of_one_is_greedy(tokenizer, kind) -> None:
    model = small(kind, len(tokenizer))
    given = {"sources" if model.reads_source else "prompts": encoded(tokenizer, ["the", "road"])}
    greedy = generate(model, tokenizer, Decode(max_tokens=15), **given)
    for text, best in zip(given.popitem()[1], greedy, strict=True):
        rows = [[tokenizer.start]] if model.reads_source else [[tokenizer.start, *text]]
        sources = [[*text, tokenizer.end]] if model.reads_source else None
        with torch.inference_mode():
            session = Session(model, rows, room=15, sources=sources)
            (found,) = beam_search(session, Decode(beam=1), ends=tokenizer.ends, most=15)
        assert found[0].tokens == best[0].tokens


def test_a_wide_beam_finds_the_best_text_of_all(tokenizer, speaker) -> None:
    """Against every continuation of up to three tokens, scored one by one."""
    most, prompt = 3, tokenizer.encode("th")
    vocabulary = [i for i in range(len(tokenizer)) if i != tokenizer.end]
    settings = Decode(max_tokens=most, beam=len(tokenizer) ** 2, length_penalty="none")
    found = generate(speaker, tokenizer, settings, prompts=[prompt])[0]
    best = max(
        (sum(values), list(words))
        for length in range(most)
        for words, values in scored(speaker, tokenizer, prompt, list(product(vocabulary, repeat=length)))
    )
    ended = [h for h in found if h.ended == "end"]
    assert ended[0].tokens == best[1]
    assert ended[0].score == pytest.approx(best[0], abs=1e-4)


def scored(model, tokenizer, prompt, continuations):
    values = score(model, tokenizer, [[*prompt, *words] for words in continuations])
    return [(words, line[len(prompt) :]) for words, line in zip(continuations, values, strict=True)]


def test_log_probabilities_are_those_of_scoring(tokenizer, translator, speaker) -> None:
    source = tokenizer.encode("the road")
    (best,) = generate(translator, tokenizer, Decode(max_tokens=18), sources=[source])[0]
    again = score(translator, tokenizer, [best.tokens], [source])[0]
    assert best.log_probabilities == pytest.approx(again[: len(best.log_probabilities)], abs=1e-4)
    prompt = tokenizer.encode("the")
    (best,) = generate(speaker, tokenizer, Decode(max_tokens=9, temperature=1.5), prompts=[prompt], seed=2)[0]
    again = score(speaker, tokenizer, [prompt + best.tokens])[0][len(prompt) :]
    assert best.log_probabilities == pytest.approx(again[: len(best.log_probabilities)], abs=1e-4)


def test_the_same_seed_gives_the_same_text_and_another_seed_another(tokenizer, speaker) -> None:
    settings, prompts = Decode(max_tokens=30, temperature=1.0), encoded(tokenizer, ["the"])
    first, again, other = (generate(speaker, tokenizer, settings, prompts=prompts, seed=s)[0][0] for s in (1, 1, 2))
    assert first.tokens == again.tokens != other.tokens


def test_a_stop_string_ends_the_text(tokenizer, speaker) -> None:
    settings, prompts = Decode(max_tokens=60, temperature=1.0), encoded(tokenizer, ["the"])
    free = generate(speaker, tokenizer, settings, prompts=prompts, seed=4)[0][0]
    begin = next(i for i in range(3, 50) if min(free.tokens[i : i + 2]) > tokenizer.end)
    text, stop = tokenizer.decode(free.tokens), tokenizer.decode(free.tokens[begin : begin + 2])
    stopped = generate(speaker, tokenizer, settings, prompts=prompts, seed=4, stop=[stop])[0][0]
    assert stopped.ended == "stop"
    assert tokenizer.decode(stopped.tokens) == text[: text.index(stop) + len(stop)]


def test_an_ensemble_averages_probabilities(tokenizer) -> None:
    a, b = small("transformer", len(tokenizer), seed=1), small("transformer", len(tokenizer), seed=2, context=29)
    source, target = torch.tensor([[5, 6, 7]]), torch.tensor([[2, 8, 9, 4]])
    both = Ensemble([a, b])
    each = [m.decode(target, m.encode(source)).softmax(-1) for m in (a, b)]
    torch.testing.assert_close(both.decode(target, both.encode(source)).exp(), (each[0] + each[1]) / 2)
    assert both.context == 23
    assert together([a]) is a


def test_an_ensemble_of_one_model_twice_is_that_model(tokenizer, speaker) -> None:
    settings, prompts = Decode(max_tokens=30, beam=3), encoded(tokenizer)
    twice = generate(together([speaker, speaker]), tokenizer, settings, prompts=prompts)
    once = generate(speaker, tokenizer, settings, prompts=prompts)
    assert [[h.tokens for h in best] for best in twice] == [[h.tokens for h in best] for best in once]


def test_what_is_too_long_says_both_numbers(tokenizer, speaker, translator) -> None:
    with pytest.raises(UserError, match="the prompt has 31 tokens and the context holds 23"):
        generate(speaker, tokenizer, Decode(), prompts=[[5] * 30])
    with pytest.raises(UserError, match="the source text has 31 tokens and the context holds 23"):
        generate(translator, tokenizer, Decode(), sources=[[5] * 30])
    with pytest.raises(UserError, match="needs a source"):
        generate(translator, tokenizer, Decode(), prompts=[[5]])


def test_a_translation_ends_with_the_context(tokenizer, translator) -> None:
    long = generate(translator, tokenizer, Decode(max_tokens=500), sources=encoded(tokenizer, ["the road"]))[0][0]
    assert len(long.tokens) <= translator.context


def test_length_penalties_are_what_their_names_say() -> None:
    assert length_penalty("none", 7) == 1
    assert length_penalty("average", 7) == 7
    assert length_penalty("gnmt:0.5", 7) == pytest.approx((12 / 6) ** 0.5)
    assert length_penalty("gnmt", 13) == pytest.approx(3**0.6)


def test_a_window_moves_by_half_a_context_and_never_shows_more_than_one() -> None:
    for context in (2, 5, 8):
        for length in range(1, 40):
            start = window_start(length, context)
            assert start % max(1, context // 2) == 0
            assert 1 <= length - start <= context
            assert start == 0 or length - start > context - max(1, context // 2)
