"""The results on the page of the laboratory, `docs/lab.md`: all that follows its heading "Verdicts".

python docs/lab/page.py [FOLDER ...]    such as runs/lab/small runs/lab/full

What is found in the folders is added to `lab/results.json`, its figures to `lab/pictures/` and its numbers to
`lab/numbers/`. The page is made of these alone. A claim without a result at full size is shown at small size.
"""

import shutil
import sys
from pathlib import Path

from regard.checkpoint import read_json, write_json
from regard.lab.claims import ZOO, experiment, names
from regard.lab.claims.report import anchor, chapter, counted, filled, standing
from regard.lab.claims.running import FIGURE, NUMBERS, Results
from regard.train.forecast import duration

HERE = Path(__file__).parent
PAGE, KEPT = HERE.with_suffix(".md"), HERE / "results.json"
HEADING = "## Verdicts"
TABLE = "| claim | | small | full | seeds | device | time of all trials |\n|---|---|---|---|---|---|---|"
Sizes = dict[str, dict[str, Results]]  # by size and claim


def add(folder: Path, kept: Sizes) -> None:
    """Results of a folder, without their rows; figures and numbers where no greater size has them."""
    for each in standing(folder):
        size, name = each["size"], each["id"]
        kept[size][name] = {key: value for key, value in each.items() if key != "rows"}
        if size == "full" or name not in kept["full"]:
            shutil.copyfile(folder / name / NUMBERS, HERE / "numbers" / f"{name}.csv")
            for ending in (".svg", "-dark.svg"):
                shutil.copyfile(folder / name / f"{FIGURE}{ending}", HERE / "pictures" / f"{name}{ending}")


def ordered(kept: Sizes) -> Sizes:
    """Claims in order, then the zoo."""
    return {size: {name: found[name] for name in (*names(), ZOO) if name in found} for size, found in kept.items()}


def row(small: Results, full: Results | None) -> str:
    shown = full or small
    cells = [
        *(f"[{shown['id']}](#{anchor(shown)})", shown["claim"], small["verdict"], full["verdict"] if full else "-"),
        *(len(shown["seeds"]), shown["device"], duration(shown["seconds"])),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def page(kept: Sizes) -> str:
    """The words that are there, a table of both verdicts, then each claim at its greatest size."""
    words, *_ = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    small, full = kept["small"], kept["full"]
    summary = ". ".join(f"At {size} size {counted(found.values())}" for size, found in kept.items())
    table = "\n".join([TABLE, *(row(each, full.get(name)) for name, each in small.items())])
    chapters = [
        f"{chapter(each, f'lab/pictures/{name}')}\n- [the numbers](lab/numbers/{name}.csv)"
        for name, each in (small | full).items()
    ]
    return "\n\n".join([words + HEADING, filled(f"{summary}."), table, *chapters]) + "\n"


def main(*folders: str) -> None:
    kept: Sizes = read_json(KEPT) if KEPT.exists() else {"small": {}, "full": {}}
    for name in ("pictures", "numbers"):
        (HERE / name).mkdir(exist_ok=True)
    for folder in folders:
        add(Path(folder), kept)
    kept = ordered(kept)
    for size, found in kept.items():
        old = [name for name, each in found.items() if not experiment(name).fits(each, size)]
        missing = [name for name in (*names(), ZOO) if name not in found]
        for what, some in {"missing": missing, "measured in another way by now": old}.items():
            if some:
                print(f"{size}: {what}: {', '.join(some)}")
    write_json(KEPT, kept)
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
