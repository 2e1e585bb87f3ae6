"""What a tokenizer that was made elsewhere does otherwise than ours (B1)."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Habits:
    """What a tokenizer that was made elsewhere does otherwise.

    `symbols` are the names that our special symbols have there: one of theirs may be several of ours, and where nothing
    is unknown that name is empty. A model may have vectors for more tokens than there are: `rows` of them; or for
    fewer: what is numbered beyond them, steps on the way to longer tokens, is unknown to it. Every text begins with the
    symbols `lead`, which a model writes by itself unless they are `forced`, and a prompt that is not empty with the
    start symbol only where one `opens` it. The tokens `never` are not written, whatever the model says. What is written
    has the end symbol, and the tokens `ends` end it too. Between two texts of a row the end symbol stands `parted`
    times; where that is more than once, nothing else tells them apart.

    `target` is the JSON of what cuts targets, where that is another rule: tokens and numbers are the same. `files` are
    those that say both rules to others, in base64.
    """

    symbols: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    lead: tuple[str, ...] = ()
    forced: bool = True
    opens: bool = True
    never: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    parted: int = 1
    target: str = ""
    files: dict[str, str] = field(default_factory=dict)
