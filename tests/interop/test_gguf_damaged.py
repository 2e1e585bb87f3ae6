"""GGUF files that claim what is not so, written byte by byte: one clear line each, at once."""

import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regard.interop import import_model
from tests.helpers import refused

TYPES = {int: (4, "<I"), float: (6, "<f")}


def text(value: str | bytes) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(value)) + value


def said(value: Any) -> bytes:
    """A setting as a file has it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, list):
        kind = type(value[0])
        if kind is str:
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
        number, form = TYPES[kind]
        return struct.pack("<IIQ", 9, number, len(value)) + b"".join(struct.pack(form, each) for each in value)
    number, form = TYPES[type(value)]
    return struct.pack("<I", number) + struct.pack(form, value)


def raw(said_there: dict[str, Any], entries: Sequence[tuple] = (), *, content: int = 96, **header: int) -> bytes:
    """A file byte by byte; `header` claims other counts than there are."""
    counts = {"version": 3, "tensors": len(entries), "settings": len(said_there), **header}
    table = b"".join(
        text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}QIQ", *shape, kind, offset)
        for name, shape, kind, offset in entries
    )
    listed = b"".join(text(name) + said(value) for name, value in said_there.items())
    start = b"GGUF" + struct.pack("<IQQ", *counts.values()) + listed + table
    return start + b"\0" * (-len(start) % 32) + b"\0" * content


LLAMA = {"general.architecture": "llama"}
PAIRS = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["<end>", "a", "b", "ab", "c"],
    "tokenizer.ggml.merges": ["a b"],
    "tokenizer.ggml.eos_token_id": 0,
}
FULL = {
    **LLAMA,
    **PAIRS,
    "llama.embedding_length": 4,
    "llama.block_count": 1,
    "llama.feed_forward_length": 6,
    "llama.attention.head_count": 2,
    "llama.context_length": 8,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
}
HUGE = 2**63
HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "does not begin with GGUF: it is no GGUF file"),
    "magic alone": (b"GGUF", "is damaged: it ends at 4 bytes, in the middle of something"),
    "version": (raw({}, version=1), "it is of version 1; 2 and 3 can be read"),
    "order of bytes": (raw({}, version=3 << 24), "numbers in the order of large machines"),
    "tensors": (raw({}, tensors=HUGE), f"it claims {HUGE} tensors"),
    "settings": (raw({}, settings=HUGE), f"it claims {HUGE} settings"),
    "missing": (raw({}, settings=5, content=0), "is damaged: it ends at"),
    "name": (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, HUGE), f"it claims {HUGE} bytes in one text"),
    "long text": (raw({"a": struct.pack("<IQ", 8, HUGE)}), f"it claims {HUGE} bytes in one text"),
    "text": (raw({"a": struct.pack("<IQ", 8, 2**21)}), "in the middle of something"),
    "no text": (raw({"a": struct.pack("<I", 8) + text(b"\xff\xfe")}), "is damaged: 'utf-8' codec"),
    "type": (raw({"a": struct.pack("<II", 99, 1)}), "a setting is of type 99, which is not known here"),
    "list": (raw({"a": struct.pack("<IIQ", 9, 8, HUGE)}), f"it claims {HUGE} texts in one list"),
    "numbers": (raw({"a": struct.pack("<IIQ", 9, 4, HUGE)}), f"it claims {HUGE} numbers in one list"),
    "short list": (raw({"a": struct.pack("<IIQ", 9, 12, 2**20)}), "in the middle of something"),
    "lists of lists": (raw({"a": struct.pack("<IIQ", 9, 9, 1)}), "a setting is of type 9"),
    "twice": (
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + (text("a") + said("b")) * 2,
        "the setting 'a' stands there twice",
    ),
    "alignment": (raw({"general.alignment": 24}), "general.alignment = 24 is no power of two"),
    "no alignment": (raw({"general.alignment": 0}), "general.alignment = 0 is no power of two"),
    "sides": (raw({}, [("a", (1,) * 9, 0, 0)]), "tensor 'a' has 9 sides"),
    "no side": (raw({}, [("a", (), 0, 0)]), "tensor 'a' has 0 sides"),
    "empty tensor": (raw({}, [("a", (4, 0), 0, 0)]), "tensor 'a' has shape [0, 4]"),
    "huge shape": (raw({}, [("a", (2**40, 2**40), 0, 0)]), "is not inside of the file"),
    "wrapped shape": (raw({}, [("a", (2**32, 2**32), 0, 0)]), "is not inside of the file"),
    "offset": (raw({}, [("a", (4,), 0, 96)]), "tensor 'a' of 16 bytes at 96 is not inside of the file"),
    "huge offset": (raw({}, [("a", (4,), 0, 2**64 - 32)]), "is not inside of the file"),
    "unaligned": (raw({}, [("a", (4,), 0, 8)]), "tensor 'a' of 16 bytes at 8 is not inside of the file"),
    "overlap": (raw({}, [("a", (9,), 0, 0), ("b", (4,), 0, 32)]), "tensors 'a' and 'b' overlap"),
    "one name": (raw({}, [("a", (4,), 0, 0), ("a", (4,), 0, 32)]), "tensor 'a' stands there twice"),
    "kind": (raw({}, [("a", (32,), 23, 0)]), "tensor 'a' is of type IQ4_XS, not supported; known: F32, F16, Q4_0"),
    "no kind": (raw({}, [("a", (32,), 777, 0)]), "tensor 'a' is of type 777, not supported"),
    "block": (raw({}, [("a", (33,), 8, 0)]), "tensor 'a' has shape [33], in blocks of 32"),
    "architecture": (raw({"general.architecture": "bert"}), "general.architecture = 'bert' is not supported; known:"),
    "number": (raw({"general.architecture": 7}), "general.architecture = 7 is no text"),
    "no tokens": (raw(LLAMA), "has no tokenizer: tokenizer.ggml.tokens is missing"),
    "tokens": (raw({**LLAMA, "tokenizer.ggml.tokens": [1, 2]}), "tokenizer.ggml.tokens is no list as it should be"),
    "token types": (raw({**LLAMA, **PAIRS, "tokenizer.ggml.token_type": [1]}), "5 tokens, 1 of a known type"),
    "other model": (raw({**LLAMA, **PAIRS, "tokenizer.ggml.model": "bert"}), "tokenizer.ggml.model = 'bert' is not"),
    "other cut": (raw({**LLAMA, **PAIRS, "tokenizer.ggml.pre": "tekken"}), "tokenizer.ggml.pre = 'tekken' is not"),
    "merges": (raw({**LLAMA, **PAIRS, "tokenizer.ggml.merges": ["a x"]}), "is damaged"),
    "no scores": (raw({**LLAMA, **PAIRS, "tokenizer.ggml.model": "llama"}), "5 tokens, 0 scores"),
    "no size": (raw({**LLAMA, **PAIRS}), "has no llama.embedding_length"),
    "size": (raw({**FULL, "llama.embedding_length": "wide"}), "width: 'wide' is not a whole number"),
    "sizes": (raw({**FULL, "llama.attention.head_count": [2, 4]}), "heads: [2, 4] is not a whole number"),
    "experts": (raw({**FULL, "llama.expert_count": [2, 4]}), "llama.expert_count = [2, 4] is not supported"),
    "parts": (raw({**FULL, "split.count": 3}), "is one of 3 parts of a model; join them first"),
    "part of a head": (raw({**FULL, "llama.rope.dimension_count": 1}), "llama.rope.dimension_count = 1 and heads of"),
    "no words": (raw(FULL), "has no word vectors: there is no 'token_embd.weight'"),
    "depth": (raw({**FULL, "llama.block_count": 2**31}, [("token_embd.weight", (4, 5), 0, 0)]), "depth = 2147483648"),
    "few words": (raw(FULL, [("token_embd.weight", (4, 3), 0, 0)]), "has 5 tokens, the model has a vector for 3"),
    "layers": (raw(FULL, [("token_embd.weight", (4, 5), 0, 0)]), "does not fit its settings: hidden = 6"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_one_line_at_once(name: str, tmp_path: Path) -> None:
    content, words = HOSTILE[name]
    (tmp_path / "bad.gguf").write_bytes(content)
    began = time.monotonic()
    with refused(words) as caught:
        import_model(tmp_path / "bad.gguf", tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert time.monotonic() - began < 5
    assert not (tmp_path / "run").exists()
