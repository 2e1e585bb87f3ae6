"""The plan of a comparison: who takes part, on the same data, under one budget. It is written before anything is done.

Everything but the system and the way it is optimised is the first preset's for all: data, text, objective, decoding,
size of batches, device and precision. The budget is a number of predicted tokens, of counted FLOPs or of seconds; it
becomes the only limit at which each member's training, and with it the schedule of its rate, ends.
"""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regard.checkpoint import is_run, read_json, read_tokenizer, write_json
from regard.data.prepare import stores
from regard.errors import UserError, one_of
from regard.recipe import Recipe, read
from regard.train.device import choose_device
from regard.train.forecast import forecast, quantity, typical
from regard.train.run import TOKENS, check, device_name, make_trainer, settle, start, versions

PLAN, PREPARED = "compare.json", "prepared"
SHARED = (
    *("batch_tokens", "accumulate", "average", "average_decay", "average_last"),
    *("device", "precision", "compile", "deterministic", "threads"),
)
NEVER = 10**9  # steps between two validations: there is one, at the end
LENGTHS = ("train.steps", "train.max_tokens", "train.max_seconds")
UNITS = {"tokens": "predicted tokens", "flops": "counted FLOPs", "seconds": "seconds"}


@dataclass(frozen=True)
class Budget:
    """What each member may spend: so many `tokens`, `flops` or `seconds`."""

    kind: str
    amount: float

    def __post_init__(self) -> None:
        one_of("budget", self.kind, UNITS)
        if not self.amount > 0:
            raise UserError(f"--budget-{self.kind} {self.amount:g}: it must be more than 0")

    def __str__(self) -> str:
        amount = quantity(self.amount) if self.amount >= 1e9 else f"{self.amount:,.10g}"
        return f"{amount} {UNITS[self.kind]}"


@dataclass(frozen=True)
class Rehearsal:
    """What one token costs a member, from one real batch; and how many its batches had before all were alike."""

    parameters: int
    tokens_per_step: int
    own_tokens_per_step: int
    flops_per_token: float
    seconds_per_token: float
    precision: str
    tokenizer: str  # its fingerprint
    left_out: dict[str, int]  # examples of each split that do not fit the context


@dataclass(frozen=True)
class Member:
    """One that takes part. Its recipe trains for the whole budget."""

    name: str
    recipe: Recipe
    rehearsal: Rehearsal

    def for_part(self, part: float) -> Recipe:
        """A shorter training of the same shape: the limit and the warm-up are cut alike."""
        settings = self.recipe.train
        shorter = replace(
            settings,
            max_tokens=int(settings.max_tokens * part),
            max_seconds=settings.max_seconds * part,
            warmup=round(settings.warmup * part),
        )
        return replace(self.recipe, train=shorter)

    @property
    def seconds(self) -> float:
        """About how long its training takes."""
        return self.recipe.train.max_seconds or self.recipe.train.max_tokens * self.rehearsal.seconds_per_token


@dataclass(frozen=True)
class Asked:
    """What the user wants compared."""

    recipes: dict[str, Recipe]
    batch_tokens: dict[str, int]  # the presets' own, which their own steps are counted in
    seeds: int
    budget: Budget | None
    sweep: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "members": {name: recipe.to_dict() for name, recipe in self.recipes.items()},
            "batch_tokens": self.batch_tokens,
            "seeds": self.seeds,
            "budget": asdict(self.budget) if self.budget else "the smallest training of the presets",
            "sweep": self.sweep,
        }

    @property
    def recipe(self) -> Recipe:
        """The first one, which has what all share."""
        return next(iter(self.recipes.values()))


