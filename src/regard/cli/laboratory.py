"""The laboratory: the lectures' claims as experiments."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from regard.cli.options import Json, flag
from regard.cli.output import emit, note, rows
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.lab.claims.running import Results


def lab(
    claims: Annotated[
        list[str] | None, Parameter(help="Ids such as C7, or all, or bugs; without one, the list of claims.")
    ] = None,
    /,
    *,
    size: Annotated[
        Literal["small", "full"],
        Parameter(help="small: minutes on two cores; full: the honest size, for half an hour or a GPU."),
    ] = "small",
    seeds: Annotated[int | None, Parameter(help="Run each so many times at least: 2 when small, else 3.")] = None,
    out: Annotated[Path, Parameter(help="Folder of the results; given again, it goes on there.")] = Path("runs/lab"),
    jobs: Annotated[int, Parameter(help="Trials side by side; 0: two, where there are two cores.")] = 0,
    quiet: Annotated[bool, flag("No progress.")] = False,
    json: Json = False,
) -> int:
    """Run the lectures' claims: a figure, the numbers behind it, a verdict. Exit 1 when one has no verdict."""
    from regard.lab.claims import chosen
    from regard.lab.claims.experiment import SEEDS
    from regard.lab.claims.report import standing, unjudged, write_report
    from regard.lab.claims.running import lab as opened

    if not claims:
        if seeds is not None or jobs or quiet:
            raise UserError("--seeds, --jobs and --quiet are for claims that are run: name some, such as C7, or all")
        table, shown = listed(out, size), ("claim", "minutes", "last_verdict", "about", "lectures")
        emit(table, json, lambda: rows(table, shown, spare=("lectures",)))
        if not any(each["last_verdict"] for each in table):
            note(f"nothing was run in {out} yet; 'regard lab C7' runs one")
        return 0
    asked = chosen(claims)
    if jobs > 1 and all(each.timed for each in asked):
        raise UserError(f"--jobs {jobs}: trials that are timed ({', '.join(each.id for each in asked)}) run alone")
    say, alone = (lambda line: None) if quiet else note, len(asked) == 1
    place = opened(out, size=size, seeds=SEEDS[size] if seeds is None else seeds, jobs=jobs, say=say)
    if alone and not (quiet or json):
        foretold(asked[0].said(size))
    results = place.run(asked, ended=lambda found: None if alone else say(f"{found['id']}: {found['sentence']}"))
    emit(results, json, lambda: show(results, out / size))
    note("  ".join(map(str, write_report(standing(out / size), place.failed, out / size))))
    for line in unjudged(place.failed):
        note(line)
    return 1 if place.failed else 0


def listed(out: Path, size: str) -> list[dict[str, Any]]:
    """Every claim and the zoo: the minutes they take at this size, two trials at a time, and what came out last."""
    from regard.lab.claims import ZOO, experiment, experiments
    from regard.lab.claims.experiment import SEEDS
    from regard.lab.claims.running import RESULTS, read
    from regard.lectures import entries

    lectures, table = {entry.id: entry.text for entry in entries()}, []
    for each in (*experiments().values(), experiment(ZOO)):
        trials = 1 if each.together else len(each.arms) * SEEDS[size]
        beside = 1 if each.timed else min(2, trials)
        last = [
            f"{found['verdict']} ({kind}{'' if each.stands(found) else ', outdated'})"
            for kind in SEEDS
            if (found := read(out / kind / each.id / RESULTS))
        ]
        table.append(
            {
                "claim": each.id,
                "about": each.claim,
                "lectures": lectures.get(each.id, "-"),
                "minutes": round(each.at(size).seconds * trials / 60 / beside, 1),
                "last_verdict": ", ".join(last),
            }
        )
    return table


def foretold(said: dict[str, Any]) -> None:
    """Claim, predictions and rule, before anything runs."""
    note(f"{said['id']}  {said['claim']}\n{said['method']}")
    for number, line in enumerate(said["predictions"], 1):
        note(f"  prediction {number}: {line}")
    note(f"  refuted if {said['refuted_by']}\n  {said['rule']}\n")


def show(results: "list[Results]", out: Path) -> None:
    from regard.lab.claims.report import told
    from regard.lab.claims.running import FIGURE, NUMBERS, RESULTS

    for each in results:
        print(f"\n{each['id']}  {each['claim']}\n\n{each['sentence']}\n")
        for line in told(each):
            print(f"  {line}")
        print(f"\n{out / each['id']}/{FIGURE}.svg  {FIGURE}.png  {NUMBERS}  {RESULTS}")
