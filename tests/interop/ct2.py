"""Small folders as CTranslate2 keeps them, made here."""

from pathlib import Path
from typing import Any

import ctranslate2

from regard.checkpoint import Run
from regard.interop.ct2.writing import fill, frame, maker


def written(run: Run, folder: Path, *, change: Any = lambda spec: None, quantization: str | None = None) -> Path:
    """A model of theirs made from a run, changed on the way, with a vocabulary and nothing beside it."""
    folder.mkdir()
    spec = maker(run)(run, ctranslate2.specs)
    fill(spec, run)
    frame(spec.config, run)
    words = [run.tokenizer.piece(i) for i in range(len(run.tokenizer))]
    if run.model.reads_source:
        spec.register_source_vocabulary(words)
        spec.register_target_vocabulary(words)
    else:
        spec.register_vocabulary(words)
    change(spec)
    spec.validate()
    spec.optimize(quantization)
    spec.save(str(folder))
    return folder
