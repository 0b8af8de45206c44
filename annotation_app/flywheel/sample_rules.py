"""What a sample is worth, from all that was said of it, and where it goes then. Pure: each is kept with the sample."""

from typing import Annotated, Literal

from pydantic import Field

from annotation_app.flywheel.recipe import ReinforcementTraining
from protocol.base import FrozenModel

By = Literal["review", "verifier", "outcome", "judge", "nobody"]
REFUSALS = ("returned", "rejected")
"""Reviews that say no."""


class Grounds(FrozenModel):
    """What is known of how an attempt ended. Each is kept with the sample, also those that did not count."""

    review: Literal["pending", "accepted", "returned", "rejected"] = "pending"
    verifier: bool | None = None
    outcome: str = ""
    """What the annotator called it."""
    judge: Annotated[float, Field(ge=0, le=1)] | None = None
    """The score of the newest judging model that said something."""


class Value(FrozenModel):
    """What it is worth, 0 to 1, and by whose word; None where nobody can tell. `contested`: another one disagrees."""

    value: float | None
    by: By
    contested: bool = False


def value_of(grounds: Grounds) -> Value:
    """A reviewer's no, then the verifier, then a reviewer's yes to what the annotator said, the annotator, a judge."""
    told = _told(grounds)
    if told is None:
        return Value(value=None, by="nobody")
    by, value = told
    others = (None if grounds.verifier is None else float(grounds.verifier), _of_outcome(grounds.outcome))
    contested = any(other is not None and (other >= 0.5) != (value >= 0.5) for other in others)
    return Value(value=value, by=by, contested=contested)


def _told(grounds: Grounds) -> tuple[By, float] | None:
    outcome = _of_outcome(grounds.outcome)
    if grounds.review in REFUSALS:
        return "review", 0.0
    if grounds.verifier is not None:
        return "verifier", float(grounds.verifier)
    if outcome is not None:
        return "review" if grounds.review == "accepted" else "outcome", outcome
    return None if grounds.judge is None else ("judge", grounds.judge)


def _of_outcome(outcome: str) -> float | None:
    """An attempt at what cannot be done, or that broke off, says nothing of how well it was done."""
    return {"success": 1.0, "failure": 0.0}.get(outcome)


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
