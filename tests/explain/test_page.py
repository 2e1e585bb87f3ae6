"""The page draws whole labels: its script run by node, where that is installed, on a document that only keeps count."""

import json
import re
import shutil
import subprocess

import pytest

from regard.explain import trace
from regard.explain.page import to_html
from tests.explain.conftest import make

DOCUMENT = """
class Part {
  constructor() { Object.assign(this, { at: {}, parts: [], style: { setProperty() {} }, classList: { toggle() {} } }); }
  setAttribute(name, value) { this.at[name] = value; }
  append(...parts) { this.parts.push(...parts); }
  replaceChildren(...parts) { this.parts = parts; }
  addEventListener() {}
}
const places = {}, page = JSON.parse(require("fs").readFileSync(0));
const make = () => new Part();
const place = id => places[id] ||= make();
place("data").textContent = page.data;
new Function("document", page.script)({ getElementById: place, createElementNS: make, createElement: make });
const names = ({ parts: [root] }) => root.parts.filter(part => part.at.class === "axis")
  .map(part => ({ text: part.textContent, width: root.at.width, height: root.at.height, ...part.at }));
console.log(JSON.stringify(["lines", "heat"].map(id => names(place(id)))));
"""
LETTER = 6.4  # the width of a letter of 12 pixels, on average


def drawn(html: str) -> list[list[dict]]:
    """The names of the axes of both views, with their places and the size of what they stand in."""
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    given = json.dumps({"data": data, "script": script})
    return json.loads(
        subprocess.run(["node", "-e", DOCUMENT], input=given, capture_output=True, text=True, check=True).stdout
    )


def span(name: dict) -> tuple[float, float, float]:
    """Where the name begins and ends along its line, and how much room there is."""
    turned = re.match(r"translate\(\S+ (\S+)\) rotate\(-90\)", name.get("transform", ""))
    at, room = (float(turned[1]), name["height"]) if turned else (name["x"], name["width"])
    width = LETTER * len(name["text"])
    begin = at - {"middle": width / 2, "end": width}.get(name.get("text-anchor", "start"), 0)
    return begin, begin + width, room


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the page's script")
@pytest.mark.parametrize("texts", [("it", "es"), ("it was", "es war"), ("a b c d e f g h", "weil")])
def test_the_names_of_axes_fit(texts: tuple[str, str]) -> None:
    source, target = texts
    views = drawn(to_html(trace(make("transformer-tiny", kind="word"), source=source, target=target)))
    assert [[name["text"] for name in view] for view in views] == [
        ["looks from, to write", "looks at"],
        ["looks at", "looks from, to write"],
    ]
    for begin, end, room in (span(name) for view in views for name in view):
        assert 0 <= begin < end <= room
