"""Attempts that reinforcement learns from: sampled tokens and rewards, also as flat tensors."""

import math
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

import torch
from torch import Tensor

from protocol.dialects.dialect import Dialect
from protocol.trajectory.trajectories import Trajectory, without_undone_steps
from trainer.data.rendering import Renderer, TokenizedSample, render_trajectory
from trainer.data.samples import sampled_decisions
from trainer.data.trajectories import TrajectoryFolder
from trainer.errors import AttemptUnjudged, AttemptUnusable, SampleError
from trainer.rl.advantages import Rollout, tail_values
from trainer.rl.rewards import RewardShaping, outcome_reward, shape_rewards

Interface = Literal["gui", "functions"]
FUNCTIONS = {"run_command", "type_terminal", "run_code", "call_tool"}
"""Kinds of acts that are more than a screen's."""


@dataclass(frozen=True)
class Attempt:
    """One attempt as samples, a step each."""

    id: str
    task: str
    """Attempts at the same one are compared with each other (GRPO)."""
    steps: tuple[TokenizedSample, ...]
    rewards: tuple[float, ...]
    """One a step."""
    terminated: bool
    success: bool
    versions: tuple[str, ...]
    """Of the weights that drew its steps, each once."""
    rounds: int
    """Steps that were not undone."""
    thought: float
    """Mean characters of a thought."""
    interface: Interface = "gui"
    """The actions that its prompts offered."""
    judged: bool = False
    """Whether a model decided its reward, and no verifier."""

    @property
    def has_human_steps(self) -> bool:
        """Whether a person decided some of its steps. These are learned without a comparison."""
        return any(one.actor != "policy" for one in self.steps)


@dataclass(frozen=True)
class FlatBatch:
    """The learned tokens of all samples, end to end; T of them in S samples of A attempts."""

    samples: tuple[TokenizedSample, ...]
    sample_starts: tuple[int, ...]
    """Where each sample's tokens begin; S of them."""
    rewards: Tensor
    """Reward of each token, [T]."""
    policy_mask: Tensor
    """Whether the policy sampled the token, [T] (bool)."""
    rollout_logprobs: Tensor
    """Log-probability under the weights that sampled the token, [T]; NaN where unknown or too old."""
    weights: Tensor
    """Weight of each token in losses, [T], from 0."""
    attempt_index: Tensor
    """Number of the token's attempt, [T], from 0, never falling."""
    turn: Tensor
    """Number of the token's step within its attempt, [T]."""
    terminated: Tensor
    """Whether each attempt ended by itself, [A] (bool)."""
    succeeded: Tensor
    """Whether the token's attempt succeeded, [T] (bool)."""

    def places(self, samples: Sequence[int]) -> Tensor:
        """Where the tokens of these samples are, in the order a pack of them has.

        Returns:
            Indices into the T tokens, [tokens of the samples] (int).
        """
        found = [
            torch.arange(self.sample_starts[one], self.sample_starts[one] + sum(self.samples[one].mask))
            for one in samples
        ]
        return torch.cat(found)

    def only(self, selected: Tensor) -> "FlatBatch":
        """The batch of the selected attempts alone.

        Args:
            selected: Which attempts, [A] (bool); at least one.
        """
        samples = [one for one, begin in enumerate(self.sample_starts) if selected[self.attempt_index[begin]]]
        lengths = [sum(self.samples[one].mask) for one in samples]
        tokens = selected[self.attempt_index]
        return FlatBatch(
            samples=tuple(self.samples[one] for one in samples),
            sample_starts=tuple(accumulate(lengths[:-1], initial=0)),
            rewards=self.rewards[tokens],
            policy_mask=self.policy_mask[tokens],
            rollout_logprobs=self.rollout_logprobs[tokens],
            weights=self.weights[tokens],
            attempt_index=(selected.long().cumsum(0) - 1)[self.attempt_index[tokens]],
            turn=self.turn[tokens],
            terminated=self.terminated[selected],
            succeeded=self.succeeded[tokens],
        )

    def rollout(self, values: Tensor) -> Rollout:
        """The input of advantage estimation.

        An attempt that was cut off continues with the critic's value before its last token, since what came after it is
        in no prompt.

        Args:
            values: The critic's values, [T].
        """
        attempts = len(self.terminated)
        last = torch.zeros(attempts, dtype=torch.long)
        last.scatter_reduce_(0, self.attempt_index, torch.arange(len(self.attempt_index)), "amax")
        tail = tail_values(values[last], self.terminated, ~self.terminated)
        return Rollout(self.rewards, values, self.policy_mask, self.attempt_index, self.turn, tail)


def read_attempts(
    folder: TrajectoryFolder, dialect: Dialect, renderer: Renderer, *, shaping: RewardShaping, temperature: float
) -> tuple[list[Attempt], Counter[str]]:
    """The attempts of a folder, and how many others cannot be used, by the code of the reason.

    Args:
        temperature: What all replies must have been sampled at.

    Raises:
        FolderError: The folder cannot be read.
    """
    found: list[Attempt] = []
    left_out: Counter[str] = Counter()
    for trajectory in folder.trajectories():
        try:
            found.append(build_attempt(trajectory, folder, dialect, renderer, shaping, temperature))
        except (AttemptUnusable, SampleError) as error:
            left_out[error.code] += 1
    return found, left_out


