"""Where a sample goes, and why: pure rules over what the earlier stages found."""

from typing import Literal

from annotation_app.flywheel.recipe import ReinforcementTraining
from protocol.base import FrozenModel

Route = Literal["sft", "ct", "none"]
Reason = Literal[
    "passes",
    "below",
    "unvalued",
    "not_executable",
    "turned_down",
    "duplicate",
    "held_out",
    "withdrawn",
]


class RoutingInput(FrozenModel):
    """What routing looks at."""

    value: float | None
    turned_down: bool = False
    """A reviewer said no."""
    executable: bool | None = None
    """Whether its acts could be done again; None where nobody tried."""
    duplicate: bool = False
    held_out: bool = False
    """At a task that the gate tries."""
    withdrawn: bool = False


class RoutingDecision(FrozenModel):
    """Where, and why."""

    route: Route
    reason: Reason


def decide_route(subject: RoutingInput, *, passes: float) -> RoutingDecision:
    """Imitated where it passes, else read in continued pre-training; what would mislead, or says nothing new, is left
    out."""
    left_out: dict[Reason, bool] = {
        "withdrawn": subject.withdrawn,
        "held_out": subject.held_out,
        "turned_down": subject.turned_down,
        "duplicate": subject.duplicate,
    }
    for reason, holds in left_out.items():
        if holds:
            return RoutingDecision(route="none", reason=reason)
    if subject.executable is False:
        return RoutingDecision(route="ct", reason="not_executable")
    if subject.value is None:
        return RoutingDecision(route="ct", reason="unvalued")
    return (
        RoutingDecision(route="sft", reason="passes")
        if subject.value >= passes
        else RoutingDecision(route="ct", reason="below")
    )


def is_worth_playing(rule: ReinforcementTraining, *, succeeded: int, attempts: int) -> bool:
    """Whether reinforcement at a kind of task can teach anything: it is neither always done nor never."""
    low, high = rule.between
    return attempts >= rule.attempts and low <= succeeded / attempts <= high
