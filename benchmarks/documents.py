"""Long documents summed up by the five systems of the lectures' table (S13, C20): perplexity and ROUGE-L of each.

    python benchmarks/documents.py [SCITLDR] [--data articles scitldr] [--rows NAME ...] [--scale full small tiny]
        [--seeds 0] [--steps N] [--seconds S] [--workers N] [--device cuda] [--out FOLDER]

SCITLDR is a folder with train.jsonl, dev.jsonl and test.jsonl of that data set; `articles` needs none.

| row | reads of a document | |
|---|---|---|
| seq2seq-attention | 500 tokens | an encoder-decoder of LSTMs with attention |
| transformer-ed | 500 | an encoder and a decoder |
| transformer-d | 4,000 | a decoder alone |
| dmca | 11,000 | the same with local blocks and compressed memory in turn: L M L M L |
| dmca-moe | 7,500 | the same with 128 experts in place of each feed-forward layer |
| dmca-moe-128, dmca-moe-256 | 11,000, 7,500 | with 128 and 256 experts; only when asked for |

Of `articles` the test are 200 documents of about 10,900 tokens, the same for all rows: what a summary needs stands all
over them, and a row sees of it what it can read. A decoder's row of tokens holds the summary too. All rows learn from
the same documents in the same three stages, short ones first, by as many steps of as many tokens. Of SciTLDR, whose
abstracts are short, every row reads all. Models have about the same size, experts left aside.

`--scale small` takes documents and inputs 11 times shorter, for a CPU. Each training is given `--seconds` in all, of
which its stages have their shares. Perplexity is that of the first reference; ROUGE-L takes the best of several. What
was measured stands in FOLDER/results.json and is not measured again; the tables go to FOLDER/documents.md.
"""

import argparse
import math
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from document_data import baselines, corpus, read, references, write_articles, write_scitldr
from document_plans import DATA, ROWS, SCALES, USUAL, plan, tested_on
from trials import Plan, Result, device_of, ended, kept, parser, spread, table, trained


def measure(plan: Plan, folder: Path) -> Result:
    """Train one model, stage after stage, and let it sum up the test."""
    import regard
    from regard.systems import parameters

    with tempfile.TemporaryDirectory() as place:
        out, figures = trained((found(stage, folder) for stage in plan["stages"]), Path(place), "documents.py")
        run = regard.load(out, device=device_of(plan["stages"][-1]))
        told = tested(run, folder / plan["test"])
    return {**told, "parameters": parameters(run.model), **of_training(figures)}


def found(stage: Plan, folder: Path) -> Plan:
    """A stage whose files are where they were written."""
    return {**stage, "data": {key: str(folder / name) if "." in name else name for key, name in stage["data"].items()}}


def of_training(told: list[Result]) -> Result:
    """Over all stages."""
    return {
        "steps": [each["steps"] for each in told],
        "tokens": sum(each["tokens"] for each in told),
        "train_seconds": round(sum(each["seconds"] for each in told), 1),
        "stage_seconds": [round(each["seconds"], 1) for each in told],
        "peak_memory_bytes": max(each["peak_memory_bytes"] for each in told),
        "device": told[-1]["device"],
    }


def tested(run: Any, path: Path) -> Result:
    """Perplexity of the first reference by token, ROUGE-L of what is written greedily, and some of it to read."""
    from regard.data.sources import Source
    from regard.evaluate.job import Job
    from regard.evaluate.likelihood import likelihood
    from regard.evaluate.rouge import rouge_l
    from regard.evaluate.translating import translated

    rows = read(path)
    sources = [as_read(run, row["source"]) for row in rows]
    records = list(zip(sources, [row["target"] for row in rows], strict=True))
    began = time.perf_counter()
    told, _ = likelihood(job := Job(run, Source(path.name, lambda: iter(records), len(records))), job.source)
    scored = time.perf_counter()
    summaries, lost = translated(run, sources, None)
    return {
        "perplexity": math.exp(told["loss"]),
        "rouge_l": rouge_l(summaries, [references(row) for row in rows]),
        "documents": len(rows),
        **lost,
        "likelihood_seconds": round(scored - began, 1),
        "decode_seconds": round(time.perf_counter() - scored, 1),
        "examples": [{"written": a, "reference": b} for a, (_, b) in zip(summaries[:3], records, strict=False)],
    }


