"""What `regard explain` does."""

import json
from pathlib import Path
from typing import Any

from regard import explain as work
from regard.cli.output import note
from regard.cli.using import load_runs
from regard.errors import UserError
from regard.evaluate import translations


def explained(
    run: Path,
    *,
    text: str | None,
    source: str | None,
    target: str | None,
    to: tuple[str, ...],
    steps: bool,
    layer: int,
    head: int,
    word: str | None,
    device: str,
) -> None:
    model = load_runs([run], device)[0]
    if model.model.reads_source and source is not None and target is None:
        target = translations(model, [source], None)[0]
        note(f"target, as the model translates: {target}")
    given = {"text": text, "source": source, "target": target}
    if steps:
        show_steps(model, given, layer=layer, head=head, word=word)
    if to or not steps:
        write(work.trace(model, **given), to or ("json",))


def show_steps(model: Any, given: dict[str, str | None], *, layer: int, head: int, word: str | None) -> None:
    from rich.console import Console

    words = (given["text"] or given["source"] or "").split()
    if word is None and not words:
        raise UserError("--steps needs a text: --text for a language model, --source for a translator")
    console = Console(highlight=False, soft_wrap=True)
    for part in work.steps(model, **given, layer=layer, head=head, word=word or words[-1]):
        console.print(part)


def write(trace: Any, targets: tuple[str, ...]) -> None:
    """Pictures and data to the files named; the bare word `json` means standard output."""
    for target in targets:
        if target == "json":
            print(json.dumps(work.to_json(trace), ensure_ascii=False))
        else:
            work.draw(trace, Path(target))
            note(f"wrote {target}")