def build_attempt(
    trajectory: Trajectory,
    folder: TrajectoryFolder,
    dialect: Dialect,
    renderer: Renderer,
    shaping: RewardShaping,
    temperature: float,
) -> Attempt:
    """One attempt as samples with rewards.

    Args:
        temperature: What every reply must have been sampled at.

    Raises:
        AttemptUnjudged: No outcome is known.
        AttemptUnusable: It is unfinished, sampled at another temperature, or has none of the policy's own tokens.
        SampleError: A step cannot be rendered.
    """
    reward = shape_rewards(trajectory, shaping)
    if reward is None:
        raise AttemptUnjudged(f"{trajectory.id}: it has no outcome: no verdict, judgement or human outcome")
    if not (trajectory.terminated or trajectory.truncated):
        raise AttemptUnusable(f"{trajectory.id}: it neither ended nor was cut off")
    sampled = list(sampled_decisions(trajectory))
    for decision in sampled:
        if decision.sampling.get("temperature", 1.0) != temperature:
            raise AttemptUnusable(f"{trajectory.id} step {decision.index} was drawn at another temperature")
    steps = tuple(
        render_trajectory(
            trajectory,
            dialect,
            renderer,
            read=lambda picture: folder.image(picture).read_bytes(),
            prompts=folder.prompt,
            failures=True,
        )
    )
    if not any(one.logprobs is not None for one in steps):
        raise AttemptUnusable(f"{trajectory.id}: no step has the policy's own tokens")
    standing = without_undone_steps(trajectory).steps
    versions = {span.version for decision in sampled for span in decision.weight_versions}
    return Attempt(
        id=trajectory.id,
        task=comparison_group(trajectory),
        steps=steps,
        rewards=accumulate_rewards(reward.steps, [one.index for one in steps]),
        terminated=trajectory.terminated,
        success=outcome_reward(trajectory) == 1,
        versions=tuple(sorted(versions)),
        rounds=len(standing),
        thought=sum(len(step.thought) for step in standing) / len(standing),
        interface=attempt_interface(trajectory),
        judged=trajectory.reward is not None and trajectory.reward.judged,
    )


def accumulate_rewards(rewards: Sequence[float], steps: Sequence[int]) -> tuple[float, ...]:
    """The reward of each of these steps, by its index, with those of the steps between it and the next one.

    Rewards before the first one are dropped.
    """
    bounds = [*steps, len(rewards)]
    return tuple(sum(rewards[begin:end]) for begin, end in pairwise(bounds))


def attempt_interface(trajectory: Trajectory) -> Interface:
    """Whether functions were offered beside the screen: a shell, a kernel, or tools."""
    offered = FUNCTIONS.intersection(trajectory.capabilities or ())
    return "functions" if trajectory.tools or offered - {"call_tool"} else "gui"


def comparison_group(trajectory: Trajectory) -> str:
    """The task, apart for each interface: one is not a better policy for having had more to work with."""
    task, interface = trajectory.task, attempt_interface(trajectory)
    name = f"{task.suite}/{task.name}/{task.seed}" if task.suite else task.id
    return name if interface == "gui" else f"{name} by {interface}"


def flatten_attempts(attempts: Sequence[Attempt], stale: Container[str] = ()) -> FlatBatch:
    """Attempts as tensors; a step's reward falls on its last token. What `stale` weights drew is not compared."""
    samples = tuple(step for attempt in attempts for step in attempt.steps)
    lengths = [sum(one.mask) for one in samples]
    attempt_numbers = [number for number, attempt in enumerate(attempts) for _ in attempt.steps]
    sample_starts = tuple(sum(lengths[:place]) for place in range(len(lengths)))
    rewards = torch.zeros(sum(lengths))
    ends = torch.tensor(sample_starts) + torch.tensor(lengths) - 1
    rewards[ends] = torch.tensor([value for attempt in attempts for value in attempt.rewards])
    each = torch.tensor(lengths)
    attempt_index = torch.tensor(attempt_numbers).repeat_interleave(each)
    return FlatBatch(
        samples=samples,
        sample_starts=sample_starts,
        rewards=rewards,
        policy_mask=torch.tensor([one.logprobs is not None for one in samples]).repeat_interleave(each),
        rollout_logprobs=torch.tensor([value for one in samples for value in _rollout_logprobs(one, stale)]),
        weights=torch.tensor([weight for one in samples for weight in _weights(one)]),
        attempt_index=attempt_index,
        turn=torch.tensor([one.index for one in samples]).repeat_interleave(each),
        terminated=torch.tensor([attempt.terminated for attempt in attempts]),
        succeeded=torch.tensor([float(attempt.success) for attempt in attempts])[attempt_index],
    )


def _weights(sample: TokenizedSample) -> tuple[float, ...]:
    """Replies of a policy whose tokens were not stored are neither compared nor imitated."""
    if sample.actor == "policy" and sample.logprobs is None:
        return (0.0,) * sum(sample.mask)
    return tuple(weight for weight, learned in zip(sample.weights, sample.mask, strict=True) if learned)


def _rollout_logprobs(sample: TokenizedSample, stale: Container[str]) -> tuple[float, ...]:
    if sample.logprobs is None or not sample.exact:
        return (math.nan,) * sum(sample.mask)
    old = [span.version in stale for span in sample.weight_versions for _ in range(span.tokens or 0)]
    if not any(old):
        return sample.logprobs
    return tuple(math.nan if aged else logprob for logprob, aged in zip(sample.logprobs, old, strict=True))
