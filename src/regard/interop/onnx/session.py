"""Decoding with exported graphs: onnxruntime, numpy and the tokenizer, and nothing of the run.

The loop of `write` is all that another language needs: read what is given with an empty past, then one token at a time
with what the call before gave back.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer as Backend

from regard.errors import NotInstalled

Array = np.ndarray


class Session:
    """The graphs of a folder, on the CPU.

    session = Session("exported")
    session.text(session.write(session.cut(["A boy is eating an apple."]), most=50)[0])
    """

    def __init__(self, folder: Path | str, *, threads: int = 1):
        try:
            import onnxruntime
        except ImportError:
            raise NotInstalled(
                "this needs the package 'onnxruntime', which is not installed: pip install 'regard[export]'"
            ) from None
        self.about = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        self.symbols = self.about["symbols"]
        self.tokenizer = Backend.from_file(str(Path(folder) / "tokenizer.json"))
        self.tokenizer.encode_special_tokens = True  # what looks like a symbol in a text is text
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.graphs = {
            name.removesuffix(".onnx"): onnxruntime.InferenceSession(
                str(Path(folder) / name), options, providers=["CPUExecutionProvider"]
            )
            for name in self.about["graphs"]
        }

    def cut(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each text."""
        found = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return [self.symbols["lead"] + each.ids for each in found]

    def text(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)

    def write(self, rows: list[list[int]], most: int = 200) -> list[list[int]]:
        """What follows each row of tokens, or is its translation: the likeliest token each time, at most so many.

        A text ends at an end symbol, and where the model has no place for more.
        """
        source = self.read([[*row, self.symbols["end"]] for row in rows]) if "encoder" in self.graphs else {}
        tokens, present = table([self._begun([] if source else row) for row in rows])
        last, past = present.sum(1) - 1, self.empty(len(rows))
        written: list[list[int]] = [[] for _ in rows]
        open_rows, ends = np.ones(len(rows), bool), [self.symbols["end"], *self.about.get("ends", [])]
        room = self.about["limit"] or int(present.sum(1).max()) + most
        for _ in range(min(most, room - tokens.shape[1] + 1)):
            logits, past = self.step(tokens, present, past, source)
            scores = logits[np.arange(len(rows)), last]
            scores[:, self.about["never"]] = -np.inf
            chosen = scores.argmax(-1)
            open_rows &= ~np.isin(chosen, ends)
            for row in np.flatnonzero(open_rows):
                written[row].append(int(chosen[row]))
            if not open_rows.any():
                break
            tokens, present, last = chosen[:, None], np.ones((len(rows), 1), bool), np.zeros(len(rows), np.int64)
        return written

    def read(self, sources: list[list[int]]) -> dict[str, Array]:
        """What a decoder looks at of each source, which ends with its end symbol."""
        tokens, present = table(sources)
        names = self.about["graphs"]["encoder.onnx"]["outputs"]
        found = self.graphs["encoder"].run(names, {"tokens": tokens, "present": present})
        return {"source_present": present, **dict(zip(names, found, strict=True))}

    def step(
        self, tokens: Array, present: Array, past: dict[str, Array], source: dict[str, Array]
    ) -> tuple[Array, dict[str, Array]]:
        """The scores of what follows each of these tokens, and the past of the next call."""
        names = self.about["graphs"]["decoder.onnx"]["outputs"]
        logits, *now = self.graphs["decoder"].run(names, {"tokens": tokens, "present": present, **past, **source})
        return logits, {name.replace("now", "past", 1): value for name, value in zip(names[1:], now, strict=True)}

    def empty(self, rows: int) -> dict[str, Array]:
        """The past before the first call."""
        inputs, cache = self.about["graphs"]["decoder.onnx"]["inputs"], self.about["cache"]
        nothing = np.zeros((rows, cache["heads"], 0, cache["width"]), np.float32)
        past = {name: nothing for name in inputs if name.startswith("past.")}
        return {"past_present": np.zeros((rows, 0), bool), **past}

    def answer(self, rows: list[list[int]]) -> dict[str, Array]:
        """The vectors of each text, which begins and ends with its symbols, and what the model answers."""
        symbols, graph = self.symbols, self.about["graphs"]["model.onnx"]
        tokens, present = table([[symbols["start"], *row, symbols["end"]] for row in rows])
        given: dict[str, Any] = {"tokens": tokens, "present": present, "segments": np.zeros_like(tokens)}
        found = self.graphs["model"].run(graph["outputs"], {name: given[name] for name in graph["inputs"]})
        return dict(zip(graph["outputs"], found, strict=True))

    def _begun(self, row: list[int]) -> list[int]:
        """The first tokens of a text that is to be written on."""
        if row and not self.about["opens"]:
            return row
        return [self.symbols["start"], *row] if row else self.about["begun"]


def table(rows: list[list[int]]) -> tuple[Array, Array]:
    """Rows filled up on the right, and where they really are."""
    longest = max(map(len, rows))
    tokens, present = np.zeros((len(rows), longest), np.int64), np.zeros((len(rows), longest), bool)
    for i, row in enumerate(rows):
        tokens[i, : len(row)], present[i, : len(row)] = row, True
    return tokens, present
