"""Commands that look inside runs and check them."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Device, Json, Run, Settings, Trees, flag, several
from regard.cli.output import emit, note, rows
from regard.errors import UserError

ONE_THREAD = "train.threads=1"  # of what is measured by length: others may use the other cores


def verify(
    run: Run,
    /,
    *,
    only: Annotated[tuple[str, ...], several("Check these lines alone, by name.")] = (),
    skip: Annotated[tuple[str, ...], several("Leave these lines out, by name.")] = (),
    device: Device = "auto",
    json: Json = False,
) -> int:
    """Print the certificate of a run: what must be equal, and by how much it differs. Exit 1 when a line fails."""
    from regard.cli.reading import load_runs
    from regard.verify import verify as work

    certificate = work(load_runs([run], device)[0], only=only, skip=skip, on_line=None if json else show_line)
    emit(certificate.to_dict(), json, lambda: note("every line holds" if certificate.passed else "a line FAILS"))
    return 0 if certificate.passed else 1


def show_line(line: Any) -> None:
    """One line of the certificate."""
    mark = {"holds": "holds", "fails": "FAILS", "does not apply": "-"}[line.state]
    if line.state == "does not apply":
        print(f"{mark:6} {line.name:30} does not apply: {line.why}", flush=True)
        return
    apart = f"difference {line.difference:.1e}" if line.difference else "no difference"
    figures = f"{apart}, tolerance {line.tolerance:.1e}, {line.precision}"
    lengths = f", lengths {' '.join(map(str, line.lengths))}" if line.lengths else ""
    print(f"{mark:6} {line.name:30} {figures}{lengths}", flush=True)
    if line.why:
        print(f"       {'':30} {line.why}", flush=True)


def explain(
    run: Run,
    /,
    *,
    text: Annotated[str | None, Parameter(help="The text that a language model or a classifier reads.")] = None,
    trees: Trees = None,
    second: Annotated[str | None, Parameter(help="Where a run reads two texts together: the second one.")] = None,
    source: Annotated[str | None, Parameter(help="The text a translator reads.")] = None,
    target: Annotated[str | None, Parameter(help="Its translation; without it the model's own is taken.")] = None,
    to: Annotated[
        tuple[str, ...],
        several(
            "Write FILE.html, FILE.svg, FILE.png or FILE.json; `json` alone prints JSON, as --json does. May name "
            "several. Without it a terminal gets a short account, anything else JSON."
        ),
    ] = (),
    influence: Annotated[
        bool,
        flag("Measure too what each output depends on; for a run without attention that is done in any case."),
    ] = False,
    steps: Annotated[
        bool, flag("Walk through the five steps of attention for one word, with the model's own numbers.")
    ] = False,
    layer: Annotated[int | None, Parameter(help="Of a picture, or with --steps: the layer, from 0.")] = None,
    head: Annotated[int | None, Parameter(help="Of a picture, or with --steps: the head, from 0.")] = None,
    word: Annotated[str | None, Parameter(help="With --steps: the word; by default the last one.")] = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Show what goes on inside: attention, the alignment of a translation, gates, experts, what an output depends on.

    Influence is the size of the gradient of an output's log-probability with respect to the vector of an input token.
    """
    from regard.cli.explaining import PRINTED, Wanted, explained
    from regard.cli.reading import load_runs

    to = (*to, PRINTED) if json and PRINTED not in to else to
    wanted = Wanted(to, influence, steps, layer, head, word)
    wanted.check()
    explained(load_runs([run], device)[0], wanted, text, trees, second, source, target)


def lectures(*, json: Json = False) -> None:
    """List everything the lectures describe, by id: what runs here, with its file, preset and test."""
    from regard.lectures import entries

    table = [vars(entry) for entry in entries()]
    emit(table, json, lambda: show_lectures(table))


def show_lectures(table: list[dict[str, Any]]) -> None:
    rows(table, ("id", "what", "state", "file", "preset", "test"), spare=("file", "test"))
    for row in table:
        if row["missing"]:
            print(f"{row['id']} is here partly; missing: {row['missing']}")


def bench(
    name: Annotated[str, Parameter(help="step, decode, reading or length.")],
    /,
    *,
    systems: Annotated[
        tuple[str, ...],
        several(
            "Presets to measure; by default transformer-tiny and gpt. For `length` also ways of looking, all in one "
            "small model: full, local, bigbird, linformer, dmca (the default), compressed (dmca's other layers alone), "
            "formula (full, with every weight kept)."
        ),
    ] = (),
    lengths: Annotated[tuple[int, ...], several("Of `length`: tokens; by default 1024 2048 4096 8192.")] = (),
    set_: Settings = (),
    repeats: Annotated[int, Parameter(help="Take the median of so many; of `length` the fastest.")] = 5,
    threads: Annotated[int | None, Parameter(help="Of `length`: of the CPU, by default 1.")] = None,
    device: Annotated[str | None, Parameter(help="auto, cpu, cuda, cuda:1, mps.")] = None,
    out: Annotated[
        Path | None, Parameter(help="Of `length`: write figures, table and picture into this folder.")
    ] = None,
    json: Json = False,
) -> int:
    """Measure speed: `step` times training steps, `decode` generation with the cache and without, `reading` a text read
    at once and word by word, `length` time and memory by the length of a text."""
    chosen = [*set_, *([f"train.device={device}"] if device is not None else [])]
    if name == "length":
        threaded = [f"train.threads={threads}"] if threads is not None else []
        return bench_length(systems, [ONE_THREAD, *chosen, *threaded], lengths, repeats, out, json)
    if given := [
        word for word, value in (("lengths", lengths), ("threads", threads), ("out", out)) if value not in (None, ())
    ]:
        raise UserError(f"--{given[0]} belongs to 'bench length'; '{name}' has no use for it")
    from regard.lab.bench import measure

    table = measure(name, list(systems or ("transformer-tiny", "gpt")), chosen, repeats)
    emit(table, json, lambda: rows(table, tuple(table[0])))
    return 0


def bench_length(
    systems: tuple[str, ...], settings: list[str], lengths: tuple[int, ...], repeats: int, out: Path | None, json: bool
) -> int:
    """Exit 1 when one of them failed."""
    from regard.lab.length import LENGTHS, keep, measure

    table = measure(systems, settings, lengths=lengths or LENGTHS, repeats=repeats, say=note)
    emit(table, json, lambda: show_length(table))
    for file in keep(table, out) if out is not None else ():
        note(f"wrote {file}")
    return 1 if any("error" in row for record in table for row in record["rows"]) else 0


def show_length(table: list[dict[str, Any]]) -> None:
    """Tables in a terminal, Markdown elsewhere."""
    from regard.lab.length import figures, markdown, notes, slopes

    if not sys.stdout.isatty():
        print(markdown(table), end="")
        return
    for part in (figures(table), slopes(table)):
        rows(part, tuple(part[0]))
        print()
    for line in notes(table):
        print(line)