def ask(presets: list[str], settings: list[str], *, seeds: int, budget: Budget | None, sweep: str) -> Asked:
    """Everything that was asked, checked before anything is touched."""
    if seeds < 1:
        raise UserError(f"--seeds {seeds}: at least 1 is needed")
    if len(presets) < 2:
        raise UserError("there is nothing to compare: give at least two presets")
    check_settings(settings, budget)
    recipes: dict[str, Recipe] = {}
    for preset in presets:
        if (name := Path(preset).stem) in recipes:
            raise UserError(f"two members are named '{name}'; give one of them another file name")
        recipes[name] = read(preset, settings)
    first = next(iter(recipes.values()))
    first = replace(first, data=first.data.located())
    shared = {name: alike(first, recipe, name) for name, recipe in recipes.items()}
    for recipe in shared.values():
        check(recipe)
    sizes = {name: recipe.train.batch_tokens for name, recipe in recipes.items()}
    return Asked(shared, sizes, seeds, budget, sweep)


def check_settings(settings: list[str], budget: Budget | None) -> None:
    """A setting that a comparison would ignore stops it."""
    for setting in settings:
        key = setting.partition("=")[0].strip()
        if key in ("train.patience", "train.evaluate_every"):
            raise UserError(f"--set {setting}: in a comparison each training is validated once, at its end")
        if key == "train.max_seconds" or (budget is not None and key in LENGTHS):
            raise UserError(
                f"--set {setting}: the budget says how long is trained; see --budget-tokens, -flops, -seconds"
            )


def alike(first: Recipe, recipe: Recipe, name: str) -> Recipe:
    """A member's recipe with all that must be the same for all."""
    if type(recipe.objective) is not type(first.objective):
        tasks = [each.to_dict()["objective"]["kind"] for each in (recipe, first)]
        raise UserError(
            f"'{name}' is trained for {tasks[0]}, the first preset for {tasks[1]}; compare one task at a time"
        )
    same = {setting: getattr(first.train, setting) for setting in SHARED}
    same["compile"] = same["compile"] is True  # "auto" is paid for by some alone, in seconds that count
    train = replace(recipe.train, **same, patience=0, evaluate_every=NEVER)
    return replace(
        recipe,
        seed=first.seed,
        data=first.data,
        text=first.text,
        objective=first.objective,
        decode=first.decode,
        train=train,
    )


def opened(asked: Asked, out: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """The plan in the folder: a new one, or the one that is there when it is for the same comparison."""
    path, device = out / PLAN, choose_device(asked.recipe.train.device)
    here = {"machine": device_name(device), **versions()}
    if path.exists():
        plan = continued(read_json(path), asked, device.type, out)
        if found := differences(plan["here"], here):
            plan["changed"] = list(dict.fromkeys([*plan["changed"], *found]))
            say(f"this comparison was begun elsewhere or with other versions: {'; '.join(found)}")
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} exists and holds no comparison; give another --out")
    else:
        plan = {"asked": asked.to_dict(), "device": device.type, "here": here, "changed": []}
        plan |= {"budget": None, "rehearsals": {}, "sustained": None}
    write_json(path, plan)
    return plan


def continued(plan: dict[str, Any], asked: Asked, device: str, out: Path) -> dict[str, Any]:
    """The plan as it is, where all that decides what comes out is still the same."""
    if found := differences(plan["asked"], asked.to_dict()):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise UserError(f"{out} holds another comparison: {found[0]}{more}; give another --out")
    if plan["device"] != device:
        raise UserError(
            f"{out} was begun on the device '{plan['device']}' and '{device}' is the one here: "
            "go on where it was begun, or give another --out"
        )
    return plan


def differences(there: Any, asked: Any, where: str = "") -> list[str]:
    """`members.gpt.train.rate is 0.003 there and 0.001 now`, for each leaf of two trees that differs."""
    if not (isinstance(there, dict) and isinstance(asked, dict)):
        return [] if there == asked else [f"{where} is {told(there)} there and {told(asked)} now"]
    keys = dict.fromkeys([*there, *asked])
    parts = [differences(there.get(key), asked.get(key), f"{where}.{key}".lstrip(".")) for key in keys]
    return [line for part in parts for line in part]


