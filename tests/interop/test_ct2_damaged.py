"""Folders of CTranslate2 that are not supported, damaged or hostile end in one line."""

import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import UserError
from regard.interop import import_model
from regard.interop.files.ctranslate2 import read as read_binary
from tests.helpers import refused
from tests.interop.ct2 import written
from tests.interop.tiny import tiny


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return written(tiny(tmp_path / "run", "transformer", depth=1), tmp_path / "out")


def test_what_is_not_supported_says_so(model: Path, tmp_path: Path) -> None:
    words = json.loads((model / "shared_vocabulary.json").read_text())
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "add_source_bos": True}))
    with refused("add_source_bos = true is not supported"):
        import_model(model, tmp_path / "back")
    (model / "config.json").write_text(json.dumps({**config, "add_source_eos": False}))
    assert "here every source ends with </s>" in import_model(model, tmp_path / "ended").about["remarks"][0]
    (model / "shared_vocabulary.json").rename(model / "source_vocabulary.json")
    (model / "target_vocabulary.json").write_text(json.dumps(words[::-1]))
    with refused("source_vocabulary and target_vocabulary differ: not supported"):
        import_model(model, tmp_path / "back")
    (model / "target_vocabulary.json").write_text(json.dumps(words[:-1]))
    (model / "source_vocabulary.json").unlink()
    with refused(f"has {len(words) - 1} tokens, the model has vectors for {len(words)}"):
        import_model(model, tmp_path / "back")
    (model / "target_vocabulary.json").write_text(json.dumps({"a": 1}))
    with refused("it is no list of tokens"):
        import_model(model, tmp_path / "back")
    (model / "target_vocabulary.json").unlink()
    with refused("has no shared_vocabulary.json and no vocabulary.json"):
        import_model(model, tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda spec: setattr(spec.decoder, "start_from_zero_embedding", True),
            "start_from_zero_embedding' = 1 is not",
        ),
        (lambda spec: setattr(spec.encoder, "activation", np.int8(6)), "is not the same everywhere"),
        (lambda spec: setattr(spec.encoder, "scale_embeddings", 3.0), "is not the same everywhere"),
        (lambda spec: setattr(spec.decoder, "scale_outputs", 0.5), "scale_outputs' = 0.5 is not supported"),
        (
            lambda spec: setattr(spec.decoder.layer[0].ffn.linear_0, "weight", torch.zeros(7, 24)),
            "'decoder.layer_0.ffn.linear_0.bias' has shape [20], the configuration asks for [7]",
        ),
    ],
)
def test_settings_that_ours_has_no_word_for_stop(change: Any, words: str, tmp_path: Path) -> None:
    folder = written(tiny(tmp_path / "run", "transformer", depth=1), tmp_path / "out", change=change)
    with refused(words):
        import_model(folder, tmp_path / "back")


def test_a_file_that_ends_anywhere_is_damaged(model: Path, tmp_path: Path) -> None:
    content = (model / "model.bin").read_bytes()
    for size in {*range(0, 200, 7), *range(200, len(content), len(content) // 23), len(content) - 1}:
        (tmp_path / "cut.bin").write_bytes(content[:size])
        with refused("cut.bin is damaged"):
            read_binary(tmp_path / "cut.bin")
    (tmp_path / "cut.bin").write_bytes(content + b"\0")
    with refused("1 bytes are left at its end"):
        read_binary(tmp_path / "cut.bin")


def record(name: str, shape: tuple[int, ...], kind: int, size: int, content: bytes) -> bytes:
    head = struct.pack("<H", len(name) + 1) + name.encode() + b"\0" + struct.pack("<B", len(shape))
    return head + b"".join(struct.pack("<I", n) for n in shape) + struct.pack("<BI", kind, size) + content


def binary(*records: bytes, version: int = 6, aliases: bytes = struct.pack("<I", 0)) -> bytes:
    kind = struct.pack("<H", 2) + b"X\0"
    return struct.pack("<I", version) + kind + struct.pack("<II", 1, len(records)) + b"".join(records) + aliases


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it claims 4 bytes where 0 are left"),
        (binary(version=5), "it has version 5, and 6 can be read"),
        (binary(record("a", (2**31, 2**31), 0, 0, b"")), "it claims 18446744073709551616 bytes where 4 are left"),
        (binary(record("a", (1,) * 9, 0, 4, b"\0" * 4)), "a tensor claims 9 axes"),
        (binary(record("a", (1,), 6, 4, b"\0" * 4)), "no numbers are of type 6"),
        (binary(record("a", (2,), 0, 4, b"\0" * 4)), "a tensor of shape [2] claims 4 bytes"),
        (binary(*[record("a", (1,), 0, 4, b"\0" * 4)] * 2), "tensor 'a' is there twice"),
        (binary(record("a", (1,), 1, 1, b"\0")), "tensor 'a' holds whole numbers without a scale"),
        (
            binary(record("a", (1,), 1, 1, b"\0"), record("a_scale", (2,), 0, 8, b"\0" * 8)),
            "tensor 'a' of shape [1] has 2 scales",
        ),
        (binary(aliases=struct.pack("<I", 2**32 - 1)), "it claims 2 bytes where 0 are left"),
        (binary(aliases=struct.pack("<IH", 1, 2) + b"b\0" + struct.pack("<H", 2) + b"c\0"), "which cannot be"),
        (binary(aliases=struct.pack("<IH", 1, 2) + b"bb"), "a name has no end"),
    ],
)
def test_hostile_files_end_in_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(content)
    with refused(words):
        read_binary(tmp_path / "model.bin")


def test_a_file_with_any_byte_changed_is_read_or_refused(model: Path, tmp_path: Path) -> None:
    """Nothing but one line, whatever the file claims."""
    content, chance = (model / "model.bin").read_bytes(), random.Random(5)
    places = [*range(0, 120, 3), *(chance.randrange(len(content)) for _ in range(20))]
    for at in places:
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << chance.randrange(8)
        (model / "model.bin").write_bytes(spoilt)
        try:
            import_model(model, tmp_path / "back", force=True)
        except UserError as error:
            assert "\n" not in str(error)
