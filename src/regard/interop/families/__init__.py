"""The families there are, by the name that `config.json` calls them."""

from regard.interop.families import bert, gpt2
from regard.interop.family import Family

FAMILIES: dict[str, Family] = {
    "gpt2": gpt2.FAMILY,
    "bert": bert.FAMILY,
}
