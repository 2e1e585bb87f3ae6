"""A parser for raw text (B7), trained from the trees of a run and sealed into it: UDPipe 1, of the `syntax` extra.

Only words and heads go into it, as every source of trees has them. In the place of tags stand what a word looks like
and how it ends, by which words that were never seen are known.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from regard.data.parse import Parse, around_gaps
from regard.errors import UserError, WorldError
from regard.text.gaps import GAP

Hung = tuple[Sequence[str], Sequence[int]]  # words, and the number of the word that each hangs on
OPTIONS = {
    "transition_system": "projective",
    "transition_oracle": "static",
    "structured_interval": 0,
    "embedding_form": 50,
    "embedding_upostag": 10,
    "embedding_xpostag": 30,
    "embedding_feats": 0,
    "embedding_deprel": 0,
    "hidden_layer": 100,
}
ENDING = 3  # letters
UNSEEN = "<gap>"  # a word of which nothing is known
REFUSED = 3  # the exit code where UDPipe says that it can learn nothing from the trees


class Parser:
    """A trained parser; its file is read when it is first asked."""

    def __init__(self, path: Path):
        self.path = path
        self.model: Any = None

    def __call__(self, text: str) -> Parse:
        """A raw text as one sentence; a gap in it is a word of which nothing is known."""
        spans = tuple(around_gaps(text))
        words = [text[begin:end] for begin, end in spans]
        return Parse(text, spans, tuple(self.heads([UNSEEN if GAP.fullmatch(word) else word for word in words])))

    def heads(self, words: Sequence[str]) -> list[int]:
        """The word that each hangs on, from 1; 0 is the root."""
        if not words:
            return []
        if self.model is None:
            self.model = udpipe().Model.load(str(self.path))
        if self.model is None:
            raise UserError(f"{self.path} is damaged: UDPipe cannot read it")
        sentence = written(words)
        if not self.model.parse(sentence, udpipe().Model.DEFAULT):
            raise UserError(f"{self.path} is damaged: UDPipe cannot parse with it")
        return [word.head for word in sentence.words][1:]


def train_parser(sentences: Iterable[Hung], out: Path, *, rounds: int) -> None:
    """Write the file of a parser that went over these sentences so many times. UDPipe neither listens nor is silent
    while it trains, so it does so in a process of its own."""
    udpipe()
    rows = "".join(json.dumps(sentence) + "\n" for sentence in sentences)
    command = [sys.executable, "-m", "regard.data.parser", str(out), str(rounds)]
    done = subprocess.run(command, input=rows.encode(), capture_output=True)
    if done.returncode:
        raise failure(done.returncode, done.stderr.decode(errors="replace").strip().splitlines())


def failure(code: int, told: Sequence[str]) -> UserError | WorldError:
    """What ended that process: the trees, in UDPipe's words, or the world."""
    why = told[-1] if told else "it gives no reason"
    if code == REFUSED:
        return UserError(f"UDPipe trains no parser from these trees: {why}")
    if code == -signal.SIGKILL or "MemoryError" in why:
        return WorldError(
            "the training of the parser ran out of memory, or was killed from outside: "
            "data.records takes fewer trees, data.parser = 0 trains none"
        )
    if code < 0:
        return WorldError(f"the training of the parser was ended by {name_of(-code)}; data.parser = 0 trains none")
    return WorldError(f"the training of the parser failed: {why}")


def name_of(number: int) -> str:
    """SIGTERM for 15."""
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")


def learn(rows: Iterable[bytes], out: Path, rounds: int) -> None:
    """What that process does: a sentence a line comes in."""
    kit = udpipe()
    given, error = kit.Sentences(), kit.ProcessingError()
    for row in rows:
        given.append(written(*json.loads(row)))
    options = ";".join(f"{name}={value}" for name, value in {**OPTIONS, "iterations": rounds}.items())
    made = kit.Trainer.train("morphodita_parsito", given, kit.Sentences(), "none", "none", options, error)
    if error.occurred():
        print(error.message, file=sys.stderr)
        sys.exit(REFUSED)
    out.write_bytes(made)


def written(words: Sequence[str], heads: Sequence[int] = ()) -> Any:
    """A sentence as UDPipe has it."""
    sentence = udpipe().Sentence()
    for word in words:
        node = sentence.addWord(word)
        node.upostag, node.xpostag = shape(word), word[-ENDING:].lower()
    for number, head in enumerate(heads, 1):
        sentence.setHead(number, head, "dep" if head else "root")
    return sentence


def shape(word: str) -> str:
    """Capitals, small letters, digits and marks, each run of them once: "Xx" of "Road", "9,9" of "1,000"."""
    kinds = "".join("9" if c.isdecimal() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", kinds)


def attached(parser: Parser, sentences: Iterable[Hung]) -> float:
    """The share of words that hang on the right one."""
    right = total = 0
    for words, heads in sentences:
        right += sum(one == other for one, other in zip(parser.heads(words), heads, strict=True))
        total += len(heads)
    return right / max(1, total)


def udpipe() -> Any:
    try:
        import ufal.udpipe
    except ImportError:
        raise UserError("a parser needs UDPipe: pip install 'regard[syntax]'") from None
    return ufal.udpipe


if __name__ == "__main__":
    learn(sys.stdin.buffer, Path(sys.argv[1]), int(sys.argv[2]))
