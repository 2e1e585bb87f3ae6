"""One file per system; `SYSTEMS` is the list of them."""

from regard.systems.bert import Bert
from regard.systems.built import built
from regard.systems.bytenet import ByteNet
from regard.systems.convs2s import ConvS2S
from regard.systems.deep_att import DeepAtt
from regard.systems.gnmt import Gnmt
from regard.systems.gpt import Gpt
from regard.systems.moe_lstm import MoeLstm
from regard.systems.rnn_encoder import RnnEncoder
from regard.systems.rnn_lm import RnnLm
from regard.systems.seq2seq import Seq2Seq
from regard.systems.seq2seq_attention import Seq2SeqAttention
from regard.systems.system import System, measuring, parameters
from regard.systems.t5 import T5
from regard.systems.transformer import Transformer
from regard.systems.use import use_of
from regard.systems.window_encoder import WindowEncoder
from regard.systems.window_lm import WindowLm
from regard.systems.word2vec import Word2Vec

SYSTEMS = {
    "rnn-lm": RnnLm,
    "seq2seq": Seq2Seq,
    "seq2seq-attention": Seq2SeqAttention,
    "deep-att": DeepAtt,
    "gnmt": Gnmt,
    "moe-lstm": MoeLstm,
    "window-lm": WindowLm,
    "bytenet": ByteNet,
    "convs2s": ConvS2S,
    "rnn-encoder": RnnEncoder,
    "window-encoder": WindowEncoder,
    "transformer": Transformer,
    "t5": T5,
    "gpt": Gpt,
    "bert": Bert,
    "word2vec": Word2Vec,
}

__all__ = ["SYSTEMS", "System", "built", "measuring", "parameters", "use_of"]
