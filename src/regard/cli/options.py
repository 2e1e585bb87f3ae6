"""What several commands take, each described once: runs, device, JSON, settings, and how text is made."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.errors import UserError


def flag(about: str) -> Parameter:
    """Given or not; there is no --no-... form."""
    return Parameter(help=about, negative=(), show_default=False)


def repeated(about: str, name: str | None = None) -> Parameter:
    """One value each time it is given."""
    return Parameter(name=name, help=about, negative=(), show_default=False)


def several(about: str, *, shown: bool = False) -> Parameter:
    """All the values that follow, at least one."""
    return Parameter(help=about, consume_multiple=1, negative=(), show_default=shown)


Run = Annotated[Path, Parameter(help="Folder of the run.")]
Runs = Annotated[list[Path], several("Folder of the run; several are averaged as an ensemble.")]
Device = Annotated[str, Parameter(help="auto, cpu, cuda, cuda:1, mps.")]
Json = Annotated[bool, flag("Print JSON.")]
Trees = Annotated[
    Path | None,
    Parameter(help="Of a run that looks at trees: a CoNLL-U file, whose sentences are read in place of texts."),
]
Force = Annotated[bool, flag("Overwrite the run that is there.")]
Settings = Annotated[
    tuple[str, ...],
    repeated("A setting as section.key=value; the value is TOML. May be given several times.", name="--set"),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """How text is made; what is not given comes from the run's [decode] section."""

    max_tokens: int | None = None
    "Stop after so many tokens."
    temperature: float | None = None
    "0 takes the likeliest token; higher draws more freely."
    top_k: int | None = None
    "Draw from the K likeliest tokens."
    top_p: float | None = None
    "Draw from the likeliest tokens that together have probability P."
    min_p: float | None = None
    "Draw from tokens at least P times as likely as the likeliest."
    repetition_penalty: float | None = None
    "Above 1, tokens that are there already become less likely."
    beam: int | None = None
    "Keep the N best beginnings."
    length_penalty: str | None = None
    "none, average, or gnmt:EXPONENT."

    @property
    def given(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def over(self, settings: Any) -> Any:
        """The run's settings with what was given put in; what does not go together with that steps back."""
        given = self.given
        if given.get("beam", 1) > 1:
            given = {"temperature": 0.0, "repetition_penalty": 1.0, **given}
        if given.get("temperature", 0) > 0:
            given = {"beam": 1, **given}
        if given.get("beam") == 1:
            given = {"coverage_penalty": 0.0, **given}
        if given.get("temperature") == 0:
            given = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, **given}
        made = replace(settings, **given)
        if "length_penalty" in given and made.beam == 1:
            raise UserError(f"--length-penalty {made.length_penalty}: one text alone is not weighed; give --beam too")
        return made


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TranslateOptions(DecodeOptions):
    """What can be said besides where there is a source to look at."""

    coverage_penalty: float | None = None
    "With a beam: how much it minds source words that a translation did not look at; 0 not at all."
    replace_unknown: bool | None = None
    "Write each unknown word of a translation as the source word that it looked at most."
