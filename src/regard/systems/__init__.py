"""One file per system; `SYSTEMS` is the list of them."""

from regard.systems.gpt import Gpt
from regard.systems.system import System, parameters
from regard.systems.transformer import Transformer

SYSTEMS = {
    "transformer": Transformer,
    "gpt": Gpt,
}

__all__ = ["SYSTEMS", "System", "parameters"]
