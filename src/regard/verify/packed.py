"""packed = unpacked: documents that share a window do not see each other."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from regard.checkpoint import Run
from regard.data import Batch, Windows
from regard.data.store import Writer
from regard.verify.check import DoesNotApply, Finding, needs_text
from regard.verify.inputs import Inputs

AT_ONCE = 3  # windows


def check(run: Run, inputs: Inputs) -> Finding:
    needs_text(run)
    if run.model.reads_source:
        raise DoesNotApply("a translator is not packed: its batches hold one sentence a row")
    if not run.model.packs:
        raise DoesNotApply("this system is not packed: its batches hold one document a row")
    batch, found = windows(run, inputs).to(run.model.device), Finding([])
    packed = run.model.decode(batch.tokens, at=batch.at)
    for row, cuts in enumerate(boundaries(batch)):
        for a, b in pairwise(cuts):
            alone = run.model.decode(batch.tokens[row : row + 1, a:b])[0]
            found.compare(packed[row, a:b], alone, f"window {row}, document from {a} to {b}", along="token")
            found.lengths.append(b - a)
    return found


def windows(run: Run, inputs: Inputs) -> Batch:
    """The texts as documents one after another, in windows over all of them, packed as for training."""
    with tempfile.TemporaryDirectory() as folder:
        writer = Writer(Path(folder) / "text", len(run.tokenizer))
        for text in inputs.texts:
            writer.add(text)
        packer = Windows([writer.close()], run.tokenizer, batch_tokens=1, context=run.model.context)
        last = len(packer.store.flat) - 1 - packer.width
        return packer.collate(np.unique(np.linspace(0, last, AT_ONCE).astype(np.int64)))


def boundaries(batch: Batch) -> list[list[int]]:
    """Where each window's documents begin, and its end. Without a document rule the window is one document."""
    rows, width = batch.tokens.shape
    if batch.at is None or batch.at.document is None:
        return [[0, width]] * rows
    changes = batch.at.document.diff(dim=1) != 0
    return [[0, *(1 + i for i, change in enumerate(row) if change), width] for row in changes.tolist()]
