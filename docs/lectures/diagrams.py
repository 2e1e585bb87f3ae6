"""Figures of whole systems, read off their modules: the order of a block's parts, who looks at whom, what is asked."""

import numpy as np
import torch
from sheet import Sheet
from torch import nn

from regard.attention.look import Look
from regard.attention.patterns import Sight
from regard.blocks.block import Block
from regard.blocks.residual import PreNorm
from regard.data.corruption import Masking, Spans
from regard.lab.claims.panels import Theme
from regard.place import Place
from regard.systems.bert import Bert
from regard.systems.gpt import Gpt
from regard.systems.system import System
from regard.systems.t5 import T5
from regard.systems.transformer import Transformer

SIZES = {"width": 512, "heads": 8, "hidden": 2048}
PARTS = {"attention": "self-attention", "cross": "cross-attention", "feedforward": "feed-forward"}


def blocks(theme: Theme) -> Sheet:
    sheet = Sheet(900, 560, theme, "The parts of an encoder block, a decoder block and a block of GPT, bottom to top")
    with torch.device("meta"):
        both, gpt = Transformer(**SIZES, norm="post").build(1000), Gpt(**SIZES).build(1000)
    shown = [
        ("Encoder block, 2017", "norm after each part", both.encoder.blocks[0]),
        ("Decoder block, 2017", "norm after each part", both.decoder.blocks[0]),
        ("Block of GPT", "norm before each part", gpt.decoder.blocks[0]),
    ]
    for number, (title, below, block) in enumerate(shown):
        x = 150 + 290 * number
        sheet.text(x, 24, title, size=14, bold=True)
        sheet.text(x, 43, f"{below}; {size_of(block)} weights", size=11, colour="faint")
        one_block(sheet, x, block)
    return sheet


def size_of(part: nn.Module) -> str:
    """The weights of its own: a table of positions belongs to all blocks."""
    own = [weight for name, weight in part.named_parameters() if "position" not in name]
    return f"{sum(weight.numel() for weight in own):,}"


def one_block(sheet: Sheet, x: float, block: Block) -> None:
    """Its parts in the order in which they run, from the bottom to the top, each with a way around it."""
    y = 510.0
    sheet.text(x, y + 10, "x")
    for name, words in PARTS.items():
        part, around = getattr(block, name), getattr(block, f"around_{name}")
        if part is None:
            continue
        forked, before = y - 7, isinstance(around, PreNorm)
        norm = ("norm", size_of(around.norm), 2)
        steps = [(words, size_of(part), 1 if name == "feedforward" else 0)]
        for step in [norm, *steps] if before else steps:
            y = above(sheet, x, y, *step)
        if name == "cross":
            sheet.text(x + 86, y + 10, "← keys, values", size=10, colour="faint", at="start")
            sheet.text(x + 86, y + 24, "of the encoder", size=10, colour="faint", at="start")
        sheet.line([(x, y), (x, y - 14)], arrow=True)
        sheet.box(x, y - 23, 18, 18, "+", colour="faint")
        sheet.line([(x, forked), (x - 104, forked), (x - 104, y - 23), (x - 10, y - 23)], arrow=True)
        y -= 32
        y = y if before else above(sheet, x, y, *norm)
    sheet.line([(x, y), (x, y - 20)], arrow=True)


def above(sheet: Sheet, x: float, y: float, words: str, weights: str, colour: int) -> float:
    """One more box on top of what ends at y."""
    sheet.line([(x, y), (x, y - 20)], arrow=True)
    sheet.box(x, y - 37, 160, 34, words, colour=colour, below=weights)
    return y - 54


def looks(model: System) -> dict[str, Look]:
    """One attention of each role."""
    return {part.role: part for part in model.modules() if isinstance(part, Look)}


def cross(theme: Theme) -> Sheet:
    sheet = Sheet(900, 410, theme, "Encoder, decoder and cross-attention in one table of who may look at whom")
    source, target = ["An", "old", "dog", "slept", "</s>"], ["<s>", "Ein", "alter", "Hund", "schlief"]
    with torch.device("meta"):
        found = looks(Transformer(**SIZES).build(1000))
    side, corner = 30, (90.0, 88.0)
    places = {
        "encoder": ((0, source), (0, source)),
        "cross": ((5, target), (0, source)),
        "decoder": ((5, target), (5, target)),
    }
    sheet.text(20, 24, "Who may look at whom", size=14, bold=True, at="start")
    sheet.names(*corner, [*source, *target], side, down=True)
    sheet.names(*corner, [*source, *target], side, down=False, turn=-40)
    sheet.squares(corner[0] + 5 * side, corner[1], [[None] * 5] * 5, side)
    sheet.text(corner[0] + 7.5 * side, corner[1] + 2.5 * side, "never", size=12, colour="faint")
    for number, (role, ((down, rows), (along, columns))) in enumerate(places.items()):
        q, k = (Place(torch.arange(len(words))[None]) for words in (rows, columns))
        allow = Sight(found[role].pattern, q, k).allow()[0, 0].tolist()
        sheet.marked(corner[0] + along * side, corner[1] + down * side, allow, side, colour=number)
        sheet.box(470, 130 + 34 * number, 18, 18, colour=number, fill=1, edge=0)
        sheet.text(488, 130 + 34 * number, role, at="start", bold=True)
    stacks(sheet)
    return sheet


