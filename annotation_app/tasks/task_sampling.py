"""Which task is needed next: a weight from what became of a kind of task before, and a seeded draw. Pure functions."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import log

from protocol.base import FrozenModel
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step, is_later_of_reply

ACCEPTING_DECISIONS = ("accept", "edit")
OVERRIDING_DECISIONS = ("override", "takeover")


class ProposalCounts(FrozenModel):
    """What became of a policy's proposals, and of attempts that it made alone or that failed."""

    accepted: int = 0
    overridden: int = 0
    succeeded: int = 0
    failed: int = 0


def count_decisions(steps: Sequence[Step], success: bool | None) -> dict[PolicyRef, ProposalCounts]:
    """What an attempt tells of each policy that proposed in it; `steps` are those that count. A success counts only
    where nobody had to override, and it and a failure count for the policy that proposed last. Steps of an autopilot
    are nobody's decision, and a reply with several actions is one."""
    decided: dict[PolicyRef, list[str]] = {}
    for step in steps:
        if step.policy is not None and not is_later_of_reply(step):
            decided.setdefault(step.policy, []).append(step.decision)
    last = next((step.policy for step in reversed(steps) if step.policy is not None), None)
    helped = any(step.decision in OVERRIDING_DECISIONS for step in steps)
    return {
        policy: ProposalCounts(
            accepted=sum(decision in ACCEPTING_DECISIONS for decision in decisions),
            overridden=sum(decision in OVERRIDING_DECISIONS for decision in decisions),
            succeeded=int(policy == last and success is True and not helped),
            failed=int(policy == last and success is False),
        )
        for policy, decisions in decided.items()
    }


def need_score(counts: ProposalCounts) -> float:
    """How likely a decision is overridden or an attempt fails, each by Laplace's rule of succession: 3/4 where
    nothing is known."""
    overridden = (counts.overridden + 1) / (counts.accepted + counts.overridden + 2)
    failed = (counts.failed + 1) / (counts.succeeded + counts.failed + 2)
    return 1 - (1 - overridden) * (1 - failed)


def sampling_weight(counts: ProposalCounts, done: int) -> float:
    """The need of a task's kind, shared among the times that this very task was done before."""
    return need_score(counts) / (1 + done)


def weighted_order(weights: Mapping[int, float], seed: str) -> list[int]:
    """The keys in a random order in which each comes first with a probability as its weight (Efraimidis and
    Spirakis); the same seed gives the same order."""
    return sorted(weights, key=lambda key: (log(_seeded_unit(seed, key)) / weights[key], key), reverse=True)


def seeded_chance(seed: str, percent: int) -> bool:
    """Whether a lot that falls in so many of a hundred cases fell in this one, which its seed names."""
    return _seeded_unit(seed, 0) < percent / 100


def _seeded_unit(seed: str, key: int) -> float:
    """A number above 0 and below 1 that follows from seed and key."""
    return (int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:6]) + 0.5) / 2**48
