"""The families there are, by the name that `config.json` calls them."""

from regard.interop.families import bart, bert, bigbird, distilbert, gpt2, llama, marian, roberta, t5
from regard.interop.family import Family

FAMILIES: dict[str, Family] = {
    "gpt2": gpt2.FAMILY,
    "bert": bert.FAMILY,
    "roberta": roberta.FAMILY,
    "xlm-roberta": roberta.OF_MANY_LANGUAGES,
    "distilbert": distilbert.FAMILY,
    "big_bird": bigbird.FAMILY,
    "llama": llama.LLAMA,
    "mistral": llama.MISTRAL,
    "qwen2": llama.QWEN2,
    "t5": t5.FAMILY,
    "marian": marian.FAMILY,
    "bart": bart.FAMILY,
}
