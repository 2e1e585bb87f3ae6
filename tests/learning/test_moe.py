"""The mixture of experts learns its toy task, and its losses spread the work."""

import json
from pathlib import Path
from typing import Any

from regard.checkpoint import REPORT, Run
from regard.evaluate import evaluate
from tests.helpers import lines_file
from tests.learning.toys import trained, words


def backwards(folder: Path, **system: Any) -> Run:
    """LSTMs with eight experts, trained to spell short words backwards."""
    folder.mkdir(exist_ok=True)
    files = {}
    for split, count in (("train", 2000), ("test", 200)):
        pairs = [f"{word}\t{word[::-1]}" for word in words(count, range(2, 6), split)]
        files[split] = lines_file(folder / f"{split}.tsv", pairs)
    return trained(
        folder,
        "moe-lstm",
        {**files, "valid": files["test"]},
        system={"width": 32, "depth": 2, "hidden": 32, "context": 16, **system},
        objective={"smoothing": 0.0},
        train={"steps": 200, "batch_tokens": 400, "rate": 1e-2},
    )


def test_it_learns_to_spell_backwards_and_its_losses_spread_the_work(tmp_path: Path) -> None:
    """Without them a few experts do most of it: loads vary more in both layers."""
    run = backwards(tmp_path)
    even = evaluate([run])
    assert even["exact_match"] >= 0.9
    assert max(even["expert_load_cv"].values()) < 0.5
    report = json.loads((run.path / REPORT).read_text())["measured"]
    assert report["expert_load"] == even["expert_load"]  # validated on the same words

    uneven = evaluate([backwards(tmp_path / "uneven", importance_weight=0.0, load_weight=0.0)])
    for layer, spread in uneven["expert_load_cv"].items():
        assert spread > 1.5 * even["expert_load_cv"][layer]
