"""A trained translator in three runtimes: the same translations here, in CTranslate2 and in ONNX Runtime?

    regard train transformer-tiny --out RUN --set train.max_seconds=100
    python benchmarks/roads.py RUN [--most 200]

RUN is exported to both, into a folder that is thrown away. Every source of its test is translated greedily and by a
beam of 4, with at most `--most` tokens, and translations are compared token by token. ONNX Runtime only says how likely
each next token is: its beam is the search of `regard.decode`, which asks the exported graphs in place of the model.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from trials import ended

from regard.checkpoint import Run, load
from regard.data.prepare import stores
from regard.decode import generate
from regard.decode.beam import beam_search
from regard.decode.session import Session as Rows
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.interop import export_model
from regard.interop.ct2.checking import ALONE, pieces
from regard.interop.onnx import Session
from regard.interop.onnx.session import table
from regard.shapes import Float, Int, Tensor
from regard.train.run import TOKENS

BEAMS = {"greedy": 1, "beam of 4": 4}
TOGETHER = 50  # sources that are read side by side
Texts = list[list[int]]
Way = Callable[[Texts, int, int], Texts]  # sources, beam and most tokens to translations


def sources_of(run: Run) -> Texts:
    """The tokens of every source of the test."""
    if not run.model.reads_source:
        raise UserError(f"{run.path} translates nothing")
    (lines,) = stores(run.path / TOKENS / "test", run.recipe.objective.columns[:1])
    return [lines[i].tolist() for i in range(len(lines))]


def here(run: Run) -> Way:
    def translate(sources: Texts, beam: int, most: int) -> Texts:
        found = generate(run.model, run.tokenizer, Decode(max_tokens=most, beam=beam), sources=sources)
        return [row[0].tokens for row in found]

    return translate


def in_ctranslate2(run: Run, folder: Path) -> Way:
    """By its own search; with the end symbol in the result a beam counts it, as here."""
    import ctranslate2

    there = ctranslate2.Translator(str(folder), **ALONE)
    numbered = {piece: number for number, piece in enumerate(pieces(run, list(range(len(run.tokenizer)))))}

    def translate(sources: Texts, beam: int, most: int) -> Texts:
        given = [pieces(run, source) for source in sources]
        how: dict[str, Any] = {"beam_size": beam, "return_end_token": True, "max_decoding_length": most}
        found = there.translate_batch(given, **how, min_decoding_length=0, max_batch_size=TOGETHER)
        rows = [[numbered[word] for word in each.hypotheses[0]] for each in found]
        return [row[:-1] if row[-1:] == [run.tokenizer.end] else row for row in rows]

    return translate


class Asked(Rows):
    """Rows of tokens that exported graphs are asked about; what they remember of a row goes where the row goes."""

    def __init__(self, there: Session, sources: Texts):
        self.there, self.looks, self.device = there, None, torch.device("cpu")
        self.rows = [list(there.about["begun"]) for _ in sources]
        self.source, self.past = there.read(sources), there.empty(len(sources))
        self._step(*table(self.rows))

    def log_probabilities(self) -> Float[Tensor, "b v"]:
        return self.logits.log_softmax(-1)

    def append(self, tokens: Int[Tensor, "b"], chosen: list[int]) -> None:
        for row, token in zip(self.rows, chosen, strict=True):
            row.append(token)
        self._step(*table([[token] for token in chosen]))

    def select(self, rows: list[int]) -> None:
        self.rows = [list(self.rows[i]) for i in rows]
        self.source, self.past = ({k: x[rows] for k, x in part.items()} for part in (self.source, self.past))

    def _step(self, tokens: Any, present: Any) -> None:
        logits, self.past = self.there.step(tokens, present, self.past, self.source)
        self.logits = torch.from_numpy(logits[:, -1])


def in_onnx(run: Run, folder: Path) -> Way:
    there, end = Session(folder), run.tokenizer.end

    def translate(sources: Texts, beam: int, most: int) -> Texts:
        found: Texts = []
        for begin in range(0, len(sources), TOGETHER):
            group = sources[begin : begin + TOGETHER]
            if beam == 1:
                found += there.write(group, most)
                continue
            asked = Asked(there, [[*source, end] for source in group])
            searched = beam_search(asked, Decode(max_tokens=most, beam=beam), ends={end}, most=most)
            found += [row[0].tokens for row in searched]
        return found

    return translate


def measure(run: Run, place: Path, most: int) -> dict[str, Any]:
    """How many translations are the same as here."""
    sources, ways = sources_of(run), {"here": here(run)}
    most = min(most, run.model.limit or most)
    for to, way in (("ct2", in_ctranslate2), ("onnx", in_onnx)):
        export_model(run.path, place / to, to=to)
        ways[to] = way(run, place / to)
    found: dict[str, Any] = {"sources": len(sources), "most": most}
    for name, beam in BEAMS.items():
        written = {to: way(sources, beam, most) for to, way in ways.items()}
        mine = written.pop("here")
        found[name] = {to: sum(map(list.__eq__, mine, theirs)) for to, theirs in written.items()}
    return found


def main() -> None:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("run", type=Path)
    about.add_argument("--most", type=int, default=200)
    given = about.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(measure(load(given.run), Path(place), given.most), indent=2))


if __name__ == "__main__":
    ended(main)
