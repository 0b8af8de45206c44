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
    """Attempts laid end to end: T tokens in all.

    Raises:
        ValueError: The tensors do not fit each other, or attempts are not end to end.
    """

    rewards: Tensor
    """Reward that falls on each token, [T]; no bound."""
    values: Tensor
    """What the critic expects before each token, [T], in units of reward."""
    policy_mask: Tensor
    """Whether the policy wrote the token, [T] (bool)."""
    attempt_index: Tensor
    """Number of the token's attempt, [T]: 0, 1, 2, … never falling."""
    turn: Tensor
    """Number of the step within the attempt, [T], never falling within an attempt."""
    tail: Tensor
    """Value of where each attempt stopped, [attempts] (`tail_values`)."""

    def __post_init__(self) -> None:
        """Check the shapes and the order of attempts."""
        if len({len(one) for one in (self.rewards, self.values, self.policy_mask, self.attempt_index, self.turn)}) > 1:
            raise ValueError("a rollout has one reward, value, attempt and turn a token")
        index = self.attempt_index
        if bool((index.diff() < 0).any()) or (len(index) and int(index[-1]) >= len(self.tail)):
            raise ValueError("attempts lie end to end, each with its tail")


@dataclass(frozen=True)
class Advantages:
    """Result of `token_advantages`. Both are zero for tokens that the policy did not write."""

    advantages: Tensor
    """Policy's advantages, [T], in units of reward."""
    returns: Tensor
    """The critic's targets, [T], in units of reward."""


@dataclass(frozen=True)
class Moments:
    """Sums that give mean and variance; those of several ranks are added."""

    weight: Tensor
    """Sum of weights, []."""
    first: Tensor
    """Weighted sum of values, []."""
    second: Tensor
    """Weighted sum of squares, []."""

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.weight + other.weight, self.first + other.first, self.second + other.second)


