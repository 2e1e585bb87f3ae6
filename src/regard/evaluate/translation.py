"""Scores of translations: BLEU and chrF by sacrebleu with their signatures, ROUGE-L, and exact match."""

from collections.abc import Sequence
from typing import Any

from regard.errors import UserError, suggest
from regard.evaluate.rouge import rouge_l


def translation_scores(
    hypotheses: list[str], references: list[str], *, lowercase: bool = False, tokenize: str = "13a"
) -> dict[str, Any]:
    """`bleu`, `chrf` and `rouge_l` on the scale of 100, `exact_match` from 0 to 1, and what exactly was computed."""
    bleu, chrf = metrics(lowercase=lowercase, tokenize=tokenize)
    score, characters = bleu.corpus_score(hypotheses, [references]), chrf.corpus_score(hypotheses, [references])
    same = sum(h.strip() == r.strip() for h, r in zip(hypotheses, references, strict=True))
    return {
        "bleu": min(100.0, score.score),  # rounding may pass it
        "chrf": characters.score,
        "rouge_l": rouge_l(hypotheses, references),
        "exact_match": same / max(1, len(references)),
        "signature": f"BLEU|{bleu.get_signature()} chrF|{chrf.get_signature()}",
    }


def beyond_bleu(references: Sequence[str], bleu: Any) -> bool:
    """No reference has as many words as the longest n-grams of BLEU: whatever is written, its figure says nothing."""
    return not bleu.corpus_score(list(references), [list(references)]).totals[-1]


def metrics(*, lowercase: bool, tokenize: str) -> tuple[Any, Any]:
    """sacrebleu's BLEU and chrF; a tokenizer that it does not know or that does not start stops."""
    from sacrebleu.metrics import BLEU, CHRF

    if tokenize not in BLEU.TOKENIZERS:
        raise UserError(f"sacrebleu has no tokenizer '{tokenize}'{suggest(tokenize, list(BLEU.TOKENIZERS))}")
    try:
        return BLEU(lowercase=lowercase, tokenize=tokenize), CHRF(lowercase=lowercase)
    except (RuntimeError, ImportError, OSError) as error:  # what the tokenizer needs is not installed
        raise UserError(f"sacrebleu's tokenizer '{tokenize}' does not start: {error}") from None
