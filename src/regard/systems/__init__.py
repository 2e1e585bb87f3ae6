"""One file per system; `SYSTEMS` is the list of them."""

from regard.systems.gpt import Gpt
from regard.systems.rnn_lm import RnnLm
from regard.systems.seq2seq import Seq2Seq
from regard.systems.seq2seq_attention import Seq2SeqAttention
from regard.systems.system import System, parameters
from regard.systems.transformer import Transformer

SYSTEMS = {
    "rnn-lm": RnnLm,
    "seq2seq": Seq2Seq,
    "seq2seq-attention": Seq2SeqAttention,
    "transformer": Transformer,
    "gpt": Gpt,
}

__all__ = ["SYSTEMS", "System", "parameters"]
