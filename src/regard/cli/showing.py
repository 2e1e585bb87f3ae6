"""Made texts and scores, as plain records for JSON and as lines for a reader."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

MISTAKES = 12  # that are shown


def described(model: Any, text: str, hypothesis: Any, *, tokens: bool = False, score: bool = False) -> dict[str, Any]:
    """A made text in plain words; its score and each of its tokens where asked for."""
    out: dict[str, Any] = {"text": text, "ended": hypothesis.ended}
    if score or tokens:
        out |= {"score": hypothesis.score, "log_probability": sum(hypothesis.log_probabilities)}
    if tokens:
        ids = hypothesis.tokens if hypothesis.end is None else [*hypothesis.tokens, hypothesis.end]
        out["tokens"] = token_values(model, ids, hypothesis.log_probabilities)
    return out


def token_values(model: Any, ids: list[int], values: list[float]) -> list[dict[str, Any]]:
    return [
        {"token": model.tokenizer.target.piece(i), "id": i, "log_probability": value}
        for i, value in zip(ids, values, strict=True)
    ]


def show_continuations(results: list[dict[str, Any]], kind: str) -> None:
    """Each prompt with what follows it; a blank line between two prompts. `kind` is that of the run's tokens."""
    for i, result in enumerate(results):
        if i:
            print()
        show_best(result["texts"], before=lead(result["prompt"], kind))


def lead(prompt: str, kind: str) -> str:
    """What is printed before a continuation: the prompt, and a space where tokens are whole words."""
    return f"{prompt} " if prompt and kind in ("word", "wordpiece") else prompt


def show_translations(results: list[dict[str, Any]]) -> None:
    """One line for each translation."""
    for result in results:
        show_best([{**text, "text": " ".join(text["text"].splitlines())} for text in result["texts"]])


def show_labels(results: list[dict[str, Any]]) -> None:
    """One line for each text: its label, how likely it is, and the text, or both texts."""
    for result in results:
        texts = [" ".join(result[name].splitlines()) for name in ("text", "first", "second") if name in result]
        print("\t".join([result["label"], f"{result['probability']:.4f}", *texts]), flush=True)


def show_tags(results: list[dict[str, Any]]) -> None:
    """One line for each text, its words with their tags: "The/DET road/NOUN"."""
    for result in results:
        print(" ".join(f"{each['word']}/{each['tag']}" for each in result["words"]), flush=True)


def show_conllu(results: list[dict[str, Any]], column: str) -> None:
    """Each text with its words as CoNLL-U; the tags stand in the column "upos" or "xpos". An empty text is left out."""
    for result in results:
        if not result["words"]:
            continue
        print(f"# text = {' '.join(result['text'].split())}")
        following = [each["begin"] for each in result["words"][1:]]
        for number, (each, begin) in enumerate(zip_longest(result["words"], following), 1):
            tags = (each["tag"], "_") if column == "upos" else ("_", each["tag"])
            space = "SpaceAfter=No" if begin == each["end"] else "_"
            print(number, each["word"], "_", *tags, "_", "_", "_", "_", space, sep="\t")
        print(flush=True)


def show_best(texts: list[dict[str, Any]], before: str = "") -> None:
    """The texts found for one input, with their scores where there are several and their tokens where asked for."""
    for text in texts:
        score = f"{text['score']:.4f}\t" if len(texts) > 1 else ""
        print(score + before + text["text"], flush=True)
        for token in text.get("tokens", []):
            print(f"  {token['log_probability']:9.4f}  {token['token']}")


def show_scores(results: dict[str, Any]) -> None:
    """A name and its value on each line."""
    lines = list(flattened(results))
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:{width}}  {value:z.4f}" if isinstance(value, float) else f"{name:{width}}  {value}")


def flattened(results: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in results.items():
        if name == "confusion":
            yield from mistaken(value)
        elif name == "tasks":
            each = ((task, score, number) for task, scores in value.items() for score, number in scores.items())
            yield from ((f"{task} {score.replace('_', ' ')}", number) for task, score, number in each)
        elif isinstance(value, dict):
            yield from (of_part(name, part, number) for part, number in value.items())
        else:
            yield name.replace("_", " "), value


def of_part(name: str, part: str, value: Any) -> tuple[str, Any]:
    """Perplexity per unit, all else of a part of the model: its place in words, numbers with blanks between them."""
    label = f"{name} {'per' if name == 'perplexity' else 'of'} {part.replace('.', ' ')}"
    return label.replace("_", " "), " ".join(f"{each:.2f}" for each in value) if isinstance(value, list) else value


def mistaken(confusion: dict[str, dict[str, int]]) -> Iterator[tuple[str, int]]:
    """What was taken for what, where it was: the commonest mistakes first."""
    found = [(count, wanted, said) for wanted, row in confusion.items() for said, count in row.items()]
    wrong = [(count, wanted, said) for count, wanted, said in found if count and wanted != said]
    wrong.sort(key=lambda each: -each[0])
    yield from ((f"{wanted} taken for {said}", count) for count, wanted, said in wrong[:MISTAKES])
