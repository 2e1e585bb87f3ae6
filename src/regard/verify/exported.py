"""exported = native: copies of the run in other formats say the same, read by the libraries they are for."""

from regard.checkpoint import Run
from regard.errors import NotInstalled
from regard.interop.exporting import compare_export, exports
from regard.interop.family import MeansOtherwise
from regard.verify.check import DoesNotApply, Finding, excess
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    """A copy whose library is not installed, or that means something else there however like it short texts are, is
    passed over and named; where that is so of all, the line does not apply."""
    copies = exports(run)
    if not copies:
        raise DoesNotApply("no exported copy of this run exists")
    found, unread = Finding([]), []
    for folder, to in copies.items():
        try:
            compared = compare_export(run, folder, to)
        except (NotInstalled, MeansOtherwise) as error:
            unread.append(f"{folder} was not compared: {error}")
            continue
        difference = compared.difference if compared.same_words else float("inf")
        if not found.where or excess(difference, compared.tolerance) > excess(found.difference, found.tolerance):
            found = Finding([], difference, compared.tolerance, f"{folder}: {compared.said}")
    if not found.where:
        raise DoesNotApply("; ".join(unread))
    found.left_out = "; ".join(unread)
    return found