def told(value: Any) -> str:
    """A value in a few words: whole trees are only named."""
    return "missing" if value is None else "given" if isinstance(value, dict) else repr(value)


def rehearse(recipe: Recipe, own_batch_tokens: int, folder: Path) -> Rehearsal:
    """Prepare a member's data, which its sweep and its runs use too, and try one batch."""
    settle(recipe.train)
    if not is_run(folder):
        shutil.rmtree(folder, ignore_errors=True)
        start(recipe, folder, say=lambda line: None)
    tokenizer = read_tokenizer(folder)
    trainer = make_trainer(folder, recipe, tokenizer, [])
    cost = forecast(trainer)
    kept = stores(folder / TOKENS / "train", recipe.objective.columns)
    own = recipe.objective.batches(kept, tokenizer, trainer.model, batch_tokens=own_batch_tokens, seed=recipe.seed)
    splits = read_json(folder / "report.json")["data"]["splits"]
    return Rehearsal(
        parameters=cost.parameters,
        tokens_per_step=cost.tokens_per_step,
        own_tokens_per_step=typical(own, 0).count,
        flops_per_token=cost.flops_per_step / cost.tokens_per_step,
        seconds_per_token=cost.seconds / cost.steps / cost.tokens_per_step,
        precision=str(trainer.precision).removeprefix("torch."),
        tokenizer=tokenizer.fingerprint,
        left_out={split: counts["dropped"] + counts["truncated"] for split, counts in splits.items()},
    )


def own_tokens(recipe: Recipe, rehearsal: Rehearsal) -> int:
    """How many tokens the preset's own training would have had, up to whichever of its limits comes first."""
    settings = recipe.train
    limits = {
        "steps": settings.steps * rehearsal.own_tokens_per_step,
        "max_tokens": settings.max_tokens,
        "max_seconds": int(settings.max_seconds / rehearsal.seconds_per_token),
    }
    return min(max(1, most) for name, most in limits.items() if getattr(settings, name))


def smallest(asked: Asked, rehearsals: dict[str, Rehearsal]) -> Budget:
    """The tokens of the shortest training that one of the presets would have had."""
    return Budget("tokens", min(own_tokens(asked.recipes[name], each) for name, each in rehearsals.items()))


def member(name: str, recipe: Recipe, rehearsal: Rehearsal, budget: Budget) -> Member:
    """The recipe with the budget as its only limit; the warm-up keeps its share of the steps."""
    seconds = float(budget.amount) if budget.kind == "seconds" else 0.0
    tokens = {"tokens": budget.amount, "flops": budget.amount / rehearsal.flops_per_token, "seconds": 0}[budget.kind]
    if tokens and tokens < rehearsal.tokens_per_step:
        least = f"one batch of {name} has {rehearsal.tokens_per_step:,} tokens"
        raise UserError(f"--budget-{budget.kind} {budget.amount:g}: {least}; give more, or a lower train.batch_tokens")
    steps = (tokens or seconds / rehearsal.seconds_per_token) / rehearsal.tokens_per_step
    own_steps = own_tokens(recipe, rehearsal) / rehearsal.own_tokens_per_step
    warmup = round(recipe.train.warmup * steps / own_steps)
    train = replace(recipe.train, steps=0, max_tokens=int(tokens), max_seconds=seconds, warmup=warmup)
    return Member(name, replace(recipe, train=train), rehearsal)


def line(budget: Budget, asked: Asked) -> str:
    given = "" if asked.budget else ", as many as the shortest training of these presets has"
    return f"budget: {budget} for each training{given}"


def summary(member: Member) -> str:
    each = member.rehearsal
    return (
        f"{member.name}: {quantity(each.parameters)} parameters, {quantity(each.flops_per_token)}FLOP and "
        f"{1 / each.seconds_per_token:,.0f} tokens/s in a rehearsal"
    )
