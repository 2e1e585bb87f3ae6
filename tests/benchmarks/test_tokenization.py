"""The script that holds original tokenizers against what their own libraries give."""

from pathlib import Path

import pytest
import tokenization

from tests.interop.folders import WORDS, vocabulary


def test_one_token_that_differs_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenization, "FOLDERS", {"bert": ("small", len(WORDS))})
    vocabulary(tmp_path / "small")
    ids = [WORDS.index("the"), WORDS.index("dog"), WORDS.index("##s")]
    assert tokenization.compared(tmp_path, {"input_string": "the dogs", "bert": {"ids": ids}}) == {"bert": True}
    assert tokenization.compared(tmp_path, {"input_string": "the dog", "bert": {"ids": ids}}) == {"bert": False}
