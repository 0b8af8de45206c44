"""What is shown of revisions, of what evaluations found, and of the pools they propose in."""

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
    """How a revision did at a suite."""

    suite: str
    successes: Rate


class GateOutcome(FrozenModel):
    """What a pool's gate said of a report."""

    pool: str
    passed: bool
    promoted: bool
    against: PolicyRef | None
    reasons: tuple[Reason, ...]
    created_at: datetime


class EvaluationSummary(FrozenModel):
    """A report on a revision; `compared` is what it found against the revision it was compared with."""

    id: int
    sha256: str
    created_at: datetime
    attempts: int
    suites: tuple[SuiteRate, ...]
    compared: Finding | None
    decisions: tuple[GateOutcome, ...]


class PoolRates(FrozenModel):
    """What people did with a revision's proposals in a pool, and how its attempts ended; None where there are none."""

    pool: str
    accepted: Rate | None
    succeeded: Rate | None


class RevisionSummary(FrozenModel):
    """One revision of a policy, the pools it proposes in, as the active one or on trial, and how it does."""

    id: int
    policy: PolicyRef
    base_url: str
    model: str
    checkpoint: str
    weight_version: str
    sampling: dict[str, JsonValue]
    memory: dict[str, JsonValue]
    prompt: PromptTemplate | None
    """None: the dialect's own."""
    provider: Provider
    provider_settings: dict[str, JsonValue]
    key_hint: str | None
    """The last characters of its server's API key; None where none was entered."""
    created_at: datetime
    retired: bool
    """It proposes nowhere, and cannot be made to."""
    active_in: tuple[str, ...]
    tried_in: tuple[str, ...]
    rates: tuple[PoolRates, ...]
    evaluations: tuple[EvaluationSummary, ...]


class PoolPolicies(FrozenModel):
    """Who proposes in a pool, what the next one must show, and how its tasks are chosen; `open_episodes` is how many
    a change reaches at once."""

    id: int
    name: str
    active: int | None
    canary: int | None
    canary_share: int
    gate: Gate | None
    sampling: Literal["in_order", "by_need"]
    open_episodes: int


class Registered(FrozenModel):
    """What a report led to; `new` is False where it was there already."""

    evaluation: EvaluationSummary
    new: bool
