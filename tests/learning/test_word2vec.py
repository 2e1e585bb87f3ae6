"""word2vec learns which words keep company, without ever being told."""

import random
from itertools import combinations, product
from pathlib import Path
from statistics import mean

from regard.evaluate.words import Words
from tests.helpers import lines_file
from tests.learning.toys import trained

LAND, SEA = [[f"{kind}{i}" for i in range(11)] for kind in ("land", "sea")]


def cosines(folder: Path, *, apart: bool) -> tuple[list[float], list[float]]:
    """Within and across two groups of words that never meet in a line, or, where not `apart`, do."""
    chance, files = random.Random(5), {}
    for split, count in (("train", 601), ("test", 29)):
        groups = [LAND, SEA] if apart else [LAND + SEA]
        rows = [" ".join(chance.choices(chance.choice(groups), k=chance.randint(3, 17))) for _ in range(count)]
        files[split] = lines_file(folder / f"{split}.txt", rows)
    run = trained(
        folder,
        "word2vec",
        {**files, "valid": files["test"], "document": "line"},
        text={"kind": "word"},
        system={"width": 13, "context": 37},
        objective={"subsample": 0.0},
        train={"steps": 150, "batch_tokens": 1009, "rate": 2e-2, "weight_decay": 0.0},
    )
    words = Words.of(run)

    def cosine(one: str, other: str) -> float:
        return float(words.vectors[words.row(one)] @ words.vectors[words.row(other)])

    within = [cosine(*pair) for group in (LAND, SEA) for pair in combinations(group, 2)]
    return within, [cosine(*pair) for pair in product(LAND, SEA)]


def test_words_that_keep_company_end_nearer_to_each_other(tmp_path: Path) -> None:
    """Every two of one group are nearer than any two of different groups."""
    within, across = cosines(tmp_path, apart=True)
    assert min(within) > 0.8 > 0.5 > max(across)


def test_words_that_all_meet_do_not_part(tmp_path: Path) -> None:
    """What is found above is in the text, not in the names."""
    within, across = cosines(tmp_path, apart=False)
    assert abs(mean(within) - mean(across)) < 0.1
