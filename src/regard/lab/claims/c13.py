"""C13: a step of an RNN is linear in the length of its text, and cannot use a parallel machine."""

from functools import partial

import torch
from torch.nn.functional import cross_entropy

from regard.evaluate.cost import SIZES
from regard.lab.bench import fastest
from regard.lab.chain import longest_chain, step_by_step
from regard.lab.claims.c25 import power
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial
from regard.shapes import Int, Tensor
from regard.systems import System, built
from regard.train.device import choose_device
from regard.train.flops import flop_counter

RNN, LSTM, ATTENTION = "RNN", "LSTM", "attention"
RECURRENT = RNN, LSTM
VOCABULARY, REPEATS = 50, 5


def measure(trial: Trial) -> list[Row]:
    """Time, steps of a layer and use of the machine by length; then its use by short texts side by side."""
    torch.manual_seed(trial.seed)
    device, lengths = choose_device(trial.device), trial.size["lengths"]
    model = built(trial.recipe().system, VOCABULARY).to(device)
    text = torch.randint(VOCABULARY, (max(trial.size["texts"]), max(lengths) + 1), device=device)
    layer = built(trial.recipe("system.depth=1").system, VOCABULARY)
    peak, rows = rate(device), []
    for length in lengths:
        with step_by_step():
            steps = longest_chain(layer.hidden(text[:1, :length].cpu()))
        seconds, flops = trained(model, text[:1, : length + 1])
        rows.append({"length": length, "steps": steps, "ms": 1e3 * seconds, "used": 100 * flops / seconds / peak})
    for count in trial.size["texts"]:
        seconds, flops = trained(model, text[:count, : lengths[0] + 1])
        rows.append({"texts": count, "beside": 100 * flops / seconds / peak})
    return rows


def trained(model: System, text: Int[Tensor, "b t"]) -> tuple[float, float]:
    """The seconds of a training step, without the update of the weights, and the FLOPs of its matrix products."""
    with flop_counter() as counter:
        step(model, text)
    return fastest(text.device, partial(step, model, text), REPEATS), counter.get_total_flops()


def step(model: System, text: Int[Tensor, "b t"]) -> None:
    loss = cross_entropy(model.decode(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    torch.autograd.grad(loss, list(model.parameters()))


def rate(device: torch.device) -> float:
    """FLOP/s of one large matrix product: what the machine can do when nothing has to wait."""
    size = SIZES[device.type]
    one = torch.randn(size, size, device=device)
    return 2 * size**3 / fastest(device, lambda: one @ one, REPEATS)


def linear(of: Found, arm: str) -> bool:
    return 0.8 <= power(of, arm, "ms") <= 1.2


def idle(of: Found, arm: str) -> bool:
    return of.last("used", arm, "length") < of.last("used", ATTENTION, "length") / 2


OVER: Row = {"x": "length", "across": "tokens", "log": "xy"}
USED = "% of what a large matrix product gets"
EXPERIMENT = Experiment(
    id="C13",
    title="Linear, but one after another",
    claim="A step of an RNN costs time in proportion to the length of its text, but cannot use a parallel machine.",
    method="Training steps of language models with two layers on one text of several lengths, and on several texts "
    "side by side. Their matrix products are counted (attention's over all pairs) and timed: 100% is the rate of "
    "one large matrix product, which may be passed where that is no ceiling. Steps are products of a layer that need "
    "one another's results.",
    refuted="an RNN's time does not grow with the length, or its longest text has half of attention's rate or more",
    arms={RNN: Arm("rnn-lm"), LSTM: Arm("lstm-lm"), ATTENTION: Arm("gpt")},
    settings=("system.depth=2",),
    timed=("ms", "used", "beside"),
    small=Size(5, "system.width=128", "system.context=1025", lengths=(64, 128, 256, 512, 1024), texts=(1, 2, 4, 8, 16)),
    full=Size(
        *(30, "system.width=512", "system.context=2049"),
        lengths=(128, 256, 512, 1024, 2048),
        texts=(1, 4, 16, 64),
    ),
    measure=measure,
    predictions=(
        Prediction(
            "the time of an RNN's step grows with a power of the length between 0.8 and 1.2, and the longest text has "
            "less than half of the rate of matrix products that it has with attention",
            lambda of: linear(of, RNN) and idle(of, RNN),
        ),
        Prediction("the same holds for an LSTM", lambda of: linear(of, LSTM) and idle(of, LSTM)),
        Prediction(
            "what waits for one another in a layer grows with the text in an RNN and an LSTM, and not with attention",
            lambda of: [round(power(of, arm, "steps"), 3) for arm in (*RECURRENT, ATTENTION)] == [1, 1, 0],
        ),
    ),
    tells=lambda of: (
        f"time grows with the power {power(of, RNN, 'ms'):.2f} of the length in an RNN, {power(of, LSTM, 'ms'):.2f} in "
        f"an LSTM, {power(of, ATTENTION, 'ms'):.2f} with attention; of the rate of a large matrix product "
        "one long text uses "
        + "; many short ones side by side use ".join(
            ", ".join(f"{of.last(name, arm, by):.1f}% ({arm})" for arm in (*RECURRENT, ATTENTION))
            for name, by in (("used", "length"), ("beside", "texts"))
        )
    ),
    otherwise="more texts side by side and wider layers, with which each step has more to do; or a machine that is "
    "hardly parallel, such as one thread of a processor, which a good kernel for LSTMs keeps busy",
    panels=(
        Lines(y="ms", title="Time of a training step", label="milliseconds", **OVER),
        Lines(y="used", title="One text: rate of products", label=USED, **OVER),
        Lines(x="texts", y="beside", title="Short texts side by side", across="texts", label=USED, log="xy"),
    ),
)
