"""A trace as one page that needs nothing else: the template beside this file with the data put in."""

import json
from pathlib import Path

from regard.explain.plain import to_json
from regard.explain.trace import Trace

TEMPLATE = Path(__file__).with_name("page.html")


def to_html(trace: Trace) -> str:
    return TEMPLATE.read_text(encoding="utf-8").replace("__DATA__", embedded(to_json(trace)), 1)


def embedded(value: object) -> str:
    """JSON for a `<script>` element: no text in it can end the element or begin a comment."""
    plain = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
