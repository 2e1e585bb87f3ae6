"""Text to tokens."""

from regard.text.tokenizer import KINDS, Encoded, Text, Tokenizer

__all__ = ["KINDS", "Encoded", "Text", "Tokenizer"]
