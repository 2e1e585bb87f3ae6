"""Did the translation see what "it" stands for? Asked of `road`, where only the adjective tells and German must say."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from regard.data.corpora.road import decisive, sentences

SUBJECT = re.compile(r"\b(?:weil|da|obwohl)\s+(es|sie|er)\b", re.IGNORECASE)


def pronoun_accuracy(
    sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str]
) -> dict[str, float | int]:
    """The share of decisive sentences that have the right pronoun; no decisive sentence, no entry.

    The baseline is the share that the commonest of the right pronouns would get if it were always said.
    """
    cases = [case for texts in zip(sources, references, hypotheses, strict=True) for case in decisive_cases(*texts)]
    if not cases:
        return {}
    right = sum(wanted == heard for wanted, heard in cases)
    commonest = max(Counter(wanted for wanted, _ in cases).values())
    return {
        "pronoun_accuracy": right / len(cases),
        "pronoun_baseline": commonest / len(cases),
        "pronoun_cases": len(cases),
    }


def decisive_cases(source: str, reference: str, hypothesis: str) -> Iterator[tuple[str, str | None]]:
    """The pronoun that is wanted and the one that was said, for each decisive sentence.

    Sentence n of the hypothesis answers sentence n of the source; one that is missing has no pronoun. Where the
    reference does not agree with the grammar, the text only looks like `road`, and nothing is judged.
    """
    answers = decisive(source)
    told, said = (pronouns(text, len(answers)) for text in (reference, hypothesis))
    for wanted, given, heard in zip(answers, told, said, strict=True):
        if wanted is not None and wanted == given:
            yield wanted, heard


def pronouns(text: str, count: int) -> list[str | None]:
    """The subject right after the conjunction, in each of the first `count` sentences."""
    found = [SUBJECT.search(part) for part in sentences(text)][:count]
    return [match and match[1].lower() for match, _ in zip_longest(found, range(count))]
