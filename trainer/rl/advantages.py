"""How much better than expected each token was: generalised advantage estimation, and what goes with it.

Attempts lie end to end in flat tensors, a place a token. Only tokens the policy wrote are moments in time: what it was
shown between two of its replies is skipped, so the advantage and the value of the next reply are carried back whole,
however long the screen's tokens are. A reward on a token that is not the policy's belongs to the last one before it.

The recursion A[t] = d[t] + c[t] A[t+1] is solved by doubling: log2(tokens) steps over whole tensors.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

ALPHA = 0.05
"""UI-TARS-2's and VAPO's: credit reaches back over this share of a length."""
ROUNDING = 1e-6
"""Numbers that differ by less than this share of them are equal: returns are sums in single precision."""


@dataclass(frozen=True)
class Rollout:
    """Attempts laid end to end; all but `tail` have one place a token."""

    rewards: Tensor
    values: Tensor
    """What the critic expects before each token."""
    policy_mask: Tensor
    """Whether the policy wrote it (bool)."""
    attempt_index: Tensor
    """Which attempt it belongs to: 0, 1, 2, … never falling."""
    turn: Tensor
    """Which of the attempt's steps it belongs to, never falling within an attempt."""
    tail: Tensor
    """Of each attempt, the value of where it stopped (`tail_values`)."""

    def __post_init__(self) -> None:
        """Raises ValueError where the tensors do not fit each other, or attempts lie in one another."""
        if len({len(one) for one in (self.rewards, self.values, self.policy_mask, self.attempt_index, self.turn)}) > 1:
            raise ValueError("a rollout has one reward, value, attempt and turn a token")
        index = self.attempt_index
        if bool((index.diff() < 0).any()) or (len(index) and int(index[-1]) >= len(self.tail)):
            raise ValueError("attempts lie end to end, each with its tail")


@dataclass(frozen=True)
class Advantages:
    """Per token, shape (T,); both are zero for tokens that the policy did not write."""

    advantages: Tensor
    returns: Tensor
    """The critic's targets."""


@dataclass(frozen=True)
class Moments:
    """Sums that give mean and variance; those of several ranks are added."""

    weight: Tensor
    first: Tensor
    second: Tensor

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.weight + other.weight, self.first + other.first, self.second + other.second)


def tail_values(values: Tensor, terminated: Tensor, truncated: Tensor) -> Tensor:
    """What an attempt was still worth where it stopped: nothing where the task ended, the critic's guess if it was cut.

    Raises ValueError where an attempt neither ended nor was cut: it is still on its way.
    """
    if not bool((terminated | truncated).all()):
        raise ValueError("an attempt neither terminated nor was truncated")
    return torch.where(terminated, torch.zeros_like(values), values)


def adaptive_lambda(
    rollout: Rollout,
    *,
    alpha: float = ALPHA,
    by: Literal["step", "trajectory"] = "trajectory",
    least: float = 0.0,
    most: float = 1.0,
) -> Tensor:
    """λ = 1 - 1/(αl) of each token, within bounds; l is how many tokens the policy wrote in its step or attempt."""
    if by == "trajectory":
        group = rollout.attempt_index
    else:
        group = torch.stack([rollout.attempt_index, rollout.turn]).unique_consecutive(dim=1, return_inverse=True)[1]
    policy_mask = rollout.policy_mask.to(_precise(rollout.values).dtype)
    lengths = policy_mask.new_zeros(int(group.max()) + 1 if len(group) else 0).index_add(0, group, policy_mask)
    return (1 - 1 / (alpha * lengths.clamp(min=1))).clamp(least, most)[group]


def token_advantages(
    rollout: Rollout,
    *,
    gamma: float = 1.0,
    policy_lambda: float | Tensor = 0.95,
    critic_lambda: float | Tensor = 1.0,
) -> Advantages:
    """Every token the policy wrote is a moment. Advantages by one λ, the critic's targets by another (decoupled GAE).

    A λ is one number or one of each token. All is computed in single precision or better, whatever the critic's.
    """
    at = rollout.policy_mask.nonzero()[:, 0]
    rewards = _accumulate_rewards(rollout, at)
    values, attempt_index = _precise(rollout.values[at]), rollout.attempt_index[at]
    advantages = _gae(rewards, values, attempt_index, rollout.tail, gamma, _at(policy_lambda, at))
    returns = values + _gae(rewards, values, attempt_index, rollout.tail, gamma, _at(critic_lambda, at))
    return Advantages(_broadcast(rollout, at, advantages), _broadcast(rollout, at, returns))


