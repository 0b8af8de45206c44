"""Rules for a sample's value and its route, from all verdicts on it. Pure functions; their results are stored with the
sample."""

from typing import Annotated, Literal

from pydantic import Field

from annotation_app.flywheel.recipe import ReinforcementTraining
from protocol.base import FrozenModel

By = Literal["review", "verifier", "outcome", "judge", "nobody"]
REFUSALS = ("returned", "rejected")
"""Rejecting reviews."""


class Grounds(FrozenModel):
    """All verdicts on an attempt. Each is stored with the sample, including those that did not count."""

    review: Literal["pending", "accepted", "returned", "rejected"] = "pending"
    verifier: bool | None = None
    outcome: str = ""
    """The annotator's outcome."""
    judge: Annotated[float, Field(ge=0, le=1)] | None = None
    """The score of the newest judge model that gave one."""


class Value(FrozenModel):
    """The value, 0 to 1, and its source; None if unknown. `contested`: another verdict disagrees."""

    value: float | None
    by: By
    contested: bool = False


def value_of(grounds: Grounds) -> Value:
    """In this order: a reviewer's rejection, the verifier, a reviewer's acceptance of the annotator's outcome, the
    annotator, a judge."""
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
    """An infeasible or aborted attempt says nothing about how well the task was done."""
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
    """Input of the routing decision."""

    value: float | None
    turned_down: bool = False
    """Whether a reviewer rejected it."""
    executable: bool | None = None
    """Whether its acts could be replayed; None if not tried."""
    duplicate: bool = False
    held_out: bool = False
    """Whether its task is one that the gate tries."""
    withdrawn: bool = False


class RoutingDecision(FrozenModel):
    """The route and the reason."""

    route: Route
    reason: Reason


def decide_route(subject: RoutingInput, *, passes: float) -> RoutingDecision:
    """Imitate samples that pass, and use others for continued pre-training. Leave out samples that would mislead or add
    nothing new."""
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
    """Whether reinforcement can learn from a kind of task: it succeeds sometimes, but not always."""
    low, high = rule.between
    return attempts >= rule.attempts and low <= succeeded / attempts <= high
