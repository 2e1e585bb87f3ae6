"""A sparsely gated mixture of experts (Shazeer et al., 2017): a feed-forward layer of which each token uses a part.

A gate scores the experts for each token, H(x) = x Wg + N(0, 1) softplus(x Wnoise), keeps the best few and mixes what
they give by the softmax of their scores (eq. 1-5). The noise belongs to training alone. Without care the gate sends all
to the few experts that were good first: two losses ask for gates (eq. 6, 7) and for loads (eq. 8-11) that are even over
the batch.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import relu, softplus

from regard.errors import UserError
from regard.shapes import Bool, Float, Int, Tensor
from regard.tap import Tap, record

LEAST = 1e-6  # of a spread that is divided by


class Routes(NamedTuple):
    """Where tokens go: the experts chosen for each, how much each counts, and the scores behind it."""

    expert: Int[Tensor, "n k"]
    gate: Float[Tensor, "n k"]
    clean: Float[Tensor, "n e"]
    noisy: Float[Tensor, "n e"]
    spread: Float[Tensor, "n e"] | None  # None: there was no noise


class Experts(nn.Module):
    """`experts` feed-forward layers, of which each token goes through the `chosen` that fit it best.

    `noise` times softplus(x Wnoise) is the spread of the noise; 0 is none. Taps: `balance` the weighted sum of the two
    losses, with its gradient; `load` how many tokens each expert was given, `[experts]`; `gates` how much each expert
    counts for each token, `[b t experts]`. Padding is given to nobody and counted nowhere.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        experts: int,
        chosen: int,
        *,
        noise: float = 1.0,
        importance_weight: float = 0.0,
        load_weight: float = 0.0,
        activation: Callable[[Tensor], Tensor] = relu,
        dropout: float = 0.0,
    ):
        super().__init__()
        check(experts, chosen, noise, importance_weight, load_weight)
        self.experts, self.chosen, self.noise = experts, chosen, noise
        self.importance_weight, self.load_weight = importance_weight, load_weight
        self.to_score = nn.Linear(width, experts, bias=False)
        self.to_noise = nn.Linear(width, experts, bias=False) if noise else None
        self.widen = nn.Parameter(torch.empty(experts, hidden, width))
        self.widen_bias = nn.Parameter(torch.zeros(experts, hidden))
        self.output = nn.Parameter(torch.empty(experts, width, hidden))
        self.output_bias = nn.Parameter(torch.zeros(experts, width))
        self.activation, self.dropout = activation, nn.Dropout(dropout)
        self.balance, self.load, self.gates = Tap(), Tap(), Tap()
        self._initialise()

    def forward(self, x: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t w"]:
        tokens = x.flatten(0, 1) if present is None else x[present]
        routes = self._route(tokens)
        count = routes.expert.flatten().bincount(minlength=self.experts)
        self.gates(lambda: placed(table(routes), present, x.shape[:2]))
        self.load(lambda: count)
        self.balance(lambda: self._balance(routes))
        return placed(self._mix(tokens, routes, count).to(x.dtype), present, x.shape[:2])

    def _mix(self, x: Float[Tensor, "n w"], routes: Routes, count: Int[Tensor, "e"]) -> Float[Tensor, "n w"]:
        """Tokens sorted by expert, each expert run once on those it was given, and all put back in their order."""
        order = routes.expert.flatten().argsort(stable=True)
        sent = x[:, None].expand(-1, self.chosen, -1).flatten(0, 1)[order].split(count.tolist())
        weights = (part.unbind() for part in (self.widen, self.widen_bias, self.output, self.output_bias))
        came = torch.cat([self._expert(*each) for each in zip(sent, *weights, strict=True)])
        back = came[order.argsort()].unflatten(0, (-1, self.chosen))
        return (back * routes.gate[..., None]).sum(1)

    def _expert(self, x: Tensor, widen: Tensor, widen_bias: Tensor, output: Tensor, output_bias: Tensor) -> Tensor:
        hidden = self.activation(nn.functional.linear(x, widen, widen_bias))
        return nn.functional.linear(self.dropout(hidden), output, output_bias)

    def _route(self, x: Float[Tensor, "n w"]) -> Routes:
        """The gate (eq. 3-5), in the precision of its weights: a rounded score may choose another expert."""
        with torch.autocast(x.device.type, enabled=False):
            x = x.to(self.to_score.weight.dtype)
            clean = noisy = self.to_score(x)
            spread = None
            if self.training and self.to_noise is not None:
                spread = self.noise * softplus(self.to_noise(x))
                noisy = clean + spread * torch.randn_like(clean)
            best = noisy.topk(self.chosen)
            return Routes(best.indices, best.values.softmax(-1), clean, noisy, spread)

    def _balance(self, routes: Routes) -> Float[Tensor, ""]:
        """w_importance CV(importance)^2 + w_load CV(load)^2; without noise a load has no gradient and is left out."""
        loss = self.importance_weight * unevenness(table(routes).sum(0))
        if routes.spread is not None:
            loss = loss + self.load_weight * unevenness(likely(routes).sum(0))
        return loss

    def _initialise(self) -> None:
        """Glorot's uniform experts; a gate that begins with noise alone where there is noise: loads are even."""
        for weight in (self.widen, self.output):
            for one in weight.data:
                nn.init.xavier_uniform_(one)
        if self.to_noise is not None:
            nn.init.zeros_(self.to_score.weight)
            nn.init.zeros_(self.to_noise.weight)


def check(experts: int, chosen: int, noise: float, importance_weight: float, load_weight: float) -> None:
    """Stop where a mixture makes no sense."""
    if not 1 <= chosen <= experts:
        raise UserError(f"system.chosen = {chosen}; it must lie between 1 and the number of experts, {experts}")
    weights = {"noise": noise, "importance_weight": importance_weight, "load_weight": load_weight}
    for name, value in weights.items():
        if not value >= 0:
            raise UserError(f"system.{name} = {value}; it must be 0 or more")
    if load_weight and not noise:
        raise UserError("system.noise = 0 leaves the load without a gradient; set system.load_weight=0 too")


def table(routes: Routes) -> Float[Tensor, "n e"]:
    """How much each expert counts for each token: 0 where it was not chosen."""
    return torch.zeros_like(routes.clean).scatter(1, routes.expert, routes.gate)


def placed(
    rows: Float[Tensor, "n w"], present: Bool[Tensor, "b t"] | None, shape: torch.Size
) -> Float[Tensor, "b t w"]:
    """Rows of tokens back where the tokens stand; zeros at the padding."""
    if present is None:
        return rows.unflatten(0, shape)
    return rows.new_zeros(*shape, rows.shape[1]).masked_scatter(present[..., None], rows)


def likely(routes: Routes) -> Float[Tensor, "n e"]:
    """How likely each expert is among the chosen when its own noise is drawn anew and the others' stays (eq. 8, 9)."""
    chosen, experts = routes.expert.shape[1], routes.clean.shape[1]
    if chosen == experts:
        return torch.ones_like(routes.clean)
    assert routes.spread is not None
    best = routes.noisy.topk(chosen + 1).values
    inside = torch.zeros_like(routes.clean, dtype=torch.bool).scatter(1, routes.expert, True)
    bar = torch.where(inside, best[:, -1:], best[:, -2:-1])  # the k-th highest score without the expert's own
    return torch.special.ndtr((routes.clean - bar) / routes.spread.clamp(min=LEAST))


def unevenness(x: Float[Tensor, "e"]) -> Float[Tensor, ""]:
    """The squared coefficient of variation: variance over squared mean."""
    return x.var(correction=0) / x.mean().square()


class Loads(dict[str, Tensor]):
    """Layer of experts -> how many tokens each expert was given."""

    def facts(self) -> dict[str, dict[str, object]]:
        """For each layer the share of each expert, and how uneven they are: the coefficient of variation."""
        return (
            {
                "expert_load": {
                    name: [round(share, 4) for share in (x / x.sum()).tolist()] for name, x in self.items()
                },
                "expert_load_cv": {name: round(float(unevenness(x).sqrt()), 4) for name, x in self.items()},
            }
            if self
            else {}
        )


@contextmanager
def loads(model: nn.Module) -> Iterator[Loads]:
    """Count what each expert is given inside; nothing is counted of a model that has no experts."""
    names = [name for name, part in model.named_modules() if isinstance(part, Experts)]
    found = Loads()
    if not names:
        yield found
        return
    with record(model, *(f"{name}.load" for name in names)) as seen:
        yield found
    found.update(
        {name: torch.stack(seen.all(f"{name}.load")).sum(0).double() for name in names if f"{name}.load" in seen}
    )
