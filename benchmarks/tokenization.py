"""Original tokenizers read by `regard import`: do they give every token that their own libraries give?

    python benchmarks/tokenization.py DIR EXPECTED

DIR has a folder for each: `bert_uncased` (vocab.txt), `gpt2` (encoder.json, vocab.bpe), `t5` (spiece.model). EXPECTED
is a JSON file with a text, `input_string`, and for `bert`, `gpt2` and `t5` the `ids` that it is cut into.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from trials import ended

from regard.interop import tokens
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import Folder

FOLDERS = {"bert": ("bert_uncased", 30_522), "gpt2": ("gpt2", 50_257), "t5": ("t5", 32_128)}


def compared(folder: Path, wanted: dict[str, Any]) -> dict[str, bool]:
    """Of each tokenizer whether all tokens are the same."""
    found = {}
    for name, (place, rows) in FOLDERS.items():
        tokenizer, *_ = tokens.read(Folder(folder / place), FAMILIES[name].symbols, {}, rows)
        found[name] = tokenizer.encode(wanted["input_string"]) == wanted[name]["ids"]
    return found


def main() -> None:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("folder", type=Path)
    about.add_argument("expected", type=Path)
    given = about.parse_args()
    wanted = json.loads(given.expected.read_text(encoding="utf-8"))
    found = compared(given.folder, wanted)
    for name, same in found.items():
        print(f"{name}: {len(wanted[name]['ids'])} tokens, {'all the same' if same else 'OTHERS'}")
    sys.exit(0 if all(found.values()) else 1)


if __name__ == "__main__":
    ended(main)
