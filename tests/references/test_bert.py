"""A tiny BERT of Hugging Face, built from a configuration and never downloaded, with its weights put into ours.

Hidden words and next sentences, labels of texts and of tokens: the same scores, loss and gradients, with padding and
two segments. Weights go over by the names under which `regard import` takes them.
"""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from regard.checkpoint import put_weights, weights
from regard.data import IGNORE, Batch
from regard.interop.families import FAMILIES
from regard.interop.names import translated
from regard.objectives import MaskedPairs
from regard.place import Place
from regard.systems import System, built
from tests.references.copy import exact, lively

FAMILY = FAMILIES["bert"]
VOCABULARY, LABELS = 31, 7
CONFIG = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "max_position_embeddings": 41,
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "num_labels": LABELS,
}
PRESENT = torch.arange(13) < torch.tensor([[13], [7], [11]])
SEGMENT = (torch.arange(13) >= torch.tensor([[5], [3], [8]])).long()
AT = Place(torch.arange(13).expand(3, 13), present=PRESENT, segment=SEGMENT)


def pair(kind: type[nn.Module], head: str, **changes: Any) -> tuple[System, nn.Module]:
    """Ours and theirs with the same weights, in double precision."""
    config = BertConfig(**{**CONFIG, **changes})
    theirs = lively(kind(config))
    system = FAMILY.read(config.to_dict(), {}, "config.json").system
    mine = built(system, VOCABULARY, LABELS, head).double()
    put_weights(mine, here(mine, dict(theirs.named_parameters())), "theirs")
    return mine, theirs


def here(mine: System, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Theirs under our names."""
    shapes = {name: tuple(tensor.shape) for name, tensor in weights(mine).items()}
    return translated(FAMILY.table(mine.settings), tensors, shapes, "theirs")


def inputs() -> tuple[Tensor, dict[str, Tensor]]:
    tokens = torch.randint(1, VOCABULARY, (3, 13))  # 0 is padding, which they never teach
    return tokens, {"input_ids": tokens, "attention_mask": PRESENT.long(), "token_type_ids": SEGMENT}


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
@pytest.mark.parametrize("training", [False, True])
def test_the_vectors_are_the_same(activation: str, training: bool) -> None:
    mine, theirs = (model.train(training) for model in pair(BertModel, "pooled", hidden_act=activation))
    tokens, given = inputs()
    reference = theirs(**given)
    vectors = mine.embed(tokens, AT)
    exact(vectors[PRESENT], reference.last_hidden_state[PRESENT])
    exact(mine.head.pool(vectors, PRESENT), reference.pooler_output)
    exact(mine.embed(tokens, Place.line(tokens)), theirs(tokens).last_hidden_state)


def test_a_norm_adds_the_same_to_the_variance() -> None:
    mine, theirs = pair(BertModel, "vectors", layer_norm_eps=0.3)
    tokens, given = inputs()
    exact(mine.embed(tokens, AT)[PRESENT], theirs(**given).last_hidden_state[PRESENT])


def test_hidden_words_and_next_sentences_have_the_same_scores() -> None:
    mine, theirs = pair(BertForPreTraining, "next")
    tokens, given = inputs()
    reference = theirs(**given)
    vectors = mine.embed(tokens, AT)
    exact(mine.head(vectors, AT)[PRESENT], reference.prediction_logits[PRESENT])
    exact(mine.head.follows(vectors, AT), reference.seq_relationship_logits.flip(1))


def test_the_loss_and_every_gradient_are_the_same() -> None:
    """Theirs adds a mean over words to a mean over rows, ours weighs a row by its hidden words: each has as many."""
    mine, theirs = pair(BertForPreTraining, "next")
    tokens, given = inputs()
    targets = torch.full_like(tokens, IGNORE)
    for row, places in enumerate(([1, 4, 9], [2, 3, 6], [5, 7, 10])):
        targets[row, places] = torch.randint(0, VOCABULARY, (3,))
    follows = torch.tensor([1, 0, 1])
    reference = theirs(**given, labels=targets, next_sentence_label=1 - follows).loss
    loss = MaskedPairs()(mine, Batch(tokens, targets, 9, AT, label=follows, whole=True)).total / 9
    torch.testing.assert_close(loss, reference, check_dtype=False)  # sums in single precision
    loss.backward()
    reference.backward()
    wanted = here(mine, {name: weight.grad for name, weight in theirs.named_parameters()})
    assert wanted.keys() == weights(mine).keys()
    for name, weight in mine.named_parameters():
        assert weight.grad.any(), name
        torch.testing.assert_close(weight.grad, wanted[name], rtol=1e-4, atol=1e-6)


def test_a_text_gets_the_same_scores_for_its_labels() -> None:
    mine, theirs = pair(BertForSequenceClassification, "labels")
    tokens, given = inputs()
    exact(mine.answer(tokens, AT), theirs(**given).logits)


def test_tokens_get_the_same_scores_for_their_tags() -> None:
    mine, theirs = pair(BertForTokenClassification, "tags")
    tokens, given = inputs()
    exact(mine.answer(tokens, AT)[PRESENT], theirs(**given).logits[PRESENT])