def stacks(sheet: Sheet) -> None:
    """The encoder's top layer goes into every block of the decoder."""
    for number in range(3):
        y = 300 - 62 * number
        sheet.box(690, y, 90, 36, f"block {number + 1}", colour=0)
        sheet.box(830, y, 90, 36, f"block {number + 1}", colour=2)
        for x in (690, 830):
            sheet.line([(x, y + 44), (x, y + 20)], arrow=True)
        sheet.line([(690, 126), (760, 126), (760, y), (784, y)], colour=1, arrow=True)
    sheet.line([(690, 157), (690, 126)], colour=1)
    sheet.line([(830, 157), (830, 122)], arrow=True)
    for x, words in ((690, "source"), (830, "target")):
        sheet.text(x, 356, words, colour="faint")
    sheet.text(690, 104, "memory", colour=1, bold=True)
    sheet.text(830, 104, "next word", colour="faint")
    sheet.text(560, 24, "Every block of the decoder asks the top", size=14, bold=True, at="start")
    sheet.text(560, 44, "of the encoder, not the block beside it", size=14, bold=True, at="start")


def families(theme: Theme) -> Sheet:
    sheet = Sheet(900, 430, theme, "What BERT, T5 and GPT are shown of one sentence, and what they must say")
    words = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
    names, ids = [*words, "<mask>", "<0>", "<1>", "<s>", "</s>"], np.arange(len(words))
    shown, wanted = Masking(len(words), ids, 0.3)(ids, np.random.default_rng(32))
    source, target = Spans((11, 12), 0.3, 1.5)(ids, np.random.default_rng(33))
    swapped = {("BERT", 0, n) for n in ids.tolist() if shown[n] != n}
    hidden = [names[n] if n >= 0 else "" for n in wanted]
    rows = {
        "BERT": [("sees", [names[n] for n in shown]), ("says", hidden)],
        "T5": [("reads", [names[n] for n in source]), ("writes", [names[n] for n in target])],
        "GPT": [("sees", ["<s>", *words]), ("says", [*words, "</s>"])],
    }
    about = {"BERT": "encoder: all see all", "T5": "encoder and decoder", "GPT": "decoder: the past alone"}
    for number, (name, lines) in enumerate(rows.items()):
        y = 40 + 142 * number
        sheet.text(20, y - 12, name, size=15, bold=True, at="start")
        sheet.text(80, y - 12, about[name], size=11, colour="faint", at="start")
        sight(sheet, name, 24, y + 6)
        for row, (verb, tokens) in enumerate(lines):
            sheet.text(185, y + 26 + 44 * row, verb, size=11, colour="faint", at="end")
            for column, token in enumerate(tokens):
                special, x = token.startswith("<") or (name, row, column) in swapped, 224 + 62 * column
                if token:
                    colour = 1 if special else (2 if row else 0)
                    sheet.box(x, y + 26 + 44 * row, 58, 26, token, colour=colour, fill=0.35 if special else 0.12)
    return sheet


def sight(sheet: Sheet, name: str, x: float, y: float) -> None:
    """A small table of who looks at whom; of T5, that of the two sides together."""
    with torch.device("meta"):
        model = {"BERT": Bert(**SIZES), "T5": T5(**SIZES), "GPT": Gpt(**SIZES)}[name].build(1000)
    found, at = looks(model), Place(torch.arange(6)[None])
    side = 12 if len(found) == 1 else 7
    for number, (role, corner) in enumerate({"encoder": (0, 0), "cross": (0, 6), "decoder": (6, 6)}.items()):
        if role in found:
            across, down = corner if len(found) > 1 else (0, 0)
            allow = Sight(found[role].pattern, at, at).allow()[0, 0].tolist()
            colour = number if len(found) > 1 else {"BERT": 0, "GPT": 2}[name]
            sheet.marked(x + across * side, y + down * side, allow, side, colour=colour)
