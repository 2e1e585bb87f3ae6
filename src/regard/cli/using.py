"""Commands that use runs."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.output import counting, emit, note

Flag = Parameter(negative=())
Several = Parameter(consume_multiple=True, negative=())
Repeated = Parameter(negative=())


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """How text is made; what is not given comes from the run's [decode] section."""

    max_tokens: int | None = None
    "Stop after so many tokens."
    temperature: float | None = None
    "0 takes the likeliest token; higher draws more freely."
    top_k: int | None = None
    "Draw from the K likeliest tokens."
    top_p: float | None = None
    "Draw from the likeliest tokens that together have probability P."
    min_p: float | None = None
    "Draw from tokens at least P times as likely as the likeliest."
    repetition_penalty: float | None = None
    "Above 1, tokens that are there already become less likely."
    beam: int | None = None
    "Keep the N best beginnings."
    length_penalty: str | None = None
    "none, average, or gnmt:EXPONENT."

    def over(self, settings: Any) -> Any:
        """The run's settings with what was given put in."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        if given.get("beam", 1) > 1:
            given.setdefault("temperature", 0.0)
        if given.get("temperature", 0) > 0:
            given.setdefault("beam", 1)
        return replace(settings, **given)


def evaluate(
    run: Annotated[list[Path], Several],
    *,
    data: Annotated[tuple[str, ...], Several] = (),
    decode: DecodeOptions = DecodeOptions(),
    stride: int | None = None,
    lowercase: Annotated[bool, Flag] = False,
    tokenize: str = "13a",
    device: str = "auto",
    json: Annotated[bool, Flag] = False,
) -> None:
    """Measure a run on its test data or on files: loss, perplexity and the scores of its task.

    Parameters
    ----------
    run
        Folder of the run; several are averaged as an ensemble.
    data
        One file (text, .tsv, .jsonl) or two parallel ones (source, target).
    stride
        Language models: let windows overlap; each begins so many tokens after the one before.
    lowercase
        Score BLEU and chrF without case.
    tokenize
        sacrebleu's tokenizer for BLEU.
    device
        auto, cpu, cuda, cuda:1, mps.
    json
        Print JSON.
    """
    from regard import evaluate as work

    runs = load_runs(run, device)
    results = work.evaluate(
        runs,
        data,
        decode=decode.over(runs[0].recipe.decode),
        stride=stride,
        lowercase=lowercase,
        tokenize=tokenize,
        say=note,
        counting=counting,
    )
    emit(results, json, lambda: show_scores(results))


def generate(
    run: Annotated[list[Path], Several],
    *,
    prompt: Annotated[tuple[str, ...], Repeated] = (),
    decode: DecodeOptions = DecodeOptions(),
    seed: int = 0,
    stop: Annotated[tuple[str, ...], Repeated] = (),
    n_best: int = 1,
    log_probabilities: Annotated[bool, Flag] = False,
    stream: Annotated[bool, Flag] = False,
    device: str = "auto",
    json: Annotated[bool, Flag] = False,
) -> None:
    """Continue a text with a language model.

    Parameters
    ----------
    run
        Folder of the run; several are averaged as an ensemble.
    prompt
        The beginning; may be given several times. Without it, standard input is the prompt.
    seed
        The same seed draws the same text.
    stop
        End where this text appears; may be given several times.
    n_best
        With a beam: so many texts for each prompt.
    log_probabilities
        Print each token with its log-probability.
    stream
        Print the text while it is made.
    device
        auto, cpu, cuda, cuda:1, mps.
    json
        Print JSON.
    """
    model = load_one(run, device)
    if model.model.reads_source:
        from regard.errors import UserError

        raise UserError(f"{model.path} translates; use 'regard translate'")
    prompts = list(prompt) or ([sys.stdin.read().rstrip("\n")] if not sys.stdin.isatty() else [""])
    settings = decode.over(model.recipe.decode)
    encoded = [model.tokenizer.encode(text) for text in prompts]
    if stream:
        stream_one(model, settings, prompts, encoded, seed, stop)
        return
    longest = max(map(len, encoded)) + settings.max_tokens
    if longest > model.model.context:
        note(f"the text may pass the context of {model.model.context} tokens: from there on its beginning is forgotten")
    found = hypotheses(model, settings, {"prompts": encoded}, seed, stop)
    results = [
        {"prompt": text, "texts": [described(model, h, stop, log_probabilities, n_best > 1) for h in best[:n_best]]}
        for text, best in zip(prompts, found, strict=True)
    ]
    emit(results, json, lambda: show_texts(results, model, before=True))


def translate(
    run: Annotated[list[Path], Parameter(negative=())],
    *,
    text: Annotated[tuple[str, ...], Repeated] = (),
    decode: DecodeOptions = DecodeOptions(),
    seed: int = 0,
    n_best: int = 1,
    log_probabilities: Annotated[bool, Flag] = False,
    device: str = "auto",
    json: Annotated[bool, Flag] = False,
) -> None:
    """Translate lines from standard input, or given texts, one line each.

    Parameters
    ----------
    run
        Folder of the run; several are averaged as an ensemble.
    text
        A text to translate; may be given several times. Without it, standard input is read line by line.
    seed
        With a temperature: the same seed draws the same text.
    n_best
        With a beam: so many translations for each line.
    log_probabilities
        Print each token with its log-probability.
    device
        auto, cpu, cuda, cuda:1, mps.
    json
        Print JSON.
    """
    model = load_one(run, device)
    sources = list(text) or [line.rstrip("\n") for line in sys.stdin]
    settings = decode.over(model.recipe.decode)
    settings = replace(settings, max_tokens=min(settings.max_tokens, model.model.context))
    encoded = [model.tokenizer.encode(source) for source in sources]
    found = hypotheses(model, settings, {"sources": encoded}, seed, ())
    results = [
        {"source": source, "texts": [described(model, h, (), log_probabilities, n_best > 1) for h in best[:n_best]]}
        for source, best in zip(sources, found, strict=True)
    ]
    emit(results, json, lambda: show_texts(results, model))


def score(
    run: Annotated[list[Path], Several],
    *,
    text: Annotated[tuple[str, ...], Repeated] = (),
    source: Annotated[tuple[str, ...], Repeated] = (),
    device: str = "auto",
    json: Annotated[bool, Flag] = False,
) -> None:
    """Say how likely given texts are: the log-probability of each text and of its tokens.

    Parameters
    ----------
    run
        Folder of the run; several are averaged as an ensemble.
    text
        The text to score (for a translator: the target); may be given several times. Without it, lines of standard input;
        for a translator source and target separated by a tab.
    source
        For a translator: the source of each text, in the same order.
    device
        auto, cpu, cuda, cuda:1, mps.
    json
        Print JSON.
    """
    from regard import decode
    from regard.errors import UserError

    model = load_one(run, device)
    sources, texts = list(source), list(text)
    if not texts:
        lines = [line.rstrip("\n").split("\t") for line in sys.stdin]
        texts = [line[-1] for line in lines]
        sources = [line[0] for line in lines] if model.model.reads_source else []
    if model.model.reads_source and len(sources) != len(texts):
        raise UserError(f"{len(texts)} texts and {len(sources)} sources: each text needs its own --source")
    tokenizer = model.tokenizer
    encoded = [tokenizer.encode(t) for t in texts]
    given = [tokenizer.encode(s) for s in sources] if model.model.reads_source else None
    found = decode.score(model.model, tokenizer, encoded, given)
    results = [
        {"text": t, "log_probability": sum(values), "tokens": token_values(model, [*ids, tokenizer.end], values)}
        for t, ids, values in zip(texts, encoded, found, strict=True)
    ]
    emit(results, json, lambda: [print(f"{r['log_probability']:.4f}\t{r['text']}") for r in results])


def load_runs(paths: list[Path], device: str) -> list[Any]:
    from regard.checkpoint import load
    from regard.train.device import choose_device

    where = str(choose_device(device))
    return [load(path, where) for path in paths]


def load_one(paths: list[Path], device: str) -> Any:
    """One run, or several as an ensemble."""
    from regard.evaluate import combined

    return combined(load_runs(paths, device))


def hypotheses(model: Any, settings: Any, given: dict[str, Any], seed: int, stop: tuple[str, ...]) -> Any:
    from regard import decode

    (inputs,) = given.values()
    with counting(len(inputs), "texts") as on_done:
        return decode.generate(model.model, model.tokenizer, settings, **given, seed=seed, stop=stop, on_done=on_done)


def described(model: Any, h: Any, stop: tuple[str, ...], with_tokens: bool, with_score: bool) -> dict[str, Any]:
    """A hypothesis in plain words."""
    from regard.decode import cut

    out: dict[str, Any] = {"text": cut(model.tokenizer.decode(h.tokens), stop), "ended": h.ended}
    if with_score or with_tokens:
        out |= {"score": h.score, "log_probability": sum(h.log_probabilities)}
    if with_tokens:
        ids = [*h.tokens, model.tokenizer.end] if h.ended == "end" else h.tokens
        out["tokens"] = token_values(model, ids, h.log_probabilities)
    return out


def token_values(model: Any, ids: list[int], values: list[float]) -> list[dict[str, Any]]:
    return [
        {"token": model.tokenizer.piece(i), "id": i, "log_probability": value}
        for i, value in zip(ids, values, strict=True)
    ]


def stream_one(model: Any, settings: Any, prompts: list[str], encoded: list[list[int]], seed: int, stop) -> None:
    """The text as it is made, whole characters only."""
    from regard import decode
    from regard.errors import UserError

    if len(prompts) != 1 or settings.beam > 1:
        raise UserError("--stream takes one prompt and no beam")
    stream = decode.Stream(model.tokenizer, stop)

    def show(text: str) -> None:
        print(text, end="", flush=True)

    show(prompts[0])
    decode.generate(
        model.model,
        model.tokenizer,
        settings,
        prompts=encoded,
        seed=seed,
        stop=stop,
        on_token=lambda number, token: show(stream.push(token)),
    )
    show(stream.close() + "\n")


def show_texts(results: list[dict[str, Any]], model: Any, *, before: bool = False) -> None:
    """One line for a translation; a continuation with its prompt before it."""
    for i, result in enumerate(results):
        for text in result["texts"]:
            lead = f"{text['score']:.4f}\t" if len(result["texts"]) > 1 else ""
            joint = result["prompt"] if before else ""
            if before and model.recipe.text.kind in ("word", "wordpiece") and joint:
                joint += " "
            print(lead + joint + text["text"])
            for token in text.get("tokens", []):
                print(f"  {token['log_probability']:9.4f}  {token['token']}")
        if before and i + 1 < len(results):
            print()


def show_scores(results: dict[str, Any]) -> None:
    for name, value in flattened(results):
        print(f"{name:22} {value:.4f}" if isinstance(value, float) else f"{name:22} {value}")


def flattened(results: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in results.items():
        if isinstance(value, dict):
            yield from ((f"{name} per {unit}", number) for unit, number in value.items())
        else:
            yield name.replace("_", " "), value
