"""The commands that bring in models of others, and give ours to others."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Force, Json, flag
from regard.cli.output import emit, note


def import_(
    source: Annotated[Path, Parameter(help="Folder or file of a model; docs/importing.md lists what can be read.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder of the run that it becomes.")],
    check: Annotated[bool, flag("Hold it against 'transformers'. Exit 1 when the two differ.")] = False,
    allow: Annotated[
        list[str] | None, Parameter(help="Tensors that may be unused or missing: a pattern of their names there.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Make a run of a model that was trained elsewhere, to use it or to start from it."""
    from regard.interop import import_model

    found = import_model(source, out, force=force, allow=tuple(allow or ()), check=check)
    facts = described(out, found)
    if (compared := found.compared) is not None:
        facts["check"] = {"passed": compared.passed, **asdict(compared)}
    emit(facts, json, lambda: print(out))
    if not json:
        tell(facts, found.recipe)
        if compared is not None:
            note(f"beside transformers: {compared.said}")
    return 0 if compared is None or compared.passed else 1


def described(out: Path, found: Any) -> dict[str, Any]:
    """What was imported, as `--json` prints it."""
    tree = found.recipe.to_dict()
    return {
        "run": str(out),
        "system": tree["system"]["kind"],
        "objective": tree["objective"]["kind"],
        "parameters": sum(parameter.numel() for parameter in found.model.parameters()),
        "vocabulary": len(found.tokenizer),
        "remarks": found.about["remarks"],
        "left_out": found.about["left_out"],
        "content": found.about["content"],
    }


def tell(facts: dict[str, Any], recipe: Any) -> None:
    """The same in words."""
    note(
        f"{facts['system']}: {facts['parameters']:,} parameters, {facts['vocabulary']:,} tokens, "
        f"objective '{facts['objective']}'"
    )
    for remark in facts["remarks"]:
        note(remark)
    if facts["left_out"]:
        note(f"left out: {', '.join(facts['left_out'])}")
    note(f"next: {following(recipe.objective).replace('{}', shlex.quote(facts['run']))}")


def following(objective: Any) -> str:
    """The command that most will type next."""
    from regard.objectives import Classification, Masked, NextToken, Tagging, Translation

    for kind, command in (
        (Translation, 'regard translate {} --text "..."'),
        (NextToken, 'regard generate {} --prompt "..."'),
        (Masked, 'regard fill {} --text "... <mask> ..."'),
        (Classification, 'regard classify {} --text "..."'),
        (Tagging, 'regard tag {} --text "..."'),
    ):
        if isinstance(objective, kind):
            return command
    return 'regard embed {} --text "...", or regard train bert --from {} --set objective.kind=classification'


def export(
    run: Annotated[Path, Parameter(help="Folder of the run.")],
    /,
    *,
    to: Annotated[str, Parameter(help="hf, for 'transformers'; ct2, for CTranslate2; onnx, for any runtime of it.")],
    out: Annotated[Path, Parameter(help="Folder to write to.")],
    force: Annotated[bool, flag("Overwrite an export that is there.")] = False,
    json: Json = False,
) -> None:
    """Write a run as another library reads it; both must then write the same texts."""
    from regard.interop import export_model

    found = export_model(run, out, to=to, force=force)
    emit({"out": str(out), "to": to, "kind": found.kind, **asdict(found.compared)}, json, lambda: print(out))
    if not json:
        note(f"{found.kind}: {found.compared.said}")
