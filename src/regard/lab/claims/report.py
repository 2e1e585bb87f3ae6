"""The report of many experiments: what came out of each, with its figure, as Markdown and as one page of HTML."""

import base64
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from textwrap import fill

from regard.checkpoint import write
from regard.lab import claims
from regard.lab.claims import ZOO
from regard.lab.claims.experiment import HALF, NOT, RULE, TRUE
from regard.lab.claims.running import FIGURE, NUMBERS, RESULTS, Results, read
from regard.train.forecast import duration

REPORT = "report"
CODE = re.compile("`([^`]*)`")
SPECIAL = re.compile(r"[*_`<>|\\#\[\]]|[-+](?= )")  # to Markdown, in what a model wrote
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #5c6570; --line: #c8ccd1 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #14171c; --faint: #a4acb6; --line: #454b54 } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 66rem;
  margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); vertical-align: top }
img { max-width: 100% } section { border-top: 1px solid var(--line); margin-top: 2rem }
.faint { color: var(--faint) } a { color: inherit } code { font-size: .9em }
"""


def standing(out: Path) -> list[Results]:
    """The results in a folder that are measured and judged as it is done now: of claims in order, then of the zoo."""
    found = {name: read(out / name / RESULTS) for name in (*claims.names(), ZOO)}
    return [each for name, each in found.items() if each and claims.experiment(name).stands(each)]


def write_report(results: list[Results], failed: dict[str, str], out: Path) -> list[Path]:
    """Both files, in the folder that holds the experiments'. Those that `failed`, by their ids, are named too."""
    pages = {f"{REPORT}.md": markdown(results, failed), f"{REPORT}.html": html(results, failed, out)}
    for name, text in pages.items():
        write(out / name, text.encode())
    return [out / name for name in pages]


def markdown(results: list[Results], failed: dict[str, str]) -> str:
    """A table of all, then each by itself."""
    parts = [f"# The laboratory: {counted(results)}", *(filled(line) for line in unjudged(failed)), filled(RULE)]
    parts.append("| claim | | verdict | seeds | time |\n|---|---|---|---|---|")
    parts[-1] += "".join(
        f"\n| [{each['id']}](#{anchor(each)}) | {each['claim']} | {each['verdict']} | {len(each['seeds'])} "
        f"| {duration(each['seconds'])} |"
        for each in results
    )
    for each in results:
        place = each["id"]
        files = ", ".join(f"[{name}]({place}/{name})" for name in (NUMBERS, RESULTS))
        parts.append(f"{chapter(each, f'{place}/{FIGURE}')}\n- {files}")
    return "\n\n".join(parts) + "\n"


def heading(results: Results) -> str:
    return f"{results['id']}: {results['title']}"


def anchor(results: Results) -> str:
    """What a link to its heading names."""
    return re.sub(r"[^\w\- ]", "", heading(results).lower()).replace(" ", "-")


def filled(text: str, later: str = "") -> str:
    """In lines as long as a page of source has; `later` begins all but the first."""
    return fill(text, 120, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)


def chapter(results: Results, figure: str) -> str:
    """One experiment; `figure` is where its pictures lie, without their endings."""
    picture = (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{figure}-dark.svg">\n'
        f'<img src="{figure}.svg" alt="{escape(results["title"])}">\n</picture>'
    )
    lines = "\n".join(filled(f"- {line}", "  ") for line in told(results))
    sentence = SPECIAL.sub(r"\\\g<0>", results["sentence"])
    words = [f"*{results['claim']}*", results["method"], f"**{sentence}**"]
    claim, method, sentence = (filled(text) for text in words)
    return "\n\n".join([f"## {heading(results)}", claim, method, sentence, picture, lines])


def told(results: Results) -> Iterator[str]:
    """What was predicted, what would change the verdict, and how it was made."""
    for number, each in enumerate(results["held"], 1):
        seeds = list(each["seeds"].values())
        held = f"held for {sum(seeds)} of {len(seeds)} seeds" if seeds else "not asked"
        yield f"prediction {number}: {each['says']}: {held}"
    for name, package in results["left_out"].items():
        yield f"left out: {name}, which needs the package `{package}`"
    yield f"refuted if {results['refuted_by']}"
    yield f"what would change it: {results['otherwise']}"
    timed = f", times ({', '.join(results['timed'])}) apart" if results["timed"] else ""
    yield (
        f"`{results['command']}` on {results['device']}, {duration(results['seconds'])} in all trials together; "
        f"numbers `{results['fingerprint']}`{timed}; with {', '.join(map(' '.join, results['versions'].items()))}"
    )


def counted(results: Iterable[Results]) -> str:
    """`25 claims: 18 true here, 5 half true, 2 not seen at this size`; the zoo is no claim."""
    words = [each["verdict"] for each in results if each["id"] != ZOO]
    claims = "1 claim" if len(words) == 1 else f"{len(words)} claims"
    counts = ", ".join(f"{words.count(word)} {word}" for word in (TRUE, HALF, NOT) if word in words)
    return f"{claims}: {counts}" if counts else claims


def unjudged(failed: dict[str, str]) -> Iterator[str]:
    for name, why in failed.items():
        yield f"{name} has no verdict: {why}"


def html(results: list[Results], failed: dict[str, str], out: Path) -> str:
    """One page that needs nothing else: figures are inside, light and dark."""
    rows = "".join(
        f'<tr><td><a href="#{each["id"]}">{each["id"]}</a><td>{escape(each["claim"])}<td>{each["verdict"]}'
        f"<td>{len(each['seeds'])}<td>{duration(each['seconds'])}"
        for each in results
    )
    missing = "".join(f"<p>{escape(line)}" for line in unjudged(failed))
    sections = "".join(section(each, out) for each in results)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The laboratory</title><style>{STYLE}</style><h1>The laboratory</h1><p>{escape(counted(results))}</p>"
        f"<p class=faint>{escape(RULE)}</p>"
        f"{missing}<table><tr><th>claim<th><th>verdict<th>seeds<th>time{rows}</table>{sections}</html>\n"
    )


def section(results: Results, out: Path) -> str:
    lines = CODE.sub(r"<code>\1</code>", "".join(f"<li>{escape(line)}" for line in told(results)))
    return (
        f'<section id="{results["id"]}"><h2>{results["id"]}: {escape(results["title"])}</h2>'
        f"<p>{escape(results['claim'])}<p class=faint>{escape(results['method'])}"
        f"<p><strong>{escape(results['sentence'])}</strong>"
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{inside(out / results["id"], "-dark")}">'
        f'<img alt="{escape(results["title"])}" src="{inside(out / results["id"], "")}"></picture>'
        f"<ul class=faint>{lines}</ul></section>"
    )


def inside(folder: Path, ending: str) -> str:
    """The figure as part of the page."""
    content = (folder / f"{FIGURE}{ending}.svg").read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}"
