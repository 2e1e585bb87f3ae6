"""The figures of the lecture pages, drawn from what the library's own code computes.

python docs/lectures/figures.py    writes docs/lectures/pictures/NAME.svg and NAME-dark.svg
"""

from collections.abc import Callable
from math import log2
from pathlib import Path

import diagrams
import fading
import torch
from sheet import WORDS, Axis, Sheet, curves

from regard.attention.attend import attend
from regard.attention.blocks import BigBird, table
from regard.attention.compress import Projected, Strided
from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import Pattern, Sight, bigbird, causal, everyone, local, window
from regard.attention.positions import Sinusoid
from regard.attention.relative import Alibi
from regard.attention.scores import Dot
from regard.blocks.embedding import Unembedding
from regard.lab.claims.panels import THEMES, Theme
from regard.place import Place
from regard.tap import record

PICTURES = Path(__file__).parent / "pictures"


def line(length: int, **about: torch.Tensor) -> Place:
    return Place(torch.arange(length)[None], **about)


def decimals(rows: torch.Tensor) -> list[list[str]]:
    return [[f"{value:.2f}".replace("-inf", "-∞") for value in row] for row in rows.tolist()]


def attention(theme: Theme) -> Sheet:
    sheet = Sheet(880, 270, theme, "Scores, weights, values and context of four words")
    words, chance = [*WORDS[:3], "slept"], torch.Generator().manual_seed(4)
    query, key = (1.6 * torch.randn(1, 1, 4, 4, generator=chance) for _ in range(2))
    value = torch.randn(1, 1, 4, 3, generator=chance)
    seen = attend(query, key, value)
    parts = [
        (80, "scores", "query · key / √d", seen.scores, words),
        (350, "weights", "softmax of each row", seen.weights, words),
        (590, "values", "", value, None),
        (740, "context", "weights × values", seen.context, None),
    ]
    for x, title, formula, found, columns in parts:
        rows = found[0, 0]
        shares = rows if title == "weights" else (rows - rows.min()) / (rows.max() - rows.min())
        sheet.text(x, 26, title, size=14, bold=True, at="start")
        sheet.text(x, 46, formula, size=11, colour="faint", at="start")
        sheet.squares(x, 86, shares.tolist(), 40, colour=0 if columns else 2, numbers=decimals(rows))
        if columns:
            sheet.names(x, 86, columns, 40, down=False)
    sheet.names(80, 86, words, 40, down=True)
    for x, sign in ((295, "→"), (550, "×"), (725, "=")):
        sheet.text(x, 166, sign, size=18, colour="faint")
    sheet.text(80, 258, "row: who looks, column: who is looked at", size=11, colour="faint", at="start")
    return sheet


def multi_head(theme: Theme) -> Sheet:
    sheet = Sheet(880, 340, theme, "Four heads that look at the word before, after, itself and the first one")
    size = len(WORDS)
    weights = by_hand(size)
    titles = ("head 1: the word before", "head 2: the word after", "head 3: itself", "head 4: the first word")
    for head, title in enumerate(titles):
        x = 66 + 206 * head
        sheet.text(x, 24, title, bold=True, at="start")
        if not head:
            sheet.names(x, 44, WORDS, 22, down=True)
        sheet.squares(x, 44, weights[head].tolist(), 22, colour=head)
        sheet.line([(x + 77, 204), (x + 77, 226)], colour=head, arrow=True)
        sheet.box(x + 77, 242, 154, 28, f"{size} × {size}", colour=head)
        sheet.line([(x + 77, 257), (283 + 103 * head, 282)], colour=head, arrow=True)
        sheet.box(283 + 103 * head, 298, 103, 28, colour=head, fill=0.35, edge=0)
    sheet.text(437, 298, f"side by side: {size} × {4 * size}, then times Wo", bold=True)
    sheet.text(60, 298, "tokens × width of a head", size=11, colour="faint", at="start")
    return sheet


