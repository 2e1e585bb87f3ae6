"""The exercises, from easy to hard."""

from collections.abc import Iterable

from regard.errors import UserError, suggest
from regard.exercises.exercise import Exercise
from regard.exercises.tasks import (
    attention,
    beam_step,
    bpe,
    causal_mask,
    cut_spans,
    gleu,
    label_smoothing,
    layer_norm,
    look_up,
    lstm_step,
    multi_head,
    nucleus,
    perplexity,
    rotary,
    scaled_dot,
    sinusoids,
    softmax,
    split_heads,
)

TASKS = (
    *(look_up, softmax, scaled_dot, causal_mask, split_heads),
    *(attention, multi_head, sinusoids, layer_norm, label_smoothing, perplexity, gleu),
    *(lstm_step, rotary, nucleus, beam_step, cut_spans, bpe),
)
ALL = "all"
EXERCISES: dict[int, Exercise] = {task.exercise.number: task.exercise for task in TASKS}


def exercise(word: str) -> Exercise:
    """One exercise by its number or its name."""
    if word.isdecimal():
        if int(word) not in EXERCISES:
            raise UserError(f"no exercise {word}; there are 1 to {len(EXERCISES)}")
        return EXERCISES[int(word)]
    named = {each.name: each for each in EXERCISES.values()}
    if word not in named:
        raise UserError(f"no exercise '{word}'{suggest(word, list(named))}")
    return named[word]


def chosen(words: Iterable[str]) -> list[Exercise]:
    """Those that are asked for by number or name, each once; `all` stands for every one."""
    found = [each for word in words for each in (EXERCISES.values() if word == ALL else [exercise(word)])]
    return list({each.number: each for each in found}.values())
