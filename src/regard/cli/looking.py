"""Commands that look inside runs and check them."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.output import emit, note, rows

Flag = Parameter(negative=())
Several = Parameter(consume_multiple=True, negative=())


def verify(
    run: Path,
    *,
    only: Annotated[tuple[str, ...], Several] = (),
    skip: Annotated[tuple[str, ...], Several] = (),
    device: str = "auto",
    json: Annotated[bool, Flag] = False,
) -> int:
    """Print the certificate of a run: what must be equal, and by how much it differs. Exit 1 when a line fails.

    Parameters
    ----------
    run
        Folder of the run.
    only
        Check these lines alone, by name.
    skip
        Leave these lines out, by name.
    device
        auto, cpu, cuda, cuda:1, mps.
    json
        Print JSON.
    """
    from regard.cli.using import load_runs
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
    figures = f"difference {line.difference:.1e}, tolerance {line.tolerance:.1e}, {line.precision}"
    lengths = " ".join(map(str, line.lengths))
    print(f"{mark:6} {line.name:30} {figures}, lengths {lengths}", flush=True)
    if line.why:
        print(f"       {'':30} {line.why}", flush=True)


def explain(
    run: Path,
    *,
    text: str | None = None,
    source: str | None = None,
    target: str | None = None,
    to: Annotated[tuple[str, ...], Several] = (),
    steps: Annotated[bool, Flag] = False,
    layer: int = 0,
    head: int = 0,
    word: str | None = None,
    device: str = "auto",
) -> None:
    """Show what a model looks at: the attention of every layer and head, and the alignment of a translation.

    Parameters
    ----------
    run
        Folder of the run.
    text
        The text a language model reads.
    source
        The text a translator reads.
    target
        Its translation; without it the model's own is taken.
    to
        Write FILE.html, FILE.svg, FILE.png or FILE.json; `json` alone prints JSON. May name several.
    steps
        Walk through the five steps of attention for one word, with the model's own numbers.
    layer
        With --steps: the layer, from 0.
    head
        With --steps: the head, from 0.
    word
        With --steps: the word; by default the last one.
    device
        auto, cpu, cuda, cuda:1, mps.
    """
    from regard.cli.explaining import explained

    explained(
        run,
        text=text,
        source=source,
        target=target,
        to=to,
        steps=steps,
        layer=layer,
        head=head,
        word=word,
        device=device,
    )


def lectures(*, json: Annotated[bool, Flag] = False) -> None:
    """List everything the lectures describe, by id: what runs here, with its file, preset and test.

    Parameters
    ----------
    json
        Print JSON.
    """
    from regard.lectures import entries

    table = [vars(entry) for entry in entries()]
    emit(table, json, lambda: rows(table, ("id", "what", "state", "file", "preset", "test")))


def bench(
    name: str,
    *,
    systems: Annotated[tuple[str, ...], Several] = ("transformer-tiny", "gpt"),
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    repeats: int = 5,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Measure speed: `step` times training steps, `decode` times generation with the cache and without.

    Parameters
    ----------
    name
        step or decode.
    systems
        Presets to measure.
    set_
        A setting as section.key=value for all of them. May be given several times.
    repeats
        Take the median of so many.
    json
        Print JSON.
    """
    from regard.lab.bench import measure

    table = measure(name, list(systems), list(set_), repeats)
    emit(table, json, lambda: rows(table, tuple(table[0])))