@torch.no_grad()
def by_hand(size: int) -> torch.Tensor:
    """The weights of four heads set by hand: each token's vector says where it stands, and a head asks for a place."""
    heads = MultiHead(4 * size, 4, Look("encoder"), bias=False)
    place = torch.eye(size)
    numbers = torch.arange(size)
    asked = (numbers - 1).clamp(min=0), (numbers + 1).clamp(max=size - 1), numbers, 0 * numbers
    heads.to_query.weight.zero_()
    heads.to_key.weight.zero_()
    for head, wanted in enumerate(asked):
        rows = slice(head * size, (head + 1) * size)
        heads.to_query.weight[rows, :size] = 5 * size**0.5 * place[wanted].T
        heads.to_key.weight[rows, :size] = place
    with record(heads, "look.weights") as seen:
        heads(torch.cat((place, torch.zeros(size, 3 * size)), dim=1)[None], line(size))
    return seen["look.weights"][0]


def positions(theme: Theme) -> Sheet:
    sheet = Sheet(900, 300, theme, "Sinusoids, how alike two places are, and what ALiBi adds")
    rows = Sinusoid(24)(torch.arange(24)[None])[0]
    sheet.text(40, 24, "Sinusoids: a row for each place", size=14, bold=True, at="start")
    sheet.squares(60, 50, ((rows + 1) / 2).tolist(), 9)
    for number in (0, 10, 20):
        sheet.text(52, 54.5 + 9 * number, str(number), size=10, colour="faint", at="end")
        sheet.text(64.5 + 9 * number, 276, str(number), size=10, colour="faint")
    sheet.text(168, 290, "column", size=11, colour="faint")
    sheet.text(22, 158, "index", size=11, colour="faint", turn=-90)
    wave = Sinusoid(64)(torch.arange(41)[None])[0]
    alike = [(float(n), float(wave[20] @ wave[n] / 32)) for n in range(41)]
    across = Axis(0, 40, (0, 10, 20, 30, 40), ("0", "10", "20", "30", "40"), "index")
    up = Axis(0, 1, (0, 0.5, 1), ("0", "0.5", "1"), "cosine")
    sheet.text(330, 24, "Row 20 beside the others", size=14, bold=True, at="start")
    curves(sheet, (378, 50), (190, 200), across, up, {"": alike})
    added = Alibi(4).on_scores(torch.zeros(1, 4, 1, 8), line(1), line(25))[0, :, 0]
    lines = {f"head {head + 1}": [(float(n), float(b)) for n, b in enumerate(row)] for head, row in enumerate(added)}
    across = Axis(0, 24, (0, 8, 16, 24), ("0", "8", "16", "24"), "distance in tokens")
    sheet.text(616, 24, "ALiBi: added to the scores", size=14, bold=True, at="start")
    curves(sheet, (664, 50), (170, 200), across, Axis(-6, 0, (-6, -4, -2, 0), ("-6", "-4", "-2", "0"), "score"), lines)
    return sheet


def sees(pattern: Pattern, at: Place, k: Place | None = None) -> list[list[bool]]:
    return Sight(pattern, at, k or at).allow()[0, 0].tolist()


