"""One tiny model of `transformers` for each family, with numbers of its own in every tensor; nothing is downloaded.

A family brings its cases in `CASES`: its class and settings there, and the tokenizer that is put beside it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers
from torch import nn

from tests.interop.folders import WORDS, vocabulary
from tests.interop.translators import biased, never_padding, own_output, t5_pieces, two_models

TEXT = ["The chicken didn't cross the road because it was too tired. A boy is eating an apple."] * 3


@dataclass(frozen=True)
class Case:
    """What a model is made of: a class of `transformers`, its settings, and what puts a tokenizer into its folder.

    `tokens` is how many the tokenizer has; the model has `more` rows than that.
    """

    kind: str
    settings: dict[str, Any]
    tokenizer: Callable[[Path], int]
    more: int = 0
    beam: dict[str, Any] = field(default_factory=dict)  # what `generate` there must be told to search as we do
    left_out: tuple[str, ...] = ()  # tensors that its class has and nothing there uses
    also: Callable[[nn.Module], None] = lambda model: None  # what else is changed in it

    def write(self, folder: Path) -> nn.Module:
        """The model in its folder, and itself."""
        folder.mkdir(parents=True, exist_ok=True)
        made = getattr(transformers, self.kind)
        torch.manual_seed(7)
        rows = self.tokenizer(folder) + self.more
        model = made(made.config_class(vocab_size=rows, **self.settings)).eval()
        with torch.no_grad():
            for parameter in filter(lambda parameter: parameter.requires_grad, model.parameters()):
                parameter += 0.2 * torch.randn_like(parameter)
            self.also(model)
        model.save_pretrained(folder)
        return model


def byte_level(*special: str, **settings: Any) -> Callable[[Path], int]:
    """A byte-level BPE of few merges, with these symbols first."""

    def write(folder: Path) -> int:
        backend = Backend(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        backend.train_from_iterator(
            TEXT,
            trainers.BpeTrainer(
                vocab_size=290, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
            ),
        )
        backend.save(str(folder / "tokenizer.json"))
        settings_there = {"tokenizer_class": "PreTrainedTokenizerFast", **settings}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings_there))
        return backend.get_vocab_size()

    return write


def pieces(folder: Path) -> int:
    """A SentencePiece model of byte pairs, as Llama 2 has it: unknown characters are written as their bytes."""
    made = folder / "tokenizer.model"
    with made.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXT),
            model_writer=file,
            model_type="bpe",
            vocab_size=330,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            minloglevel=2,
        )
    return sentencepiece.SentencePieceProcessor(model_file=str(made)).get_piece_size()


def words(folder: Path) -> int:
    """BERT's vocabulary."""
    vocabulary(folder)
    return len(WORDS)


