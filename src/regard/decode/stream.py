"""Tokens to text as they come, never half a character and never a piece of a stop string."""

from collections.abc import Sequence

from regard.text import Tokenizer


class Stream:
    """`push` gives the text that a new token completes; `close` what was held back."""

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str] = ()):
        self.tokenizer, self.stop = tokenizer, [word for word in stop if word]
        self.tokens: list[int] = []
        self.given = ""
        self.stopped = False

    def push(self, token: int) -> str:
        if self.stopped:
            return ""
        self.tokens.append(token)
        text = self.tokenizer.decode(self.tokens)
        if found := [text.index(word) for word in self.stop if word in text]:
            self.stopped = True
            return self._give(text[: min(found)])
        if text.endswith("\ufffd"):  # the bytes of a character are not all there yet
            return ""
        return self._give(text[: len(text) - self._waiting(text)])

    def close(self) -> str:
        return "" if self.stopped else self._give(self.tokenizer.decode(self.tokens))

    def _give(self, text: str) -> str:
        fresh, self.given = text[len(self.given) :], max(text, self.given, key=len)
        return fresh

    def _waiting(self, text: str) -> int:
        """How much of the end may be the beginning of a stop string."""
        return max((n for word in self.stop for n in range(1, len(word)) if text.endswith(word[:n])), default=0)