def masks(theme: Theme) -> Sheet:
    sheet = Sheet(900, 440, theme, "Five masks, and the quiz of lecture 003 with its answer")
    present, document = torch.arange(8)[None] < 6, torch.tensor([[0] * 5 + [1] * 3])
    packed = Place(torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2]]), document=document)
    grids = [
        ("everyone", "an encoder", everyone, line(8)),
        ("causal", "a decoder", causal, line(8)),
        ("causal & window(2)", "the last three alone", causal & window(2), line(8)),
        ("everyone", "6 tokens, 2 of padding", everyone, line(8, present=present)),
        ("causal", "two texts in a row", causal, packed),
    ]
    for number, (title, below, pattern, at) in enumerate(grids):
        x = 26 + 174 * number
        sheet.text(x, 22, title, size=13, bold=True, at="start")
        sheet.text(x, 41, below, size=11, colour="faint", at="start")
        sheet.marked(x, 56, sees(pattern, at), 18)
    sheet.text(26, 214, "row: who looks, column: at whom; coloured: may look", size=11, colour="faint", at="start")
    scores = torch.tensor([[1.0, 0, -1, -1], [1, 1, -1, 0], [0, 1, 1, -1], [-1, -1, 2, 1]])
    allow = Sight(causal, line(4), line(4)).allow()
    seen = attend(scores[None, None], torch.eye(4)[None, None], torch.eye(4)[None, None], allow=allow, score=Dot())
    hidden = ~allow[0, 0]
    shares = [[None if no else 0.0 for no in row] for row in hidden.tolist()]
    weights = [
        [None if no else w for no, w in zip(*pair, strict=True)]
        for pair in zip(hidden, seen.weights[0, 0].tolist(), strict=True)
    ]
    parts = [
        ("scores", [[0.0] * 4] * 4, scores),
        ("the future at -∞", shares, seen.scores[0, 0]),
        ("weights: each row sums to 1", weights, seen.weights[0, 0]),
    ]
    for number, (title, colours, numbers) in enumerate(parts):
        x = 90 + 270 * number
        sheet.text(x, 246, title, size=13, bold=True, at="start")
        sheet.squares(x, 262, colours, 42, numbers=decimals(numbers))
    for x in (310, 580):
        sheet.text(x, 346, "→", size=18, colour="faint")
    return sheet


def efficient(theme: Theme) -> Sheet:
    sheet = Sheet(900, 470, theme, "Who looks at whom in five ways of attention, and how many keys that is")
    at, few = line(32), BigBird(1, first=2, near=1, random=2)
    mixes = Projected(32, 8, shared=True)(torch.zeros(1, 1, 32, 1), torch.zeros(1, 1, 32, 1), at)[2]
    steps = Strided(1, 1, 4)(torch.zeros(1, 1, 32, 1), torch.zeros(1, 1, 32, 1), at)[2]
    grids = [
        ("full", "32 keys", sees(everyone, at)),
        ("local", "blocks of 8", sees(local(8), at)),
        ("BigBird", "of 32 blocks a few", sees(bigbird(few), at)),
        ("Linformer", "8 mixes of all", sees(everyone, at, mixes)),
        ("compressed", "4 mixed into 1, causal", sees(causal, at, steps)),
    ]
    for number, (title, below, marks) in enumerate(grids):
        x = 24 + 176 * number
        sheet.text(x, 22, title, size=13, bold=True, at="start")
        sheet.text(x, 41, below, size=11, colour="faint", at="start")
        sheet.marked(x, 56, marks, 5, colour=number)
    sheet.text(
        24, 246, "Keys that one token is held against, by the length of the text", size=14, bold=True, at="start"
    )
    lengths = [2**n for n in range(8, 15)]
    lines = {
        "full": [(n, n) for n in lengths],
        "local, blocks of 64": [(n, 64) for n in lengths],
        "BigBird, 64, 2 + 3 + 3": [(n, seen_by_one(n)) for n in lengths],
        "Linformer, 256 mixes": [(n, 256) for n in lengths],
        "compressed, 3 into 1": [(n, n / 3) for n in lengths],
    }
    logs = {name: [(log2(length), log2(keys)) for length, keys in points] for name, points in lines.items()}
    across = Axis(8, 14, range(8, 15), [f"{n:,}" for n in lengths], "length in tokens")
    up = Axis(6, 14, (6, 8, 10, 12, 14), ("64", "256", "1,024", "4,096", "16,384"), "keys")
    curves(sheet, (110, 272), (560, 150), across, up, logs)
    return sheet


