"""A model of others becomes a run: settings, tokenizer and weights, and no training that could go on."""

from dataclasses import replace
from pathlib import Path

from regard import checkpoint
from regard.checkpoint import ORIGIN, REPORT, WEIGHTS, content_hash, read_tensors, weights
from regard.interop.checking import comparable, compare
from regard.interop.formats import format_of
from regard.interop.imported import Imported
from regard.train.run import may_write, staged, versions


def import_model(
    source: Path | str, out: Path | str, *, force: bool = False, allow: tuple[str, ...] = (), check: bool = False
) -> Imported:
    """Read a foreign model and write it as a run into `out`, which must not hold one already unless `force`.

    Tensors whose name there fits one of the patterns `allow` may be unused or missing. To `check` is to hold what was
    written against 'transformers'; where that cannot be asked, nothing is written.
    """
    folder = Path(out)
    may_write(folder, force=force)
    if check:
        comparable(Path(source))
    found = format_of(Path(source)).read(Path(source), allow)
    with staged(folder) as part:
        if found.kept:
            checkpoint.write_json(part / ORIGIN, found.kept)
        checkpoint.write_model(part, weights(found.model), found.tokenizer)
        found.about["content"] = content_hash(*read_tensors(part / WEIGHTS, found.tokenizer))
        checkpoint.write_json(part / REPORT, {"imported": found.about, "data": {}, "versions": versions()})
        checkpoint.write_setup(part, found.recipe, found.tokenizer, found.labels)
        compared = compare(checkpoint.load(part), source) if check else None
    return replace(found, compared=compared)
