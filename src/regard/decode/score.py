"""How likely given texts are: the log-probability of each of their tokens."""

import torch

from regard.decode.session import check_prompts, table
from regard.systems import System
from regard.text import Tokenizer

TOGETHER = 32  # rows scored side by side


@torch.inference_mode()
def score(
    model: System, tokenizer: Tokenizer, texts: list[list[int]], sources: list[list[int]] | None = None
) -> list[list[float]]:
    """For each text the log-probabilities of its tokens and of the end symbol, of several the one that is written.

    To a model that reads no source, the source of a text is the beginning of its row, and no part of what is scored.
    """
    if sources is not None and not model.reads_source:
        whole = [[*source, tokenizer.end, *text] for source, text in zip(sources, texts, strict=True)]
        return [line[-len(text) - 1 :] for line, text in zip(score(model, tokenizer, whole), texts, strict=True)]
    rows = [[tokenizer.start, *text, tokenizer.end] for text in texts]
    ended = [[*source, tokenizer.end] for source in sources] if sources is not None else None
    check_prompts(model, [row[:-1] for row in rows], ended)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found: dict[int, list[float]] = {}
    for begin in range(0, len(rows), TOGETHER):
        numbers = order[begin : begin + TOGETHER]
        memory = model.encode(*table([ended[i] for i in numbers], model.device)) if ended is not None else None
        tokens, _ = table([rows[i] for i in numbers], model.device)
        scores = model.decode(tokens[:, :-1], memory).float().log_softmax(-1)
        lines = scores.gather(2, tokens[:, 1:, None])[..., 0].tolist()
        found |= {i: line[: len(rows[i]) - 1] for i, line in zip(numbers, lines, strict=True)}
    return [found[i] for i in range(len(rows))]
