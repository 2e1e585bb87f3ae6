"""The command that brings in models of others."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Force, Json, flag
from regard.cli.output import emit, note


def import_(
    source: Annotated[
        Path,
        Parameter(help="Folder of a BERT as Hugging Face keeps it: config.json, model.safetensors, tokenizer."),
    ],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder of the run that it becomes.")],
    check: Annotated[bool, flag("Compare its vectors with those of 'transformers'. Exit 1 when they differ.")] = False,
    force: Force = False,
    json: Json = False,
) -> int:
    """Make a run of a model that was trained elsewhere, to use it or to start from it."""
    from regard.checkpoint import load
    from regard.interop import import_model
    from regard.interop.checking import compare, library

    if check:
        library()  # before anything is written
    found = import_model(source, out, force=force)
    compared = compare(load(out), source) if check else None
    facts = described(out, found)
    if compared is not None:
        facts["check"] = {"passed": compared.passed, **asdict(compared)}
    emit(facts, json, lambda: print(out))
    if not json:
        tell(facts)
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


def tell(facts: dict[str, Any]) -> None:
    """The same in words."""
    note(
        f"{facts['system']}: {facts['parameters']:,} parameters, {facts['vocabulary']:,} tokens, "
        f"objective '{facts['objective']}'"
    )
    for remark in facts["remarks"]:
        note(remark)
    if facts["left_out"]:
        note(f"left out: {', '.join(facts['left_out'])}")
    if check := facts.get("check"):
        tokens = "the same tokens" if check["same_tokens"] else "OTHER TOKENS"
        far = "" if check["difference"] <= check["tolerance"] else f": MORE than {check['tolerance']:.1e}"
        note(f"beside transformers: {tokens}, vectors differ by {check['difference']:.1e} at most{far}")
    note(f"next: regard train {facts['system']} --from {shlex.quote(facts['run'])} --set objective.kind=classification")