def tail_values(values: Tensor, terminated: Tensor, truncated: Tensor) -> Tensor:
    """What each attempt was still worth where it stopped.

    0 where the task ended, the critic's value where it was cut off.

    Args:
        values: The critic's value of the last state, [attempts].
        terminated: Whether the task ended, [attempts] (bool).
        truncated: Whether the attempt was cut off, [attempts] (bool).

    Returns:
        Values in units of reward, [attempts].

    Raises:
        ValueError: An attempt neither ended nor was cut off, so it is still running.
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
    """Length-adaptive λ = 1 - 1/(αl) of each token (VAPO, Yue et al. 2025, arXiv 2504.05118, "Length-Adaptive GAE").

    Args:
        rollout: Attempts end to end.
        alpha: α, above 0; 0.05 in VAPO and UI-TARS-2. Credit reaches back about α·l tokens.
        by: Whether l counts the policy's tokens in the step or in the whole attempt. The papers do not say which.
        least: Lower bound of λ, from 0 to 1.
        most: Upper bound of λ, from 0 to 1.

    Returns:
        λ of each token, [T].
    """
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
    """Generalised advantage estimation over the tokens that the policy wrote, with two λ (decoupled GAE).

    Computed in single precision or better, whatever the critic's precision.

    Sources: GAE is Schulman et al. 2016 (arXiv 1506.02438, section 3); one λ for the policy and one for the critic's
    targets is VC-PPO, Yuan et al. 2025 (arXiv 2503.01491).

    Args:
        rollout: Attempts end to end.
        gamma: Discount between two tokens of the policy, 0 to 1.
        policy_lambda: λ of the advantages, 0 to 1; a number or [T].
        critic_lambda: λ of the critic's targets, 0 to 1; a number or [T]. With 1 and no discount they are the returns.
    """
    at = rollout.policy_mask.nonzero()[:, 0]
    rewards = _accumulate_rewards(rollout, at)
    values, attempt_index = _precise(rollout.values[at]), rollout.attempt_index[at]
    advantages = _gae(rewards, values, attempt_index, rollout.tail, gamma, _at(policy_lambda, at))
    returns = values + _gae(rewards, values, attempt_index, rollout.tail, gamma, _at(critic_lambda, at))
    return Advantages(_broadcast(rollout, at, advantages), _broadcast(rollout, at, returns))


def group_advantages(rewards: Tensor, groups: Tensor, *, scale: bool = True, epsilon: float = 1e-6) -> Tensor:
    """GRPO: each attempt's reward less the mean of its group.

    Source: DeepSeekMath, Shao et al. 2024 (arXiv 2402.03300, section 4.1).

    Args:
        rewards: Of each attempt, [attempts].
        groups: Number of each attempt's group, [attempts] (int); any numbers.
        scale: Divide by the group's standard deviation, computed with n - 1.
        epsilon: Added to the deviation, above 0.

    Returns:
        [attempts]; 0 in a group of one, and where all rewards of a group are equal.
    """
    named = groups.unique(return_inverse=True)[1]
    counts = torch.bincount(named).to(rewards.dtype)
    empty = torch.zeros_like(counts)
    above = rewards - (empty.index_add(0, named, rewards) / counts)[named]
    spread = (empty.index_add(0, named, above.square()) / (counts - 1).clamp(min=1)).sqrt()
    found = above / (spread[named] + epsilon) if scale else above
    return torch.where(has_reward_variance(rewards, groups), found, 0)


def has_reward_variance(rewards: Tensor, groups: Tensor) -> Tensor:
    """Which attempts are of a group whose rewards differ.

    DAPO drops the others, since they teach nothing (Yu et al. 2025, arXiv 2503.14476, section 3.2 "Dynamic Sampling").

    Args:
        rewards: Of each attempt, [attempts].
        groups: Number of each attempt's group, [attempts] (int).

    Returns:
        [attempts] (bool).
    """
    named = groups.unique(return_inverse=True)[1]
    empty = torch.zeros(int(named.max()) + 1 if len(named) else 0, dtype=rewards.dtype, device=rewards.device)
    most, least = (empty.scatter_reduce(0, named, rewards, how, include_self=False) for how in ("amax", "amin"))
    return (most > least)[named]


def moments(values: Tensor, weights: Tensor) -> Moments:
    """Weighted sums in double precision.

    Args:
        values: Any shape [...].
        weights: The same shape [...]; what has weight 0 is ignored, even where it is no number.
    """
    counted = torch.where(weights != 0, values.double(), 0)
    weight = weights.double()
    return Moments(weight.sum(), (weight * counted).sum(), (weight * counted.square()).sum())


def whiten(values: Tensor, weights: Tensor, seen: Moments | None = None, *, epsilon: float = 1e-8) -> Tensor:
    """Shift and scale values to mean 0 and deviation 1.

    Args:
        values: Any shape [...].
        weights: The same shape [...]; 0 leaves a value out.
        seen: Moments of the whole update, over all ranks; None: of these values.
        epsilon: Added to the variance, above 0.

    Returns:
        The shape of `values` [...]; zero where the weight is 0.
    """
    seen = seen or moments(values, weights)
    mean = seen.first / seen.weight.clamp(min=1e-12)
    variance = (seen.second / seen.weight.clamp(min=1e-12) - mean.square()).clamp(min=0)
    return torch.where(weights != 0, (values - mean) / (variance + epsilon).sqrt(), 0).to(values.dtype)


def explained_variance(returns: Tensor, values: Tensor, weights: Tensor) -> float:
    """1 - Var(returns - values) / Var(returns): 1 for a perfect critic, 0 for a constant, negative for a worse one.

    Args:
        returns: The critic's targets, [T].
        values: What the critic expected, [T].
        weights: Weight of each token, [T]; 0 leaves it out.

    Returns:
        At most 1; NaN where all returns are equal, but for rounding.
    """
    whole, left = _variance(returns, weights), _variance(returns - values, weights)
    largest = float(returns[weights != 0].abs().max()) if bool((weights != 0).any()) else 0.0
    return 1 - left / whole if whole > (ROUNDING * largest) ** 2 else float("nan")


def _accumulate_rewards(rollout: Rollout, at: Tensor) -> Tensor:
    """Of each written token, its reward and those of what follows it up to the next; rewards before the first belong to
    no token."""
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