def as_read(run: Any, text: str) -> str:
    """As much as the run was trained to read, of a system that would read any length; others cut it themselves."""
    if run.model.limit is not None:
        return text
    ends = run.tokenizer.encode_with_offsets(text).offsets[: run.model.context - 1]
    return text[: ends[-1][1]] if ends else text


def markdown(results: list[Result], beside: dict[str, dict[str, float]]) -> str:
    """A table for each data set: means and spreads over seeds."""
    head = ["", "input", "parameters", "perplexity", "ROUGE-L", "steps", "target tokens", "seconds"]
    parts = []
    for data in DATA:
        mine = [each for each in results if each["plan"]["data"] == data]
        rows = {name: [each for each in mine if each["plan"]["row"] == name] for name in ROWS}
        lines = [[f"`{name}`", *cells(same)] for name, same in rows.items() if same]
        lines += [[name, "", "", "", f"{score:.1f}", "", "", ""] for name, score in beside.get(data, {}).items()]
        if mine:
            parts.append(f"{data}: {mine[0]['documents']} documents, on {mine[0]['device']}\n\n{table(head, *lines)}")
    return "\n\n".join(parts) + "\n"


def cells(same: list[Result]) -> list[str]:
    first = same[0]
    return [
        f"{first['plan']['stages'][-1]['system']['context']:,}",
        f"{first['parameters']:,}",
        spread([each["perplexity"] for each in same], 3),
        spread([each["rouge_l"] for each in same], 1),
        " + ".join(map(str, first["steps"])),
        f"{statistics.mean(each['tokens'] for each in same):,.0f}",
        f"{statistics.mean(each['train_seconds'] for each in same):.0f}",
    ]


def arguments() -> argparse.Namespace:
    about = parser(__doc__, "documents-benchmark", seeds=[0], steps="stage")
    about.add_argument("scitldr", type=Path, nargs="?", help="the folder of SciTLDR")
    about.add_argument("--data", nargs="+", choices=DATA, default=["articles"])
    about.add_argument("--rows", nargs="+", choices=list(ROWS), default=USUAL)
    about.add_argument("--scale", choices=list(SCALES), default="full")
    about.add_argument("--device", default="auto")
    about.add_argument("--compile", action="store_true", help="compile training steps; by default nothing is compiled")
    given = about.parse_args()
    if "scitldr" in given.data and given.scitldr is None:
        about.error("--data scitldr needs the folder of SciTLDR")
    return given


def main() -> None:
    given = arguments()
    scale = SCALES[given.scale]
    of = {data: corpus(data, given.scitldr) for data in given.data}
    rows = [(data, seed, name) for data in given.data for seed in given.seeds for name in given.rows]
    wanted = [plan(data, name, seed, given) | of[data] for data, seed, name in rows]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if "articles" in given.data:
            write_articles(folder, scale)
        if "scitldr" in given.data:
            write_scitldr(folder, scale, given.scitldr)
        results = kept(wanted, partial(measure, folder=folder), given.out, workers=given.workers, tell=told)
        tables = markdown(results, {data: baselines(data, folder / tested_on(data, scale)) for data in given.data})
    (given.out / "documents.md").write_text(tables)
    print(tables)


def told(result: Result) -> str:
    of = result["plan"]
    return f"{of['data']} {of['row']} {of['seed']} {result['perplexity']:.3f} {result['rouge_l']:.1f}"


if __name__ == "__main__":
    ended(main)
