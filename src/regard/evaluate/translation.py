"""Scores of translations: BLEU and chrF by sacrebleu with their signatures, and exact match."""

from typing import Any

from regard.errors import UserError


def translation_scores(
    hypotheses: list[str], references: list[str], *, lowercase: bool = False, tokenize: str = "13a"
) -> dict[str, Any]:
    """`bleu` and `chrf` on the scale of 100, `exact_match` from 0 to 1, and what exactly was computed."""
    from sacrebleu.metrics import BLEU, CHRF

    if tokenize not in BLEU.TOKENIZERS:
        raise UserError(f"sacrebleu has no tokenizer '{tokenize}'; known: {', '.join(BLEU.TOKENIZERS)}")
    bleu, chrf = BLEU(lowercase=lowercase, tokenize=tokenize), CHRF(lowercase=lowercase)
    score, characters = bleu.corpus_score(hypotheses, [references]), chrf.corpus_score(hypotheses, [references])
    same = sum(h.strip() == r.strip() for h, r in zip(hypotheses, references, strict=True))
    return {
        "bleu": score.score,
        "chrf": characters.score,
        "exact_match": same / max(1, len(references)),
        "signature": f"BLEU|{bleu.get_signature()} chrF|{chrf.get_signature()}",
    }