ENDED = "<|endoftext|>"
GPT2 = {"n_embd": 24, "n_head": 3, "n_layer": 2, "n_positions": 37, "bos_token_id": 0, "eos_token_id": 0}
BERT = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 19,
    "max_position_embeddings": 41,
}
ROBERTA = {**BERT, "type_vocab_size": 1, "max_position_embeddings": 43, "layer_norm_eps": 1e-5}
DISTILBERT = {"dim": 15, "n_layers": 2, "n_heads": 3, "hidden_dim": 23, "max_position_embeddings": 41}
BIG_BIRD = {**BERT, "attention_type": "original_full"}
BLOCKS = {**BERT, "max_position_embeddings": 31, "block_size": 4, "num_random_blocks": 1}  # for longer texts
POOLER = ("bert.pooler.weight", "bert.pooler.bias")
roberta_tokens = byte_level(
    *("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
    cls_token="<s>",
    sep_token="</s>",
    pad_token="<pad>",
    unk_token="<unk>",
    mask_token="<mask>",
)
big_bird_tokens = byte_level(
    *("<pad>", "</s>", "<s>", "[CLS]", "[SEP]", "[MASK]", "<unk>"),
    cls_token="[CLS]",
    sep_token="[SEP]",
    pad_token="<pad>",
    unk_token="<unk>",
    mask_token="[MASK]",
)
LLAMA = {
    "hidden_size": 24,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 41,
}
SLOWED = {"rope_type": "llama3", "rope_theta": 50.0, "factor": 5.0, "low_freq_factor": 0.5, "high_freq_factor": 2.5}
LLAMA_3 = {"rope_parameters": {**SLOWED, "original_max_position_embeddings": 13}, "rms_norm_eps": 1e-5}
LINEAR = {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "rope_theta": 10_000.0}}
BEGUN = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"}
SYMBOLS = {"bos_token_id": 0, "eos_token_id": 1}
QWEN = {**LLAMA, "tie_word_embeddings": True, "bos_token_id": None, "eos_token_id": 0}
gpt2_tokens = byte_level(ENDED, bos_token=ENDED, eos_token=ENDED)
T5 = {"d_model": 24, "d_kv": 7, "d_ff": 37, "num_layers": 2, "num_heads": 3, "decoder_start_token_id": 0}
NEWER = {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "num_decoder_layers": 1}
SIDES = {
    "d_model": 24,
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 3),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 37),
    "max_position_embeddings": 41,
    "forced_eos_token_id": None,
}
MARIAN = {**SIDES, "eos_token_id": 0, "pad_token_id": 2, "decoder_start_token_id": 2, "activation_function": "swish"}
BART = {**SIDES, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
CASES: dict[str, Case] = {
    "gpt2": Case("GPT2LMHeadModel", GPT2, gpt2_tokens, more=3),
    "gpt2-untied": Case("GPT2LMHeadModel", {**GPT2, "tie_word_embeddings": False, "n_inner": 29}, gpt2_tokens),
    "llama": Case("LlamaForCausalLM", LLAMA, pieces),
    "llama-3": Case("LlamaForCausalLM", {**LLAMA, **LLAMA_3, **SYMBOLS}, byte_level(*BEGUN.values(), **BEGUN), more=2),
    "llama-biased": Case("LlamaForCausalLM", {**LLAMA, **LINEAR, "attention_bias": True, "head_dim": 10}, pieces),
    "llama-mlp": Case("LlamaForCausalLM", {**LLAMA, "mlp_bias": True, "tie_word_embeddings": True}, pieces),
    "mistral": Case("MistralForCausalLM", {**LLAMA, "sliding_window": None, "head_dim": 8}, pieces),
    "qwen2": Case("Qwen2ForCausalLM", QWEN, byte_level(ENDED, eos_token=ENDED, pad_token=ENDED), more=5),
    "t5": Case("T5ForConditionalGeneration", T5, t5_pieces, more=5),
    "t5-newer": Case("T5ForConditionalGeneration", NEWER, t5_pieces, also=own_output),
    "t5-newer-shared": Case("T5ForConditionalGeneration", NEWER, t5_pieces),
    "marian": Case("MarianMTModel", {**MARIAN, "scale_embedding": True}, two_models, also=never_padding),
    "marian-deep": Case("MarianMTModel", {**MARIAN, "encoder_layers": 3, "d_model": 27}, two_models),
    "bart": Case("BartForConditionalGeneration", BART, roberta_tokens, more=3, also=biased),
    "bart-scaled": Case("BartForConditionalGeneration", {**BART, "scale_embedding": True}, roberta_tokens),
    "bert": Case("BertForMaskedLM", BERT, words),
    "bert-pairs": Case("BertForPreTraining", BERT, words),
    "bert-vectors": Case("BertModel", BERT, words),
    "bert-labels": Case("BertForSequenceClassification", {**BERT, "num_labels": 3}, words),
    "bert-tags": Case("BertForTokenClassification", {**BERT, "num_labels": 5}, words),
    "bert-relu": Case("BertForMaskedLM", {**BERT, "hidden_act": "relu"}, words),
    "roberta": Case("RobertaForMaskedLM", ROBERTA, roberta_tokens, more=5),
    "roberta-vectors": Case("RobertaModel", {**ROBERTA, "type_vocab_size": 2}, roberta_tokens),
    "roberta-labels": Case("RobertaForSequenceClassification", {**ROBERTA, "num_labels": 7}, roberta_tokens),
    "roberta-tags": Case("RobertaForTokenClassification", {**ROBERTA, "num_labels": 5}, roberta_tokens),
    "xlm-roberta": Case("XLMRobertaForMaskedLM", ROBERTA, roberta_tokens),
    "xlm-roberta-labels": Case("XLMRobertaForSequenceClassification", {**ROBERTA, "num_labels": 3}, roberta_tokens),
    "distilbert": Case("DistilBertForMaskedLM", DISTILBERT, words),
    "distilbert-relu": Case("DistilBertForMaskedLM", {**DISTILBERT, "activation": "relu"}, words),
    "distilbert-vectors": Case("DistilBertModel", {**DISTILBERT, "sinusoidal_pos_embds": True}, words),
    "distilbert-labels": Case("DistilBertForSequenceClassification", {**DISTILBERT, "num_labels": 7}, words),
    "distilbert-tags": Case("DistilBertForTokenClassification", {**DISTILBERT, "num_labels": 5}, words),
    "big_bird": Case("BigBirdForMaskedLM", BIG_BIRD, big_bird_tokens, left_out=POOLER),
    "big_bird-pairs": Case("BigBirdForPreTraining", BIG_BIRD, big_bird_tokens),
    "big_bird-vectors": Case("BigBirdModel", {**BIG_BIRD, "hidden_act": "gelu"}, big_bird_tokens),
    "big_bird-labels": Case(
        "BigBirdForSequenceClassification", {**BIG_BIRD, "num_labels": 7}, big_bird_tokens, left_out=POOLER
    ),
    "big_bird-tags": Case(
        "BigBirdForTokenClassification", {**BIG_BIRD, "num_labels": 5}, big_bird_tokens, left_out=POOLER
    ),
    "big_bird-blocks": Case("BigBirdForPreTraining", BLOCKS, big_bird_tokens),
}
