"""A sparsely gated mixture of experts (Shazeer et al., 2017): a feed-forward layer of which each token uses a part.

A gate scores the experts for each token, H(x) = x Wg + N(0, 1) softplus(x Wnoise), keeps the best few and mixes what
they give by the softmax of their scores (eq. 1-5). The noise belongs to training alone. Without care the gate sends all
to the few experts that were good first: two losses ask for gates (eq. 6, 7) and for loads (eq. 8-11) that are even over
the batch. Where one expert alone is chosen it counts by its share among all (Fedus et al., 2022): among itself that
would be 1 whatever its score, and the task would teach the gate nothing.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.functional import linear, pad, softplus

from regard.errors import UserError, at_least
from regard.shapes import Bool, Float, Int, Tensor
from regard.tap import Tap

LEAST = 1e-6  # of a spread that is divided by


@dataclass(frozen=True, kw_only=True)
class Gating:
    """Which of `experts` layers a token goes to: the `chosen` that fit it best.

    `noise` times softplus(x Wnoise) is the spread of the noise while training; 0 is none. `importance_weight` and
    `load_weight` are those of the two losses. `capacity` is how many times its even share an expert takes while
    training; those that come later, from the start of the batch, it adds nothing to. 0 is no limit.
    """

    experts: int = 8
    chosen: int = 2
    noise: float = 1.0
    importance_weight: float = 0.01
    load_weight: float = 0.01
    capacity: float = 0.0

    def __post_init__(self) -> None:
        at_least(1, "system", self, "experts")
        if not 1 <= self.chosen <= self.experts:
            raise UserError(
                f"system.chosen = {self.chosen}; it must lie between 1 and the number of experts, {self.experts}"
            )
        for name in ("noise", "importance_weight", "load_weight", "capacity"):
            if not getattr(self, name) >= 0:
                raise UserError(f"system.{name} = {getattr(self, name)}; it must be 0 or more")
        if self.load_weight and not self.noise:
            raise UserError("system.noise = 0 leaves the load without a gradient; set system.load_weight=0 too")


class Routes(NamedTuple):
    """Where tokens go: the experts chosen for each, how much each counts, and the scores behind it.

    Padding goes to an expert that is not there, the one after the last.
    """

    expert: Int[Tensor, "n k"]
    gate: Float[Tensor, "n k"]
    clean: Float[Tensor, "n e"]
    noisy: Float[Tensor, "n e"]
    spread: Float[Tensor, "n e"] | None  # None: there was no noise

    @property
    def padding(self) -> Bool[Tensor, "n 1"]:
        return self.expert[:, :1] == self.clean.shape[1]


class Rooms(NamedTuple):
    """Places for all that experts are given, in blocks of one size, each block of one expert.

    `slot` is the place of each token at each expert that it goes to; the one after the last block is that of padding.
    """

    slot: Int[Tensor, "m"]
    owner: Int[Tensor, "blocks"]
    load: Int[Tensor, "e"]  # how many tokens each expert is given


class Experts(nn.Module):
    """As many feed-forward layers as there are experts, of which each token goes through a few: `gating` says which.

    Taps: `balance` the weighted sum of the two losses, with its gradient, while training; `load` how many tokens each
    expert was given, `[experts]`; `gates` how much each expert counts for each token, `[b t experts]`. Padding is given
    to nobody and counted nowhere.
    """

    def __init__(self, width: int, hidden: int, gating: Gating, *, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        self.gating, experts = gating, gating.experts
        self.to_score = nn.Parameter(torch.zeros(experts, width))
        self.to_noise = nn.Parameter(torch.zeros(experts, width)) if gating.noise else None
        self.widen = nn.Parameter(torch.empty(experts, hidden, width))
        self.widen_bias = nn.Parameter(torch.zeros(experts, hidden)) if bias else None
        self.output = nn.Parameter(torch.empty(experts, width, hidden))
        self.output_bias = nn.Parameter(torch.zeros(experts, width)) if bias else None
        self.dropout = nn.Dropout(dropout)
        self.balance, self.load, self.gates = Tap(), Tap(), Tap()
        self.measured = {"load": shares}
        self._initialise()

    def forward(self, x: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t w"]:
        tokens = x.flatten(0, 1)
        routes = self._route(tokens, None if present is None else present.flatten())
        rooms = in_blocks(self._kept(routes.expert.flatten()), self.gating.experts)
        self.gates(lambda: gates_of(routes).unflatten(0, x.shape[:2]))
        self.load(lambda: rooms.load)
        if self.training:
            self.balance(lambda: self._balance(routes))
        return self._mix(tokens, routes, rooms).to(x.dtype).unflatten(0, x.shape[:2])

    def _kept(self, expert: Int[Tensor, "m"]) -> Int[Tensor, "m"]:
        """Where tokens go, without those that came when their expert was full, while training."""
        experts, capacity = self.gating.experts, self.gating.capacity
        if not (self.training and capacity):
            return expert
        room = (capacity * (expert < experts).sum() / experts).ceil()
        return expert.masked_fill(arrival(expert, experts) >= room, experts)

    def _mix(self, x: Float[Tensor, "n w"], routes: Routes, rooms: Rooms) -> Float[Tensor, "n w"]:
        """Each token put where its experts are, all experts run at once, and what they give fetched from there."""
        slot, owner, _ = rooms
        experts, chosen = self.gating.experts, self.gating.chosen
        sent = x[:, None].expand(-1, chosen, -1).flatten(0, 1)
        room = x.new_zeros(len(owner) * size(len(slot), experts) + 1, x.shape[1]).index_copy(0, slot, sent)
        given = room[:-1].unflatten(0, (len(owner), -1))
        hidden = self.dropout(layer(given, self.widen, self.widen_bias, owner).relu())
        came = layer(hidden, self.output, self.output_bias, owner).flatten(0, 1)
        back = pad(came, (0, 0, 0, 1)).index_select(0, slot).unflatten(0, (-1, chosen))
        return (back * routes.gate[..., None]).sum(1)

    def _route(self, x: Float[Tensor, "n w"], present: Bool[Tensor, "n"] | None) -> Routes:
        """The gate (eq. 3-5), in the precision of its weights: a rounded score may choose another expert."""
        with torch.autocast(x.device.type, enabled=False):
            x = x.to(self.to_score.dtype)
            clean = noisy = linear(x, self.to_score)
            spread = None
            if self.training and self.to_noise is not None:
                spread = self.gating.noise * softplus(linear(x, self.to_noise))
                noisy = clean + spread * torch.randn_like(clean)
            score, expert = noisy.topk(self.gating.chosen)
            gate = score.softmax(-1) if self.gating.chosen > 1 else noisy.softmax(-1).gather(1, expert)
            if present is not None:
                expert = expert.masked_fill(~present[:, None], self.gating.experts)
            return Routes(expert, gate, clean, noisy, spread)

    def _balance(self, routes: Routes) -> Float[Tensor, ""]:
        """w_importance CV(importance)^2 + w_load CV(load)^2; without noise a load has no gradient and is left out."""
        loss = self.gating.importance_weight * unevenness(gates_of(routes).sum(0))
        if routes.spread is not None:
            loss = loss + self.gating.load_weight * unevenness(likely(routes).sum(0))
        return loss

    def _initialise(self) -> None:
        """Glorot's uniform experts; a gate that begins with noise alone where there is noise: loads are even."""
        for weight in (self.widen, self.output):
            for one in weight.data:
                nn.init.xavier_uniform_(one)
        if self.to_noise is None:
            nn.init.normal_(self.to_score, std=self.to_score.shape[1] ** -0.5)