def group_advantages(rewards: Tensor, groups: Tensor, *, scale: bool = True, epsilon: float = 1e-6) -> Tensor:
    """GRPO: of each attempt, its reward above the mean of its task's, over their deviation (n - 1) where `scale`.

    A group that is of one mind, or of one attempt, says nothing: zero.
    """
    named = groups.unique(return_inverse=True)[1]
    counts = torch.bincount(named).to(rewards.dtype)
    empty = torch.zeros_like(counts)
    above = rewards - (empty.index_add(0, named, rewards) / counts)[named]
    spread = (empty.index_add(0, named, above.square()) / (counts - 1).clamp(min=1)).sqrt()
    found = above / (spread[named] + epsilon) if scale else above
    return torch.where(has_reward_variance(rewards, groups), found, 0)


def has_reward_variance(rewards: Tensor, groups: Tensor) -> Tensor:
    """Which attempts are of a group whose rewards differ: DAPO drops the others, which teach nothing."""
    named = groups.unique(return_inverse=True)[1]
    empty = torch.zeros(int(named.max()) + 1 if len(named) else 0, dtype=rewards.dtype, device=rewards.device)
    most, least = (empty.scatter_reduce(0, named, rewards, how, include_self=False) for how in ("amax", "amin"))
    return (most > least)[named]


def moments(values: Tensor, weights: Tensor) -> Moments:
    """The sums of what counts, in double precision."""
    counted = torch.where(weights != 0, values.double(), 0)
    weight = weights.double()
    return Moments(weight.sum(), (weight * counted).sum(), (weight * counted.square()).sum())


def whiten(values: Tensor, weights: Tensor, seen: Moments | None = None, *, epsilon: float = 1e-8) -> Tensor:
    """What counts, brought to mean 0 and deviation 1; zero elsewhere. `seen` are the moments of the whole update."""
    seen = seen or moments(values, weights)
    mean = seen.first / seen.weight.clamp(min=1e-12)
    variance = (seen.second / seen.weight.clamp(min=1e-12) - mean.square()).clamp(min=0)
    return torch.where(weights != 0, (values - mean) / (variance + epsilon).sqrt(), 0).to(values.dtype)


def explained_variance(returns: Tensor, values: Tensor, weights: Tensor) -> float:
    """1 - Var(returns - values) / Var(returns): 1 for a perfect critic, 0 for a constant, NaN if returns are equal, but
    for rounding."""
    whole, left = _variance(returns, weights), _variance(returns - values, weights)
    largest = float(returns[weights != 0].abs().max()) if bool((weights != 0).any()) else 0.0
    return 1 - left / whole if whole > (ROUNDING * largest) ** 2 else float("nan")


def _accumulate_rewards(rollout: Rollout, at: Tensor) -> Tensor:
    """Of each written token, its reward and those of what follows it up to the next; before the first, nobody's."""
    place = rollout.policy_mask.long().cumsum(0) - 1
    known = place >= 0
    known[known.clone()] &= rollout.attempt_index[at[place[known]]] == rollout.attempt_index[known]
    rewards = _precise(rollout.rewards)
    return rewards.new_zeros(len(at)).index_add(0, place[known], rewards[known])


def _gae(
    rewards: Tensor, values: Tensor, attempt_index: Tensor, tail: Tensor, gamma: float, decay: float | Tensor
) -> Tensor:
    """A[t] = r[t] + γ V[t+1] - V[t] + γ λ[t] A[t+1], over moments; the last of an attempt is followed by its tail."""
    goes_on = torch.zeros_like(attempt_index, dtype=torch.bool)
    goes_on[:-1] = attempt_index[1:] == attempt_index[:-1]
    next_values = torch.where(goes_on, values.roll(-1), tail.to(values.dtype)[attempt_index])
    total = rewards + gamma * next_values - values
    reach = gamma * torch.as_tensor(decay, dtype=values.dtype, device=values.device) * goes_on
    step, longest = 1, int(attempt_index.bincount().max()) if len(attempt_index) else 0
    while step < longest:
        total = torch.cat([total[:-step] + reach[:-step] * total[step:], total[-step:]])
        reach = torch.cat([reach[:-step] * reach[step:], torch.zeros_like(reach[-step:])])
        step *= 2
    return total


def _broadcast(rollout: Rollout, at: Tensor, found: Tensor) -> Tensor:
    return found.new_zeros(len(rollout.values)).index_copy(0, at, found)


def _at(decay: float | Tensor, at: Tensor) -> float | Tensor:
    return decay[at] if isinstance(decay, Tensor) and decay.ndim else decay


def _variance(values: Tensor, weights: Tensor) -> float:
    seen = moments(values, weights)
    mean = seen.first / seen.weight
    return float((torch.where(weights != 0, values.double() - mean, 0).square() * weights).sum() / seen.weight)


def _precise(values: Tensor) -> Tensor:
    return values.detach().to(torch.promote_types(values.dtype, torch.float32))
