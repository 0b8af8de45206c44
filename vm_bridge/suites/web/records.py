"""The record of one played episode: one schema for every browser task and every player."""

from typing import Literal

from protocol.base import FrozenModel
from protocol.trajectory.observations import ClockMode
from protocol.trajectory.tasks import Language
from vm_bridge.suites.web.manifest import Reference


class EpisodeRecord(FrozenModel):
    """One episode."""

    suite: str
    task: str
    version: str
    """Of the task."""
    verifier: str
    """SHA-256 of the verifier that judged."""
    seed: int
    level: int
    language: Language
    size: tuple[int, int]
    clock: ClockMode
    actor: Literal["expert", "random"]
    steps: int
    game_ms: float
    reward: float
    """What the episode earned: the score at its end, 0 to 1."""
    points: float | None
    """The task's own count: tiles, apples, lines."""
    expert_normalised: float | None
    """0: like random acts; 1: like the expert. None where the task has no reference."""
    success: bool
    failure: bool
    terminated: bool
    """The task ended by itself or by its answer."""
    truncated: bool
    """Steps or time ran out."""
    reason: str
    frames: tuple[str, ...] = ()
    """SHA-256 of every picture, where they were taken."""


def normalize_score(score: float, reference: Reference | None) -> float | None:
    """A score between that of random acts (0) and the reference's (1); may lie outside."""
    if reference is None or reference.score <= reference.random:
        return None
    return (score - reference.random) / (reference.score - reference.random)
