"""Texts made and scored by a model, as plain records."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from regard import decode
from regard.cli.output import counting, note
from regard.cli.showing import described, lead, token_values
from regard.text import Encoded

Record = dict[str, Any]
SHORTENED = "{:,} of {:,} sources had no room: their beginning was read alone, as in training"


def encode(model: Any, texts: list[str], column: str = "text") -> list[list[int]]:
    """The tokens of each text; what the vocabulary does not hold is said."""
    return [text.ids for text in encode_with_offsets(model, texts, column)]


def encode_with_offsets(model: Any, texts: list[str], column: str = "text") -> list[Encoded]:
    """As `encode`, each token with the characters it came from."""
    found = [model.tokenizer.of(column).encode_with_offsets(text) for text in texts]
    tell_unknown_in(model, texts, found)
    return found


def tell_unknown_in(model: Any, texts: Sequence[str], found: Sequence[Encoded]) -> None:
    """What the vocabulary does not hold of texts, given with their tokens."""
    strange = [
        text[begin:end]
        for text, tokens in zip(texts, found, strict=True)
        for i, (begin, end) in zip(tokens.ids, tokens.offsets, strict=True)
        if i == model.tokenizer.unknown
    ]
    tell_unknown(strange, sum(len(tokens.ids) for tokens in found), "tokens")


def tell_unknown(strange: list[str], total: int, what: str) -> None:
    if strange:
        shown = list(dict.fromkeys(strange))
        more = " ..." if len(shown) > 8 else ""
        note(f"{len(strange):,} of {total:,} {what} are unknown to this run: {' '.join(shown[:8])}{more}")


def continued(
    model: Any, settings: Any, prompts: list[str], *, seed: int, stop: Sequence[str], best: int, tokens: bool
) -> list[Record]:
    """The `best` continuations of each prompt."""
    encoded = encode(model, prompts)
    with counting(len(prompts), "texts") as on_done:
        found = decode.generate(
            model.model, model.tokenizer, settings, prompts=encoded, seed=seed, stop=stop, on_done=on_done
        )

    def text(hypothesis: decode.Hypothesis) -> str:
        return decode.cut(model.tokenizer.decode(hypothesis.tokens), stop)

    tell_forgotten(model, max(len(ids) + len(h.tokens) for ids, row in zip(encoded, found, strict=True) for h in row))
    return [
        {"prompt": prompt, "texts": [described(model, text(h), h, tokens=tokens, score=best > 1) for h in row[:best]]}
        for prompt, row in zip(prompts, found, strict=True)
    ]


def streamed(model: Any, settings: Any, prompt: str, *, seed: int, stop: Sequence[str]) -> None:
    """Print a continuation as it is made, whole characters only."""
    (encoded,) = encode(model, [prompt])
    model.model.fits(len(encoded) + 1, "the prompt")
    stream = decode.Stream(model.tokenizer, stop)

    def show(text: str) -> None:
        print(text, end="", flush=True)

    def take(number: int, token: int) -> None:
        show(stream.push(token))

    show(lead(prompt, model.recipe.text.kind))
    decode.generate(model.model, model.tokenizer, settings, prompts=[encoded], seed=seed, stop=stop, on_token=take)
    show(stream.close() + "\n")
    tell_forgotten(model, len(encoded) + len(stream.tokens))


def tell_forgotten(model: Any, longest: int) -> None:
    if (limit := model.model.limit) is not None and longest + 1 > limit:
        note(f"a text passed the context of {limit} tokens: from there on its beginning was forgotten")


def translated(
    model: Any, settings: Any, sources: list[str], *, seed: int, first: int, best: int, tokens: bool
) -> list[Record]:
    """The `best` translations of each source; `first` is the number of the first one among all."""
    from regard.evaluate.translating import shortened

    texts = [source.strip() for source in sources]  # as the lines of a training file
    tokens_of, short = shortened(model, encode_with_offsets(model, texts), settings)
    encoded = list(zip(texts, tokens_of, strict=True))
    chance = {"seed": seed, "first": first}
    with counting(len(sources), "translated") as on_done:
        found = decode.translate(
            model.model, model.tokenizer, settings, encoded, kind=model.recipe.text.kind, on_done=on_done, **chance
        )
    if short:
        note(SHORTENED.format(short, len(found)))
    if cut := sum(row[0].hypothesis.ended == "length" for row in found):
        note(f"{cut:,} of {len(found):,} translations were cut: no end within {settings.max_tokens} tokens")
    # nothing made of nothing is no surprise: such a row ended as "empty"
    if empty := sum(not row[0].text and row[0].hypothesis.ended != "empty" for row in found):
        note(f"{empty:,} of {len(found):,} translations {'is' if empty == 1 else 'are'} empty")
    return [
        {
            "source": source,
            "texts": [described(model, t.text, t.hypothesis, tokens=tokens, score=best > 1) for t in row[:best]],
        }
        for source, row in zip(sources, found, strict=True)
    ]


def classified(model: Any, examples: Sequence[tuple[str, ...]]) -> list[Record]:
    """The likeliest label of each text, or of two, and the probability of every label."""
    from regard.evaluate.classification import log_probabilities

    columns = list(zip(*examples, strict=True)) or [()]
    flat = iter(encode(model, [text.strip() for column in columns for text in column]))  # as lines of a training file
    first, *others = [[next(flat) for _ in column] for column in columns]
    if empty := sum(not all(row) for row in zip(first, *others, strict=True)):
        note(f"{empty:,} of {len(examples):,} texts are empty: nothing speaks for their labels")
    with counting(len(examples), "classified") as on_done:
        second = others[0] if others else None
        found = log_probabilities(model.model, model.tokenizer, first, on_done, seconds=second)
    names, results = model.recipe.objective.columns, []
    for texts, row in zip(examples, found.exp().tolist(), strict=True):
        probabilities = dict(zip(model.labels, row, strict=True))
        label = max(model.labels, key=probabilities.__getitem__)
        said = {"label": label, "probability": probabilities[label], "probabilities": probabilities}
        results.append({**dict(zip(names, texts, strict=False)), **said})
    return results


def tagged(model: Any, texts: list[str], places: list[list[tuple[int, int]]]) -> list[Record]:
    """The likeliest tag of each word, and the probability of every tag. `places` say where words begin and end."""
    from regard.evaluate.tagging import log_probabilities
    from regard.text.words import spell

    words = [[text[begin:end] for begin, end in spans] for text, spans in zip(texts, places, strict=True)]
    spelt = [spell(model.tokenizer, row) for row in words]
    each = list(zip(chain(*words), chain(*(row.pieces for row in spelt)), strict=True))
    tell_unknown([word for word, ids in each if model.tokenizer.unknown in ids], len(each), "words")
    with counting(len(texts), "tagged") as on_done:
        values = log_probabilities(model.model, model.tokenizer, spelt, on_done)
    return [
        {"text": text, "words": [tagged_word(model, text, *each) for each in zip(spans, rows.exp(), strict=True)]}
        for text, spans, rows in zip(texts, places, values, strict=True)
    ]


def tagged_word(model: Any, text: str, place: tuple[int, int], values: Any) -> Record:
    """One word with its tag, and the characters of the text that it is."""
    probabilities = dict(zip(model.labels, values.tolist(), strict=True))
    tag = max(model.labels, key=probabilities.__getitem__)
    begin, end = place
    found = {"word": text[begin:end], "tag": tag, "probability": probabilities[tag], "begin": begin, "end": end}
    return {**found, "probabilities": probabilities}


def scored(model: Any, texts: list[str], sources: list[str]) -> list[Record]:
    """The log-probability of each text, given its source where the model reads one."""
    tokenizer, given = model.tokenizer, None
    if model.takes_source:
        texts, given = [text.strip() for text in texts], encode(model, [source.strip() for source in sources])
    encoded = encode(model, texts, "target")
    if given is not None and model.shortens:
        given = beginnings(model, given, encoded)
    found = decode.score(model.model, tokenizer, encoded, given)
    return [
        {"text": text, "log_probability": sum(values), "tokens": token_values(model, [*ids, tokenizer.end], values)}
        for text, ids, values in zip(texts, encoded, found, strict=True)
    ]


def beginnings(model: Any, sources: list[list[int]], texts: list[list[int]]) -> list[list[int]]:
    """As much of each source as there is room for beside its text and the end."""
    most = [decode.room(model.model, len(text) + 1) for text in texts]
    kept = [source[:n] if n is not None and n > 0 else source for source, n in zip(sources, most, strict=True)]
    if short := sum(len(a) < len(b) for a, b in zip(kept, sources, strict=True)):
        note(SHORTENED.format(short, len(sources)))
    return kept
