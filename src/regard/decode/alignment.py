"""What a translation looks at in its source while it is made.

The weights of the decoder's last attention to the source, averaged over its heads, and over the members of an ensemble.
They are recorded through its tap, beside the fast kernel.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from regard.attention.look import Look
from regard.decode.ensemble import Ensemble
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.shapes import Float, Int, Tensor
from regard.systems import System
from regard.tap import Recording, record


@contextmanager
def looking(model: System, sources: list[list[int]]) -> "Iterator[Looks]":
    """Looks at these sources, of a session that lives inside: it is listened to as long."""
    with record(model, *alignment_taps(model)) as seen:
        yield Looks(seen, sources, model.device)


class Looks:
    """Where each row looks: `newest` at its last step, `total` summed over all steps, both `[b s]`.

    The last token of each source is its end symbol: it is looked at like any other and never taken for a word.
    """

    def __init__(self, seen: Recording, sources: list[list[int]], device: torch.device):
        self.seen = seen
        self.lengths = torch.tensor([len(source) for source in sources], device=device)
        self.index = torch.arange(max(map(len, sources)), device=device)
        self.newest = torch.zeros(len(sources), len(self.index), device=device)
        self.total = self.newest

    @contextmanager
    def watching(self, last: Int[Tensor, "b"], count: int) -> Iterator[None]:
        """Of the `count` tokens that each row is fed inside, the one at `last` makes the step that is kept."""
        self.seen.clear()
        yield
        shown = [torch.cat(self.seen.all(tap), dim=2)[:, :, -count:] for tap in self.seen]
        steps = torch.stack([weights.float().mean(1) for weights in shown]).mean(0)
        self.newest = steps[torch.arange(len(steps), device=last.device), last]
        self.total = self.total + self.newest

    def select(self, rows: Int[Tensor, "n"]) -> None:
        self.lengths, self.newest, self.total = self.lengths[rows], self.newest[rows], self.total[rows]

    def words(self) -> Int[Tensor, "b"]:
        """The place in the source that each row's newest step looks at most."""
        words = self.index < self.lengths[:, None] - 1
        return self.newest.masked_fill(~words, -1.0).argmax(-1)

    def covered(self) -> Float[Tensor, "b"]:
        """The sum over each source of log(min(total, 1)): 0 when every place was looked at once in all."""
        least = torch.finfo(self.total.dtype).tiny  # a weight may be too small for a float; its logarithm is not
        logs = self.total.clamp(least, 1.0).log()
        return logs.masked_fill(self.index >= self.lengths[:, None], 0.0).sum(-1)


def alignment_taps(model: System) -> list[str]:
    """The tap of the last attention to the source, one for each member of an ensemble."""
    members = {f"members.{i}.": member for i, member in enumerate(model.systems)} if isinstance(model, Ensemble) else {}
    found: dict[System, str] = {}
    for begin, member in (members or {"": model}).items():
        looks = [name for name, part in member.named_modules() if isinstance(part, Look) and part.role == "cross"]
        if not looks:
            raise UserError(
                "this model has no attention to a source: "
                "leave decode.coverage_penalty at 0 and decode.replace_unknown at false"
            )
        found.setdefault(member, f"{begin}{looks[-1]}.weights")
    return list(found.values())


def check_alignment(model: System, settings: Decode, kind: str) -> None:
    """Stop where what is asked of the alignment does not go with the model or with its `kind` of tokens."""
    if settings.aligned:
        alignment_taps(model)
    if settings.replace_unknown and kind != "word":
        raise UserError(f"decode.replace_unknown copies whole words, and text.kind is '{kind}': it goes with 'word'")
