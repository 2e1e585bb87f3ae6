"""A picture of what one word looks at: bars for the mean, below them a strip for each layer and head."""

import numpy as np

from regard.explain.panels import TALL, Bars
from regard.explain.paper import FAINT, MARGIN, axes_at, breadth, drawing, heat, saved, write
from regard.explain.trace import Trace
from regard.explain.words import Look, look_of_word

STRIP = 0.19
LEFT = 1.05


def figure_of_word(trace: Trace, word: str, form: str) -> bytes:
    """As "svg" or "png"."""
    look = look_of_word(trace, word)
    layers, heads, keys = look.weights.shape
    bars = Bars("", "mean weight", look.labels, look.weights.mean((0, 1)), LEFT, look.own)
    strips = (heads + 1) * STRIP
    top = MARGIN + 0.75
    down = top + TALL + breadth(look.labels) * 0.082 + 0.15
    width = max(bars.size[0] + 2 * MARGIN, 7.4)
    height = down + layers * (strips + 0.14) - 0.14 + MARGIN
    with drawing() as Figure:
        sheet = Figure(figsize=(width, height))
        write(sheet, MARGIN, MARGIN + 0.1, f"{trace.run}: what “{look.word.text}” looks at", size=14, weight="bold")
        write(sheet, MARGIN, MARGIN + 0.4, explained(look), size=9, color=FAINT)
        bars.draw(sheet, top)
        for layer, weights in enumerate(look.weights):
            at = down + layer * (strips + 0.14)
            axes = axes_at(sheet, MARGIN + LEFT, at, keys * bars.cell, strips)
            heat(axes, np.vstack([weights.mean(0, keepdims=True), weights]))
            names = [f"layer {layer}, mean", *(f"head {head}" for head in range(heads))]
            axes.set_yticks(np.arange(heads + 1) + 0.5, names, fontsize=8)
            axes.get_yticklabels()[0].set_fontweight("bold")
            axes.tick_params(length=0, pad=3)
        return saved(sheet, form)


def explained(look: Look) -> str:
    within = {"encoder": "within the source", "decoder": "within its text", "cross": "from the target at the source"}
    layers, heads, _ = look.weights.shape
    return f"{look.kind} attention, {within.get(look.kind, '')}; bars: mean of {layers} layers × {heads} heads"
