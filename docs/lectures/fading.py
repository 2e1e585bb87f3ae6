"""The figure of recurrence: an unrolled RNN, and how gradients fade or grow on their way back through it."""

import torch
from sheet import WORDS, Axis, Sheet, curves

from regard.blocks.recurrent import RecurrentLayer
from regard.lab.claims.panels import Theme
from regard.tap import record


def recurrence(theme: Theme) -> Sheet:
    sheet = Sheet(860, 440, theme, "An unrolled RNN, and how its gradient fades or grows with distance")
    sheet.text(20, 24, "Unrolled: a state waits for the one before it", size=14, bold=True, at="start")
    for step, word in enumerate(WORDS):
        x = 90 + 108 * step
        if step:
            sheet.line([(x - 78, 80), (x - 30, 80)], arrow=True)
        sheet.line([(x, 124), (x, 98)], arrow=True)
        sheet.box(x, 80, 58, 34, f"h{step + 1}")
        sheet.text(x, 52, f"step {step + 1}", size=10, colour="faint")
        sheet.text(x, 134, word)
    rnn = {f"U × {scale}": fading("rnn", scale=scale) for scale in (0.8, 1.0, 1.2)}
    lstm = {f"f = {gate:.2f}": found for gate, found in (opened(bias) for bias in (1.0, 3.0, 5.0))}
    across = Axis(0, 28, (0, 7, 14, 21, 28), ("0", "7", "14", "21", "28"), "distance in tokens")
    up = Axis(
        -4, 3, range(-4, 4), ("1/10⁴", "1/1000", "1/100", "1/10", "1", "10", "100", "1000"), "size of the gradient"
    )
    for x, title, found in ((80, "RNN: its matrix at each step", rnn), (500, "LSTM: its forget gates", lstm)):
        sheet.text(x - 60, 178, title, size=14, bold=True, at="start")
        curves(sheet, (x, 202), (270, 190), across, up, found)
    return sheet


def fading(cell: str, *, scale: float = 1.0, bias: float = 0.0, length: int = 29) -> list[tuple[float, float]]:
    """log10 of how much the last state depends on each token before it; on the last one itself it is 1."""
    layer = RecurrentLayer(cell, 8, 8)
    into, again, extra, _ = layer.fused.all_weights[0]
    with torch.no_grad():
        into.copy_(torch.eye(8).repeat(len(into) // 8, 1))
        again.copy_(scale * torch.eye(8) if cell == "rnn" else torch.zeros_like(again))
        if cell == "lstm":
            extra[8:16] = bias
    x = torch.zeros(1, length, 8, requires_grad=True)
    slope = torch.autograd.grad(layer(x, None, None)[0][0, -1].sum(), x)[0][0].norm(dim=-1).flip(0)
    return [(float(n), float(value)) for n, value in enumerate((slope / slope[0]).log10())]


def opened(bias: float) -> tuple[float, list[tuple[float, float]]]:
    """How far a forget gate with this bias is open, seen by the tap, and how the gradient fades."""
    layer = RecurrentLayer("lstm", 1, 1)
    with torch.no_grad(), record(layer, "gates") as seen:
        layer.fused.all_weights[0][2][1] = bias
        layer(torch.zeros(1, 1, 1), None, None)
    return float(seen["gates"][0, 0, list(layer.cell.gates).index("forget")]), fading("lstm", bias=bias)