def seen_by_one(length: int, size: int = 64) -> float:
    """How many keys one token sees in BigBird, on average, counted in the table of its blocks."""
    count = length // size
    return float(table(BigBird(size), count, torch.tensor([count])).sum()) * size / count


@torch.no_grad()
def embeddings(theme: Theme) -> Sheet:
    sheet = Sheet(900, 330, theme, "A one-hot vector picks a row, and the same rows read the answer")
    words = ["dog", "cat", "road", "bridge", "tired", "wide"]
    rows = torch.tensor([[9, 1, 2], [8, 2, 1], [1, 9, 1], [2, 8, 3], [3, 0, 9], [0, 4, 8]]) / 10
    hot, output = torch.eye(6), Unembedding(6, 3)
    output.rows.weight.copy_(rows)
    picked, said = hot[1] @ rows, torch.tensor([0.5, 4.0, 1.0])
    scores = output(said)
    chances = scores.softmax(-1)
    heads = {30: ("one-hot", "cat is word 2"), 152: ("embeddings", "E, set by hand"), 330: ("vector", "row 2 of E")}
    heads |= {478: ("scores", "h × E′"), 560: ("softmax", ""), 700: ("cosines", "of one-hots, of rows of E")}
    for x, (title, below) in heads.items():
        sheet.text(x, 24, title, size=13, bold=True, at="start")
        sheet.text(x, 43, below, size=11, colour="faint", at="start")
    sheet.squares(40, 62, hot[1][:, None].tolist(), 34, numbers=[[f"{n:.0f}"] for n in hot[1].tolist()])
    sheet.squares(160, 62, rows.tolist(), 34, colour=2, numbers=decimals(rows))
    sheet.names(160, 62, words, 34, down=True)
    sheet.squares(330, 62, picked[None].tolist(), 34, colour=2, numbers=decimals(picked[None]))
    sheet.line([(381, 104), (381, 188)], arrow=True)
    sheet.text(392, 146, "the model", size=11, colour="faint", at="start")
    sheet.squares(330, 198, (said[None] / 4).tolist(), 34, colour=1, numbers=decimals(said[None]))
    sheet.text(322, 215, "h", at="end", bold=True)
    sheet.squares(480, 62, (scores[:, None] / scores.max()).tolist(), 34, colour=3, numbers=decimals(scores[:, None]))
    sheet.squares(564, 62, chances[:, None].tolist(), 34, colour=3, numbers=decimals(chances[:, None]))
    unit = rows / rows.norm(dim=1, keepdim=True)
    sheet.names(700, 62, words, 17, down=True)
    sheet.squares(700, 62, hot.tolist(), 17)
    sheet.names(700, 180, words, 17, down=True)
    sheet.squares(700, 180, (unit @ unit.T).clamp(0, 1).tolist(), 17, colour=2)
    for x, y, sign in ((90, 164, "×"), (297, 79, "="), (456, 215, "→"), (540, 164, "→")):
        sheet.text(x, y, sign, size=18, colour="faint")
    return sheet


FIGURES: dict[str, Callable[[Theme], Sheet]] = {
    "recurrence": fading.recurrence,
    "attention": attention,
    "multi-head": multi_head,
    "positions": positions,
    "masks": masks,
    "blocks": diagrams.blocks,
    "cross-attention": diagrams.cross,
    "bert-t5-gpt": diagrams.families,
    "efficient-attention": efficient,
    "embeddings": embeddings,
}


def drawn(name: str, theme: str) -> str:
    return FIGURES[name](THEMES[theme]).svg()


def files() -> dict[Path, tuple[str, str]]:
    """Where each figure is written, in light and in dark."""
    ends = {"light": "", "dark": "-dark"}
    return {PICTURES / f"{name}{end}.svg": (name, theme) for name in FIGURES for theme, end in ends.items()}


if __name__ == "__main__":
    for path, which in files().items():
        path.write_text(drawn(*which), encoding="utf-8")
