"""The results on the page of the laboratory, `docs/lab.md`: all that follows its heading "Verdicts".

python docs/lab/page.py SMALL FULL    such as runs/lab/small runs/lab/full; writes docs/lab/pictures/ too
"""

import shutil
import sys
from pathlib import Path

from regard.checkpoint import read_json
from regard.lab.claims import ZOO, experiment, names
from regard.lab.claims.report import anchor, chapter, counted
from regard.lab.claims.running import FIGURE, RESULTS, Results
from regard.train.forecast import duration

HERE = Path(__file__).parent
PAGE = HERE.with_suffix(".md")
HEADING = "## Verdicts"
TABLE = "| claim | | small | full | seeds | device | time of all trials |\n|---|---|---|---|---|---|---|"


def read(folder: Path) -> dict[str, Results]:
    """The results of every claim, in order, then the zoo."""
    return {name: read_json(folder / name / RESULTS) for name in (*names(), ZOO)}


def outdated(found: dict[str, Results], size: str) -> list[str]:
    """Those that are measured in another way by now."""
    return [name for name, results in found.items() if not experiment(name).fits(results, size)]


def row(small: Results, full: Results) -> str:
    cells = [
        *(f"[{full['id']}](#{anchor(full)})", full["claim"], small["verdict"], full["verdict"]),
        *(len(full["seeds"]), full["device"], duration(full["seconds"])),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def page(small: dict[str, Results], full: dict[str, Results]) -> str:
    """The words that are there, a table of both verdicts, then each claim at full size."""
    words, *_ = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    summary = ". ".join(
        f"At {size} size {counted(found.values())}" for size, found in {"small": small, "full": full}.items()
    )
    table = "\n".join([TABLE, *(row(small[name], full[name]) for name in full)])
    chapters = [chapter(each, f"lab/pictures/{name}") for name, each in full.items()]
    return "\n\n".join([words + HEADING, f"{summary}.", table, *chapters]) + "\n"


def main(small: str, full: str) -> None:
    found = {"small": read(Path(small)), "full": read(Path(full))}
    for size, results in found.items():
        if old := outdated(results, size):
            print(f"{size}: {', '.join(old)}: measured in another way by now; run them again", file=sys.stderr)
    pictures = HERE / "pictures"
    pictures.mkdir(exist_ok=True)
    for name in found["full"]:
        for ending in (".svg", "-dark.svg"):
            shutil.copyfile(Path(full) / name / f"{FIGURE}{ending}", pictures / f"{name}{ending}")
    PAGE.write_text(page(**found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