def layer(
    x: Float[Tensor, "blocks n i"],
    weight: Float[Tensor, "e o i"],
    bias: Float[Tensor, "e o"] | None,
    owner: Int[Tensor, "blocks"],
) -> Float[Tensor, "blocks n o"]:
    """Each block through the layer of the expert that owns it."""
    if bias is None:
        return x @ weight[owner].mT
    return torch.baddbmm(bias[owner][:, None], x, weight[owner].mT)


def size(count: int, experts: int) -> int:
    """Of a block: what each expert would be given if all were given alike."""
    return -(-count // experts)


def in_blocks(expert: Int[Tensor, "m"], experts: int) -> Rooms:
    """As many blocks for each expert as it needs.

    Their size is the mean load, so there are less than twice as many blocks as experts, however uneven the loads are.
    That most is always taken: all numbers stay on the device, and nothing waits for them.
    """
    length, numbers = size(len(expert), experts), torch.arange(experts, device=expert.device)
    group, order = expert.sort(stable=True)
    end = torch.searchsorted(group, numbers, right=True)
    count = end.diff(prepend=end.new_zeros(1))
    blocks = (count + length - 1) // length
    last = blocks.cumsum(0)
    most = (len(expert) + experts * (length - 1)) // length
    owner = torch.searchsorted(last, torch.arange(most, device=expert.device), right=True).clamp(max=experts - 1)
    shift = pad((last - blocks) * length - (end - count), (0, 1))  # from the place among all to that in the blocks
    place = shift[group] + torch.arange(len(expert), device=expert.device)
    place = place.masked_fill(group == experts, most * length)
    return Rooms(torch.empty_like(place).scatter(0, order, place), owner, count)


def arrival(expert: Int[Tensor, "m"], experts: int) -> Int[Tensor, "m"]:
    """How many tokens came to the same expert before each one."""
    group, order = expert.sort(stable=True)
    before = torch.searchsorted(group, torch.arange(experts + 1, device=expert.device))
    place = torch.arange(len(expert), device=expert.device) - before[group]
    return torch.empty_like(place).scatter(0, order, place)


def gates_of(routes: Routes) -> Float[Tensor, "n e"]:
    """How much each expert counts for each token: 0 where it was not chosen."""
    return pad(torch.zeros_like(routes.clean), (0, 1)).scatter(1, routes.expert, routes.gate)[:, :-1]


def likely(routes: Routes) -> Float[Tensor, "n e"]:
    """How likely each expert is among the chosen when its own noise is drawn anew and the others' stays (eq. 8, 9)."""
    chosen, experts = routes.expert.shape[1], routes.clean.shape[1]
    if chosen == experts:
        return torch.ones_like(routes.clean).masked_fill(routes.padding, 0.0)
    assert routes.spread is not None
    best = routes.noisy.topk(chosen + 1).values
    inside = routes.noisy >= best[:, -2:-1]
    bar = torch.where(inside, best[:, -1:], best[:, -2:-1])  # the k-th highest score without the expert's own
    chance = torch.special.ndtr((routes.clean - bar) / routes.spread.clamp(min=LEAST))
    return chance.masked_fill(routes.padding, 0.0)


def unevenness(x: Float[Tensor, "e"]) -> Float[Tensor, ""]:
    """The squared coefficient of variation: variance over squared mean; 0 where there is nothing."""
    return x.var(correction=0) / x.mean().square().clamp(min=LEAST**2)


def shares(load: Int[Tensor, "e"]) -> dict[str, Any]:
    """Of all that was read: each expert's share, and how uneven they are, the coefficient of variation."""
    load = load.cpu().double()
    return {
        "expert_load": [round(share, 4) for share in (load / load.sum()).tolist()],
        "expert_load_cv": round(float(unevenness(load).sqrt()), 4),
    }
