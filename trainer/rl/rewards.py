"""The rewards of an attempt, step by step: its outcome and reward shaping."""

from dataclasses import dataclass

from protocol.actions.types import NoAction
from protocol.training.replies import readable_share, reply_lengths
from protocol.trajectory.trajectories import Trajectory, without_undone_steps
from trainer.data.corrections import intervention_onsets


@dataclass(frozen=True)
class RewardShaping:
    """How much each term weighs; all but the outcome are off until they are given a factor."""

    outcome: float = 1.0
    """Success, or with `partial` the verifier's score."""
    partial: bool = False
    """Whether a score between failure and success is worth something."""
    format: float = 0.0
    """The share of the policy's replies that could be read (ARPO: 0.5)."""
    lapse: float = 0.0
    """What a step costs whose reply was no action; it falls on that very reply."""
    length: float = 0.0
    """What a reply as long as may be costs (DAPO: 1)."""
    longest: int = 1024
    """As long as a reply may be (tokens)."""
    buffer: int = 256
    """From so many tokens below `longest` on, length costs."""
    budget: float = 0.0
    """What an attempt with as many steps as may be costs."""
    free_steps: int = 0
    """So many steps cost nothing."""
    most_steps: int = 50
    """As many steps as may be."""
    onset: float = 0.0
    """What it costs that a person has to step in (RLIF: 1)."""


@dataclass(frozen=True)
class ShapedRewards:
    """The reward of each step that was not undone, and its terms. Terms of the whole attempt fall on its last step."""

    steps: tuple[float, ...]
    outcome: float
    """Of success or the verifier's score."""
    format: float
    """Of readable replies."""
    lapse: float
    """Of replies that were no action, at most 0."""
    length: float
    """Of long replies, at most 0."""
    budget: float
    """Of many steps, at most 0."""
    onset: float
    """Of a person's corrections, at most 0."""


def shape_rewards(trajectory: Trajectory, shaping: RewardShaping) -> ShapedRewards | None:
    """The rewards of an attempt; None if it has no step, or if its outcome is unknown.

    A correction's penalty falls on the person's step. The policy has no token there, so the advantages carry it to its
    last one before (`trainer.rl.advantages`): the act that made the person step in.
    """
    standing = without_undone_steps(trajectory)
    result = outcome_reward(standing, partial=shaping.partial)
    if result is None or not standing.steps:
        return None
    earned = trajectory.reward
    lengths = reply_lengths(standing) if earned is None else earned.reply_tokens
    share = readable_share(trajectory) if earned is None else earned.readable_share
    punished = [
        shaping.length * length_penalty(length, longest=shaping.longest, buffer=shaping.buffer) for length in lengths
    ]
    lapses = [-shaping.lapse if isinstance(step.action, NoAction) else 0.0 for step in standing.steps]
    onsets = [-shaping.onset if onset else 0.0 for onset in intervention_onsets(standing)]
    outcome = shaping.outcome * result
    format_ = shaping.format * (share or 0.0)
    budget = shaping.budget * budget_penalty(len(standing.steps), free=shaping.free_steps, most=shaping.most_steps)
    steps = [sum(terms) for terms in zip(lapses, punished, onsets, strict=True)]
    steps[-1] += outcome + format_ + budget
    return ShapedRewards(tuple(steps), outcome, format_, sum(lapses), sum(punished), budget, sum(onsets))


def outcome_reward(trajectory: Trajectory, *, partial: bool = False) -> float | None:
    """The reward of an attempt's outcome, 0 to 1: the reward that was decided when it was made, else that of the
    verifier or of the person who made it. None if the outcome is unknown."""
    earned = trajectory.reward
    if earned is None or (partial and earned.source == "verifier" and not earned.unearned):
        return known_outcome(trajectory, partial=partial)
    return earned.value


def known_outcome(trajectory: Trajectory, *, partial: bool = False) -> float | None:
    """1 for success, 0 for failure, by the verifier where there is one, else by the person who made it; None where
    neither can say. What a policy says of its own attempt is no outcome: it would learn to say it. No more is what a
    judging model says, from which no judge may learn."""
    verdict = trajectory.verdict
    if verdict is not None and verdict.success is not None:
        return verdict.score if partial else float(verdict.success)
    if trajectory.origin != "annotation":
        return None
    return {"success": 1.0, "failure": 0.0}.get(trajectory.outcome or "")


def length_penalty(length: int, *, longest: int, buffer: int) -> float:
    """Soft overlong punishment (DAPO, Yu et al. 2025, arXiv 2503.14476, section 3.4, equation 13).

    Args:
        length: Tokens of the reply.
        longest: Tokens from which on the penalty is -1.
        buffer: Tokens over which it falls from 0 to -1, up to `longest`.

    Returns:
        From -1 to 0.

    Raises:
        ValueError: `buffer` is not above 0, or above `longest`.
    """
    if not 0 < buffer <= longest:
        raise ValueError("the buffer is above 0 and within the longest")
    return max(-1.0, min(0.0, -(length - (longest - buffer)) / buffer))


def budget_penalty(steps: int, *, free: int, most: int) -> float:
    """0 up to `free` steps, then linearly down to -1 at `most` steps.

    Raises:
        ValueError: `free` is negative, or not below `most`.
    """
    if not 0 <= free < most:
        raise ValueError("fewer steps are free than may be")
    return max(-1.0, min(0.0, -(steps - free) / (most - free)))
