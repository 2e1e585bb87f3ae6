"""Small members of comparisons, as files a user would write."""

import random
from pathlib import Path

from tests.helpers import lines_file

SYSTEMS = {
    "rnn": '[system]\nkind = "seq2seq"\nwidth = 16\ncontext = 23\ndropout = 0.1\n[objective]\nkind = "translation"\n',
    "looker": '[system]\nkind = "transformer"\nwidth = 16\nheads = 2\ndepth = 1\ncontext = 23\ndropout = 0.1\n'
    '[objective]\nkind = "translation"\n',
    "speaker": '[system]\nkind = "gpt"\nwidth = 16\nheads = 2\ndepth = 1\ncontext = 23\ndropout = 0.0\n'
    '[objective]\nkind = "next-token"\n',
    "guesser": '[system]\nkind = "bert"\nwidth = 16\nheads = 2\ndepth = 1\ncontext = 23\nsegments = 1\ndropout = 0.0\n'
    '[objective]\nkind = "masked"\n',
    "near": '[system]\nkind = "rnn-encoder"\nwidth = 16\ncontext = 23\ndropout = 0.0\n[objective]\nkind = "masked"\n',
    "restorer": '[system]\nkind = "t5"\nwidth = 16\nheads = 2\ndepth = 1\ncontext = 23\ndropout = 0.0\n'
    '[objective]\nkind = "spans"\n',
    "carrier": '[system]\nkind = "rnn-lm"\nwidth = 16\ncontext = 23\ndropout = 0.0\n[objective]\nkind = "next-token"\n',
}
TEXT = '[text]\nkind = "char"\n'
TRAIN = '[train]\nsteps = 10\nbatch_tokens = 92\nwarmup = 2\ndevice = "cpu"\nthreads = 1\nrate = {}\n'
DECODE = "[decode]\nmax_tokens = 17\n"


def member(folder: Path, name: str, *, rate: float = 0.01) -> str:
    """The path of a recipe for this kind of system; its data are made once in the folder."""
    data = lines(folder, pairs=name in ("rnn", "looker"))
    path = folder / f"{name}.toml"
    head = f'[data]\ntrain = "{data}"\ndocument = "line"\n'
    path.write_text(head + SYSTEMS[name] + TEXT + TRAIN.format(rate) + DECODE)
    return str(path)


def lines(folder: Path, *, pairs: bool) -> str:
    """Words of letters; as pairs, with the same backwards."""
    chance = random.Random(11)
    found = [" ".join("".join(chance.choices("abc", k=3)) for _ in range(chance.randint(1, 5))) for _ in range(997)]
    if pairs:
        return lines_file(folder / "pairs.tsv", [f"{text}\t{text[::-1]}" for text in found])
    return lines_file(folder / "text.txt", found)
