"""Decoded texts, which must be the same token by token. Only where rounding decides between equals may they part."""

from collections.abc import Callable
from itertools import zip_longest

from regard.checkpoint import Run
from regard.decode import Hypothesis, generate
from regard.decode.session import Session
from regard.decode.settings import Decode
from regard.verify.check import RELATIVE, Finding
from regard.verify.inputs import Inputs

MOST = 24  # tokens that a text is continued by

Tie = Callable[[int, Hypothesis, Hypothesis, int], bool]  # (row, one text, the other, token at which they part)


def continued(run: Run, inputs: Inputs, *, beam: int) -> list[Hypothesis]:
    """The best continuation or translation of each row, through the door that users take."""
    settings = Decode(max_tokens=MOST, beam=beam, length_penalty=run.recipe.decode.length_penalty)
    prompts = [text[1:] for text in inputs.texts] if inputs.sources is None else None
    found = generate(run.model, run.tokenizer, settings, prompts=prompts, sources=inputs.unended)
    return [hypotheses[0] for hypotheses in found]


def compare_texts(found: Finding, got: list[Hypothesis], expected: list[Hypothesis], how: str, tie: Tie) -> None:
    """Count the tokens that differ, except in texts between which there is a tie."""
    found.tolerance = 0.0
    for row, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
        differs = [a != b for a, b in zip_longest(mine.tokens, theirs.tokens)]
        if any(differs) and not tie(row, mine, theirs, at := differs.index(True)):
            found.where = found.where or f"{how}: row {row}, token {at}"
            found.difference += sum(differs)


def equally_likely(run: Run, inputs: Inputs) -> Tie:
    """A tie in greedy decoding: the model gives both next tokens the same probability, asked anew."""

    def tie(row: int, mine: Hypothesis, theirs: Hypothesis, at: int) -> bool:
        alone = inputs.row(row)
        begun = run.tokenizer.begun(alone.texts[0][1:] if alone.sources is None else [])
        session = Session(run.model, [begun + mine.tokens[:at]], room=1, sources=alone.sources)
        values = session.log_probabilities()[0].tolist()
        return near(
            *(
                values[([*text.tokens, text.end] if text.end is not None else text.tokens)[at]]
                for text in (mine, theirs)
            )
        )

    return tie


def equally_good(row: int, mine: Hypothesis, theirs: Hypothesis, at: int) -> bool:
    """A tie in a beam: both texts have the same score."""
    return near(mine.score, theirs.score)


def near(a: float, b: float) -> bool:
    return abs(a - b) <= RELATIVE * max(1.0, abs(a))
