"""Advantages against sums written out, over attempts of every shape."""

import math
import random
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from trainer.rl.advantages import (
    Rollout,
    adaptive_lambda,
    explained_variance,
    group_advantages,
    has_reward_variance,
    moments,
    tail_values,
    token_advantages,
    whiten,
)


def doubles(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def rollout(
    rewards: list[float],
    values: list[float],
    policy_mask: str,
    *,
    attempt_index: list[int] | None = None,
    turn: list[int] | None = None,
    tail: tuple[float, ...] = (0.0,),
) -> Rollout:
    """Attempts with `x` for each token the policy wrote and `.` for each it was shown."""
    return Rollout(
        rewards=doubles(*rewards),
        values=doubles(*values),
        policy_mask=torch.tensor([mark == "x" for mark in policy_mask]),
        attempt_index=torch.tensor(attempt_index or [0] * len(policy_mask)),
        turn=torch.tensor(turn or [0] * len(policy_mask)),
        tail=doubles(*tail),
    )


def random_rollout(seed: int) -> Rollout:
    """Attempts at random: some without a word of the policy's, some of one token, some cut off."""
    luck = random.Random(seed)
    attempt_index: list[int] = []
    turn: list[int] = []
    policy_mask: list[bool] = []
    attempts = luck.randint(1, 5)
    for attempt in range(attempts):
        for step in range(luck.randint(1, 4)):
            marks = [False] * luck.randint(0, 6) + [True] * luck.choice([0, 1, 2, 9])
            attempt_index += [attempt] * len(marks)
            turn += [step] * len(marks)
            policy_mask += marks
    wild = torch.Generator().manual_seed(seed)
    rewards, values = torch.randn(2, len(attempt_index), dtype=torch.float64, generator=wild)
    guess = torch.randn(attempts, dtype=torch.float64, generator=wild)
    ended = torch.tensor([luck.random() < 0.5 for _ in range(attempts)], dtype=torch.bool)
    longs = {"dtype": torch.long}
    return Rollout(
        rewards=rewards,
        values=values,
        policy_mask=torch.tensor(policy_mask, dtype=torch.bool),
        attempt_index=torch.tensor(attempt_index, **longs),
        turn=torch.tensor(turn, **longs),
        tail=tail_values(guess, ended, ~ended),
    )


def mixed_returns(rewards: list[float], values: list[float], tail: float, gamma: float, decay: float) -> list[float]:
    """What GAE comes from: returns after 1, 2, 3, … moments, each less the value, mixed with (1 - λ) λ^(n-1)."""
    found = []
    for start in range(len(rewards)):
        left, total = len(rewards) - start, 0.0
        for ahead in range(1, left + 1):
            seen = sum(gamma**k * rewards[start + k] for k in range(ahead))
            beyond = values[start + ahead] if ahead < left else tail
            share = (1 - decay) * decay ** (ahead - 1) if ahead < left else decay ** (ahead - 1)
            total += share * (seen + gamma**ahead * beyond - values[start])
        found.append(total)
    return found


def moments_of(batch: Rollout, attempt: int) -> tuple[list[int], list[float]]:
    """The places of an attempt's written tokens, and their rewards with those that follow before the next."""
    places: list[int] = []
    rewards: list[float] = []
    for place in range(len(batch.attempt_index)):
        if int(batch.attempt_index[place]) != attempt:
            continue
        if bool(batch.policy_mask[place]):
            places.append(place)
            rewards.append(0.0)
        if places:
            rewards[-1] += float(batch.rewards[place])
    return places, rewards


@pytest.mark.parametrize("seed", range(60))
def test_every_token_is_what_the_mixed_returns_say(seed: int) -> None:
    batch = random_rollout(seed)
    luck = random.Random(-seed)
    gamma, policy, critic = luck.choice([1.0, 0.9]), luck.choice([0.0, 0.5, 0.95, 1.0]), luck.choice([0.7, 1.0])
    found = token_advantages(batch, gamma=gamma, policy_lambda=policy, critic_lambda=critic)
    expected, targets = torch.zeros_like(batch.values), torch.zeros_like(batch.values)
    for attempt, tail in enumerate(batch.tail.tolist()):
        places, rewards = moments_of(batch, attempt)
        values = batch.values[places].tolist()
        expected[places] = doubles(*mixed_returns(rewards, values, tail, gamma, policy))
        targets[places] = doubles(*mixed_returns(rewards, values, tail, gamma, critic)) + batch.values[places]
    assert torch.allclose(found.advantages, expected, atol=1e-10, rtol=0)
    assert torch.allclose(found.returns, targets, atol=1e-10, rtol=0)


def test_a_decay_of_each_token_is_its_own() -> None:
    batch = random_rollout(11)
    decay = torch.rand(len(batch.attempt_index), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = token_advantages(batch, gamma=0.9, policy_lambda=decay)
    for attempt, tail in enumerate(batch.tail.tolist()):
        places, rewards = moments_of(batch, attempt)
        values = [*batch.values[places].tolist(), tail]
        later = 0.0
        for k in reversed(range(len(places))):
            later = rewards[k] + 0.9 * values[k + 1] - values[k] + 0.9 * float(decay[places[k]]) * later
            assert found.advantages[places[k]].item() == pytest.approx(later, abs=1e-12)


def test_three_tokens_by_hand() -> None:
    batch = rollout([0, 0, 1], [0.5, 0.25, 0.75], "xxx")
    found = token_advantages(batch, policy_lambda=0.5, critic_lambda=1.0)
    # deltas -0.25, 0.5, 0.25
    assert found.advantages.tolist() == [-0.25 + 0.5 * (0.5 + 0.5 * 0.25), 0.5 + 0.5 * 0.25, 0.25]
    assert found.returns.tolist() == [1, 1, 1], "with λ = 1 the critic's target is the return"


@pytest.mark.parametrize("screen", [1, 40, 700])
def test_credit_does_not_fade_over_what_was_shown(screen: int) -> None:
    shown = [0.0] * screen
    short = rollout([0, 0, 0, 1], [0.5, 0.25, 0.75, 0.5], "xxxx")
    long = rollout([0, 0, *shown, 0, 1], [0.5, 0.25, *(9.0 for _ in shown), 0.75, 0.5], "xx" + "." * screen + "xx")
    expected = token_advantages(short, gamma=0.99, policy_lambda=0.9)
    found = token_advantages(long, gamma=0.99, policy_lambda=0.9)
    assert torch.equal(found.advantages[long.policy_mask], expected.advantages)
    assert found.advantages[~long.policy_mask].abs().max().item() == 0


def test_a_reward_on_a_screen_is_that_of_the_act_before_it() -> None:
    batch = rollout([5, 0, 2, 3, 0], [0, 0, 0, 0, 0], ".x..x")
    assert token_advantages(batch, policy_lambda=0.0).advantages.tolist() == [0, 5, 0, 0, 0], "the first is nobody's"


def test_an_attempt_does_not_see_the_next() -> None:
    one = rollout([0, 1], [0.5, 0.5], "xx")
    two = rollout([0, 1, -9, 7], [0.5, 0.5, 3, 4], "xx.x", attempt_index=[0, 0, 1, 1], tail=(0.0, 0.0))
    assert torch.equal(token_advantages(two).advantages[:2], token_advantages(one).advantages)
    assert token_advantages(two).advantages[3].item() == 7 - 4, "nor is a screen before its first word another's reward"


def test_an_end_is_worth_nothing_and_a_cut_what_the_critic_guesses() -> None:
    ended, cut = torch.tensor([True, False, True]), torch.tensor([False, True, True])
    assert tail_values(doubles(0.8, 0.8, 0.8), ended, cut).tolist() == [0, 0.8, 0], "what ended, ended"
    with pytest.raises(ValueError):
        tail_values(doubles(0.8), torch.tensor([False]), torch.tensor([False]))
    batch = rollout([0], [0.5], "x", tail=(0.8,))
    assert token_advantages(batch, gamma=0.5).advantages.item() == pytest.approx(0.5 * 0.8 - 0.5)


def test_lengths_choose_how_far_credit_reaches() -> None:
    batch = rollout([0] * 207, [0] * 207, "." * 7 + "x" * 200, turn=[0] * 107 + [1] * 100)
    assert adaptive_lambda(batch).tolist() == pytest.approx([0.9] * 207)
    assert adaptive_lambda(batch, by="step").tolist() == pytest.approx([0.8] * 207)
    assert adaptive_lambda(batch, by="step", least=0.85, most=0.9).tolist() == pytest.approx([0.85] * 207)
    assert adaptive_lambda(batch, alpha=1.0, most=0.99).tolist() == pytest.approx([0.99] * 207)


def test_a_short_reply_reaches_no_further_than_itself() -> None:
    batch = rollout(
        [0] * 40, [0] * 40, "x" * 10 + "." * 9 + "x" * 21, attempt_index=[0] * 10 + [1] * 30, tail=(0.0, 0.0)
    )
    assert adaptive_lambda(batch)[:10].tolist() == [0] * 10
    assert adaptive_lambda(batch)[10:].tolist() == pytest.approx([1 - 1 / (0.05 * 21)] * 30)


def test_steps_of_two_attempts_are_two_steps() -> None:
    batch = rollout([0] * 200, [0] * 200, "x" * 200, attempt_index=[0] * 100 + [1] * 100, tail=(0.0, 0.0))
    assert adaptive_lambda(batch, by="step").tolist() == pytest.approx([0.8] * 200)


def test_single_precision_holds_over_long_attempts() -> None:
    wild = torch.Generator().manual_seed(0)
    rewards, values = torch.randn(2, 5000, dtype=torch.float64, generator=wild)
    whole = rollout(rewards.tolist(), values.tolist(), "x" * 5000)
    single = replace(whole, rewards=rewards.float(), values=values.float(), tail=torch.zeros(1))
    expected = token_advantages(whole, gamma=0.999, policy_lambda=0.9956).advantages
    found = token_advantages(single, gamma=0.999, policy_lambda=0.9956).advantages
    assert found.dtype == torch.float32
    assert torch.allclose(found.double(), expected, atol=1e-4, rtol=1e-5)


def test_a_critic_in_half_precision_is_no_reason_to_reckon_in_it() -> None:
    values = torch.randn(300, generator=torch.Generator().manual_seed(0)).bfloat16()
    whole = rollout([0.001] * 300, values.tolist(), "x" * 300)
    half = replace(whole, values=values, rewards=whole.rewards.float(), tail=torch.zeros(1).bfloat16())
    expected, found = token_advantages(whole), token_advantages(half)
    assert found.advantages.dtype == found.returns.dtype == torch.float32
    assert torch.allclose(found.returns.double(), expected.returns, atol=1e-5)
    assert adaptive_lambda(half).dtype == torch.float32


def test_a_rollout_that_does_not_fit_together_is_refused() -> None:
    whole = rollout([0, 1], [0.5, 0.5], "xx")
    zeros = torch.zeros(2, dtype=torch.long)
    for wrong in (
        {"rewards": doubles(1)},
        {"attempt_index": torch.tensor([1, 0]), "tail": doubles(0, 0)},
        {"attempt_index": zeros + 1},
    ):
        with pytest.raises(ValueError):
            replace(whole, **wrong)


def test_an_attempt_without_a_word_is_no_error() -> None:
    silent = rollout([1, 1], [0.5, 0.5], "..")
    assert token_advantages(silent).advantages.tolist() == [0, 0]
    assert adaptive_lambda(silent).tolist() == [0, 0]


def test_nothing_learns_through_an_advantage() -> None:
    batch = rollout([0, 1], [0.5, 0.5], "xx")
    learned = replace(batch, values=batch.values.requires_grad_())
    found = token_advantages(learned)
    assert not found.advantages.requires_grad
    assert not found.returns.requires_grad


def test_a_group_is_compared_with_itself() -> None:
    rewards, groups = doubles(1, 0, 0, 1, 1, 0.5), torch.tensor([7, 7, 7, 3, 3, 9])
    assert group_advantages(rewards, groups, scale=False).tolist() == pytest.approx([2 / 3, -1 / 3, -1 / 3, 0, 0, 0])
    spread = math.sqrt(((2 / 3) ** 2 + 2 * (1 / 3) ** 2) / 2)
    found = group_advantages(rewards, groups, epsilon=0.0)[:3]
    assert found.tolist() == pytest.approx([2 / 3 / spread, -1 / 3 / spread, -1 / 3 / spread])
    assert has_reward_variance(rewards, groups).tolist() == [True, True, True, False, False, False]


def test_a_group_of_one_mind_says_exactly_nothing() -> None:
    for alike in (0.1, 0.5):  # a mean of seven tenths is not quite a tenth
        found = group_advantages(torch.full((7,), alike), torch.zeros(7, dtype=torch.long), epsilon=0.0)
        assert found.tolist() == [0] * 7


def test_whitening_is_over_all_ranks_alike() -> None:
    values, weights = doubles(1, 2, 3, 4, 99, 6), doubles(1, 1, 1, 1, 0, 1)
    whole = whiten(values, weights)
    assert (whole * weights).sum().item() == pytest.approx(0, abs=1e-12)
    assert (whole.square() * weights).sum().item() / 5 == pytest.approx(1)
    assert whole[4].item() == 0
    seen = moments(values[:2], weights[:2]) + moments(values[2:], weights[2:])
    assert torch.allclose(whiten(values[:2], weights[:2], seen), whole[:2])
    assert torch.allclose(whiten(values[2:], weights[2:], seen), whole[2:])


def test_how_much_a_critic_explains() -> None:
    returns, every = doubles(0, 1, 0, 1), doubles(1, 1, 1, 1)
    assert explained_variance(returns, returns, every) == pytest.approx(1)
    assert explained_variance(returns, doubles(5, 5, 5, 5), every) == pytest.approx(0)
    assert explained_variance(returns, 1 - returns, every) == pytest.approx(-3)
    assert explained_variance(returns, doubles(0, 1, 0, 9), doubles(1, 1, 1, 0)) == pytest.approx(1)
    assert math.isnan(explained_variance(doubles(1, 1), doubles(0, 2), doubles(1, 1)))
    rounded = doubles(0.8, 0.1 + 0.7, 0.8)
    assert rounded[0] != rounded[1]
    assert math.isnan(explained_variance(rounded, doubles(0, 2, 1), doubles(1, 1, 1)))
