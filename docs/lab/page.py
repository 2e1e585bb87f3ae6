"""The results on the page of the laboratory, `docs/lab.md`: all that follows its heading "Verdicts".

python docs/lab/page.py [FOLDER ...]    such as runs/lab/small runs/lab/full

What is found in the folders is added to `lab/results.json`, its figures to `lab/pictures/` and its numbers to
`lab/numbers/`, by size. The page is made of these alone. A claim is shown at full size, unless that is measured or
judged in another way by now and the small size is not.
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
WHOSE = "Seeds, device and time are those of the size that is shown below: the full one, where it stands."
MARK, CHANGED = " †", "measured before a change of the experiment: its command may give other numbers by now"
Sizes = dict[str, dict[str, Results]]  # by size and claim


def add(folder: Path, kept: Sizes) -> None:
    """Results of a folder, without their rows; figures and numbers."""
    for each in standing(folder):
        size, name = each["size"], each["id"]
        kept[size][name] = {key: value for key, value in each.items() if key != "rows"}
        shutil.copyfile(folder / name / NUMBERS, place("numbers", size) / f"{name}.csv")
        for ending in (".svg", "-dark.svg"):
            shutil.copyfile(folder / name / f"{FIGURE}{ending}", place("pictures", size) / f"{name}{ending}")


def place(what: str, size: str) -> Path:
    (folder := HERE / what / size).mkdir(parents=True, exist_ok=True)
    return folder


def ordered(kept: Sizes) -> Sizes:
    """Claims in order, then the zoo."""
    return {size: {name: found[name] for name in (*names(), ZOO) if name in found} for size, found in kept.items()}


def row(kept: Sizes, name: str) -> str:
    each, both = shown(kept, name), [kept[size].get(name) for size in ("small", "full")]
    verdicts = [f"{one['verdict']}{MARK * stale(one)}" if one else "-" for one in both]
    cells = [
        *(f"[{name}](#{anchor(each)})", each["claim"], *verdicts),
        *(len(each["seeds"]), each["device"], duration(each["seconds"])),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def shown(kept: Sizes, name: str) -> Results:
    """The full size before the small one, and what stands before what does not."""
    found = [kept[size][name] for size in ("full", "small") if name in kept[size]]
    return min(found, key=stale)


def stale(results: Results) -> bool:
    """Whether it is measured or judged in another way by now."""
    return not experiment(results["id"]).stands(results)


def section(results: Results) -> str:
    """A claim by itself, with its figure and its numbers."""
    whose = f"{results['size']}/{results['id']}"
    lines = [chapter(results, f"lab/pictures/{whose}"), f"- [the numbers](lab/numbers/{whose}.csv)"]
    return "\n".join([*lines, f"- {CHANGED}"] if stale(results) else lines)


def page(kept: Sizes) -> str:
    """The words that are there, a table of both verdicts, then each claim at its greatest size."""
    words, *_ = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    summary = ". ".join(f"At {size} size {counted(found.values())}" for size, found in kept.items())
    every = [name for name in (*names(), ZOO) if any(name in found for found in kept.values())]
    table = "\n".join([TABLE, *(row(kept, name) for name in every)])
    old = any(stale(each) for found in kept.values() for each in found.values())
    parts = [words + HEADING, filled(f"{summary}. {WHOSE}"), table, *([f"{MARK.strip()} {CHANGED}"] if old else [])]
    return "\n\n".join([*parts, *(section(shown(kept, name)) for name in every)]) + "\n"


def main(*folders: str) -> None:
    kept: Sizes = read_json(KEPT) if KEPT.exists() else {"small": {}, "full": {}}
    for folder in folders:
        add(Path(folder), kept)
    kept = ordered(kept)
    for size, found in kept.items():
        old = [name for name, each in found.items() if stale(each)]
        missing = [name for name in (*names(), ZOO) if name not in found]
        for what, some in {"missing": missing, "measured or judged in another way by now": old}.items():
            if some:
                print(f"{size}: {what}: {', '.join(some)}")
    write_json(KEPT, kept)
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
