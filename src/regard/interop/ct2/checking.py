"""A run beside its export in CTranslate2: greedily and by a beam the same texts, and the same numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.checkpoint import Run
from regard.decode import Hypothesis
from regard.decode.session import table
from regard.interop.checking import Comparison, farthest
from regard.interop.ct2.writing import pooled, theirs
from regard.interop.samples import cut_alike, near, same_greedily, samples, written, written_most
from regard.place import Place
from regard.shapes import Tensor

BEAM = 4
ALONE = {"device": "cpu", "compute_type": "float32", "inter_threads": 1, "intra_threads": 1}


@torch.inference_mode()
def compare(run: Run, folder: Path) -> Comparison:
    """Both read the same texts, in float32 on the CPU."""
    kind = "Translator" if run.model.reads_source else "Generator" if run.model.writes_text else "Encoder"
    there = getattr(theirs(), kind)(str(folder), **ALONE)
    texts = samples(run)
    difference, tolerance = farthest(numbers(run, there, texts))
    same = greedily_same(run, there, texts) and same_by_beam(run, there, texts) if run.model.writes_text else None
    return Comparison(cut_alike(run, folder), same, difference, tolerance)


def numbers(run: Run, there: Any, texts: list[list[int]]) -> Iterator[tuple[Tensor, Tensor]]:
    """What both say of the texts: log-probabilities of a translation, scores of what follows, or vectors."""
    symbols = run.tokenizer
    rows = [[symbols.start, *ids, symbols.end] for ids in texts]
    tokens, present = table(rows, run.model.device)
    if run.model.reads_source:
        for ids in texts:
            source = torch.tensor([[*ids, symbols.end]])
            told = there.score_batch([pieces(run, ids)], [pieces(run, ids)])[0].log_probs
            scores = run.model.decode(torch.tensor([[symbols.start, *ids]]), run.model.encode(source)).log_softmax(-1)
            yield scores[0].gather(1, source.T)[:, 0], torch.tensor(told)
    elif run.model.writes_text:
        found = torch.from_numpy(np.array(there.forward_batch(rows)))
        yield at(run.model.decode(tokens), present), at(found, present)
    else:
        place, said = Place.line(tokens, present), there.forward_batch(rows)
        vectors = run.model.embed(tokens, place)
        yield at(vectors, present), at(torch.from_numpy(np.array(said.last_hidden_state)), present)
        if pooled(run):
            head: Any = run.model.head
            yield head.pool(vectors, present), torch.from_numpy(np.array(said.pooler_output))


def at(x: Tensor, present: Tensor | None) -> Tensor:
    return x if present is None else x[present]


def pieces(run: Run, ids: list[int]) -> list[str]:
    return [run.tokenizer.piece(token) for token in ids]


def greedily_same(run: Run, there: Any, texts: list[list[int]]) -> bool:
    mine = [row[0].tokens for row in written(run, texts, most=written_most(run))]
    return all(
        same_greedily(run, text, own, decoded(run, there, text, 1)[0]) for text, own in zip(texts, mine, strict=True)
    )


def same_by_beam(run: Run, there: Any, texts: list[list[int]]) -> bool:
    """The best text of a beam, or one with the same score.

    Where some tokens are never written, CTranslate2 shares out their probabilities, and a beam may end elsewhere.
    """
    if run.tokenizer.habits.never:
        return True
    most = written_most(run)
    for text, own in zip(texts, written(run, texts, most=most, beam=BEAM), strict=True):
        if not settled(own, most):
            continue
        found, score = decoded(run, there, text, BEAM)
        if found != own[0].tokens and not near(own[0].score, score):
            return False
    return True


def settled(found: list[Hypothesis], most: int) -> bool:
    """Whether the search ended by itself, or no text did: in between, CTranslate2 ranks unfinished texts otherwise."""
    return all(len(each.log_probabilities) < most for each in found) or all(each.ended == "length" for each in found)


def decoded(run: Run, there: Any, text: list[int], beam: int) -> tuple[list[int], float]:
    """What CTranslate2 writes, and its score. With the end symbol in the result it is counted, as here."""
    symbols, most = run.tokenizer, written_most(run)
    how: dict[str, Any] = {"beam_size": beam, "return_scores": True, "return_end_token": True}
    if never := symbols.habits.never:
        how["suppress_sequences"] = [pieces(run, [token]) for token in never]
    if symbols.habits.ends:
        how["end_token"] = pieces(run, [*symbols.ends])
    if run.model.reads_source:
        lead = symbols.begun([])[1:]
        prefix = [pieces(run, lead)] if lead else None
        limits = {"max_decoding_length": most + len(lead), "min_decoding_length": 0}
        (said,) = there.translate_batch([pieces(run, text)], prefix, **limits, **how)
        words = said.hypotheses[0][len(lead) :]
    else:
        limits = {"max_length": most, "min_length": 0, "include_prompt_in_result": False}
        (said,) = there.generate_batch([pieces(run, symbols.begun(text))], **limits, **how)
        words = said.sequences[0]
    numbered = {piece: number for number, piece in enumerate(pieces(run, list(range(len(symbols)))))}
    ids = [numbered[word] for word in words]
    return ids[:-1] if ids and ids[-1] in symbols.ends else ids, said.scores[0]
