"""The classifiers against torch's own bidirectional layers, and against windows taken one by one."""

import pytest
import torch
from torch import nn

from regard.place import Place
from regard.systems import SYSTEMS, built

WORDS, LABELS, WIDTH = 31, 5, 14
LENGTHS = [7, 3, 5]
TOKENS = torch.randint(4, WORDS, (3, 7), generator=torch.Generator().manual_seed(1))
PRESENT = torch.arange(7) < torch.tensor(LENGTHS)[:, None]


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def named(model, pooled: torch.Tensor) -> torch.Tensor:
    return pooled @ model.head.rows.weight.T + model.head.rows.bias


@pytest.mark.parametrize("pool", ["ends", "mean", "max"])
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_the_recurrent_classifier_is_torchs_bidirectional_layers(cell: str, pool: str) -> None:
    settings = SYSTEMS["rnn-encoder"](cell=cell, width=WIDTH, depth=2, pool=pool)
    model = built(settings, WORDS, LABELS, "labels").double().eval()
    kinds = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
    theirs = kinds[cell](WIDTH, WIDTH // 2, num_layers=2, bidirectional=True, batch_first=True).double()
    for i, layer in enumerate(model.layers):
        for suffix, part in (("", layer.onward), ("_reverse", layer.backward)):
            for name, parameter in part.fused.named_parameters():
                getattr(theirs, name.replace("l0", f"l{i}") + suffix).data.copy_(parameter)
    scores = model.answer(TOKENS, Place.line(TOKENS, PRESENT))
    for row, length in enumerate(LENGTHS):
        vectors = model.embedding.rows.weight[TOKENS[row, :length]] * WIDTH**0.5
        states, last = theirs(vectors[None])
        top = (last[0] if cell == "lstm" else last)[-2:, 0].flatten()
        pooled = {"ends": top, "mean": states[0].mean(0), "max": states[0].max(0).values}[pool]
        close(scores[row], named(model, pooled))


def test_the_window_classifier_is_kims_equations() -> None:
    """c_t = ReLU(W [x_{t-k} ... x_{t+k}] + b), zeros outside the text, and the largest of each feature."""
    model = built(SYSTEMS["window-encoder"](width=WIDTH, windows=(3, 5)), WORDS, LABELS, "labels").double().eval()
    scores = model.answer(TOKENS, Place.line(TOKENS, PRESENT))
    for row, length in enumerate(LENGTHS):
        vectors = model.embedding.rows.weight[TOKENS[row, :length]] * WIDTH**0.5
        pooled = []
        for part, size in zip(model.windows, (3, 5), strict=True):
            half, seen = size // 2, []
            for t in range(length):
                around = [vectors[i] if 0 <= i < length else torch.zeros(WIDTH) for i in range(t - half, t + half + 1)]
                seen.append((part.mix.weight @ torch.cat(around) + part.mix.bias).relu())
            pooled.append(torch.stack(seen).max(0).values)
        close(scores[row], named(model, torch.cat(pooled)))


def test_a_window_of_one_and_the_maximum_see_no_order() -> None:
    """C4 for classifiers: "this movie is great" and "is this movie great" are one bag of words."""
    turned = TOKENS[:, [2, 0, 1, 3, 6, 5, 4]]
    blind = built(SYSTEMS["window-encoder"](width=WIDTH, windows=(1,)), WORDS, LABELS, "labels").double().eval()
    seeing = built(SYSTEMS["window-encoder"](width=WIDTH, windows=(3,)), WORDS, LABELS, "labels").double().eval()
    close(blind.answer(turned), blind.answer(TOKENS))
    assert not torch.allclose(seeing.answer(turned), seeing.answer(TOKENS))
