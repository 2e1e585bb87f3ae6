"""Sources to batches."""

from regard.data.batch import IGNORE, Batch
from regard.data.batching import Batcher, Documents, Labelled, Pairs, Pieces, Windows
from regard.data.corpora import CORPORA
from regard.data.splits import Data, splits

__all__ = [
    "CORPORA",
    "IGNORE",
    "Batch",
    "Batcher",
    "Data",
    "Documents",
    "Labelled",
    "Pairs",
    "Pieces",
    "Windows",
    "splits",
]
