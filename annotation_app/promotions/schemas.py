"""Schemas of revisions, their evaluations, and the pools in which they propose."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from annotation_app.policies.gate import Gate, Reason
from protocol.base import FrozenModel
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.reports import Finding, Rate
from protocol.providers import Provider
from protocol.trajectory.proposals import PolicyRef


class SuiteRate(FrozenModel):
    """A revision's result at a suite."""

    suite: str
    successes: Rate


class GateOutcome(FrozenModel):
    """A pool gate's decision on a report."""

    pool: str
    passed: bool
    promoted: bool
    against: PolicyRef | None
    reasons: tuple[Reason, ...]
    created_at: datetime


class EvaluationSummary(FrozenModel):
    """A report on a revision; `compared` is the result of the comparison with another revision."""

    id: int
    sha256: str
    created_at: datetime
    attempts: int
    suites: tuple[SuiteRate, ...]
    compared: Finding | None
    decisions: tuple[GateOutcome, ...]


class PoolRates(FrozenModel):
    """How people handled a revision's proposals in a pool, and how its attempts ended; None without any."""

    pool: str
    accepted: Rate | None
    succeeded: Rate | None


class RevisionSummary(FrozenModel):
    """One revision of a policy, the pools where it is active or on trial, and its results."""

    id: int
    policy: PolicyRef
    base_url: str
    model: str
    checkpoint: str
    weight_version: str
    sampling: dict[str, JsonValue]
    memory: dict[str, JsonValue]
    prompt: PromptTemplate | None
    """None: the dialect's default."""
    provider: Provider
    provider_settings: dict[str, JsonValue]
    key_hint: str | None
    """The last characters of its server's API key; None without a key."""
    created_at: datetime
    retired: bool
    """It proposes nowhere, and can be neither activated nor tried."""
    active_in: tuple[str, ...]
    tried_in: tuple[str, ...]
    rates: tuple[PoolRates, ...]
    evaluations: tuple[EvaluationSummary, ...]


class PoolPolicies(FrozenModel):
    """A pool's policy, its gate, and how its tasks are chosen. `open_episodes` is how many a change affects at once."""

    id: int
    name: str
    active: int | None
    canary: int | None
    canary_share: int
    gate: Gate | None
    sampling: Literal["in_order", "by_need"]
    open_episodes: int


class Registered(FrozenModel):
    """The result of registering a report; `new` is False if it existed."""

    evaluation: EvaluationSummary
    new: bool
