"""Losses by hand-computed numbers, and their gradients by double precision and finite differences."""

import math
from collections.abc import Callable
from typing import Literal

import pytest
import torch
from torch import Tensor

from trainer.rl.losses import (
    KLKind,
    desirability_loss,
    importance_weights,
    kl_estimates,
    kl_loss,
    likelihood_loss,
    policy_loss,
    positive_example_loss,
    preference_loss,
    token_entropies,
    token_logprobs,
    value_loss,
    weighted_sum,
)

TINY = 1e-12


def doubles(*numbers: float, grad: bool = False) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=grad)


def logs(*numbers: float, grad: bool = False) -> Tensor:
    return doubles(*map(math.log, numbers), grad=grad)


def slope(loss: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    leaf = at.detach().clone().requires_grad_()
    loss(leaf).backward()
    assert leaf.grad is not None
    return leaf.grad


def by_differences(loss: Callable[[Tensor], Tensor], at: Tensor, *, width: float = 1e-6) -> Tensor:
    """The gradient as the slope between two points close by, each place alone."""
    found = torch.zeros_like(at)
    for place in range(at.numel()):
        nudge = torch.zeros_like(at)
        nudge.view(-1)[place] = width
        found.view(-1)[place] = (loss(at + nudge) - loss(at - nudge)) / (2 * width)
    return found


def test_what_does_not_count_reaches_neither_loss_nor_gradient() -> None:
    logprobs, weights = doubles(-1, -math.inf, -2, grad=True), doubles(1, 0, 0.5)
    loss = likelihood_loss(logprobs, weights, 4)
    assert loss.item() == pytest.approx((1 + 0.5 * 2) / 4)
    loss.backward()
    assert logprobs.grad is not None
    assert logprobs.grad.tolist() == [-0.25, 0, -0.125]
    assert likelihood_loss(logprobs, doubles(0, 0, 0), 0).item() == 0


def test_the_parts_of_an_update_add_up_to_the_whole() -> None:
    torch.manual_seed(0)
    logprobs, old, advantages = (torch.randn(10, dtype=torch.float64) for _ in range(3))
    weights = torch.tensor([1, 1, 0, 1, 1, 0, 1, 1, 1, 0.5], dtype=torch.float64)
    whole = policy_loss(logprobs, old, advantages, weights, weights.sum()).loss
    parts = [
        policy_loss(logprobs[cut], old[cut], advantages[cut], weights[cut], weights.sum()).loss
        for cut in (slice(0, 3), slice(3, 4), slice(4, 10))
    ]
    assert sum(parts).item() == pytest.approx(whole.item(), abs=TINY)


def test_logprobs_and_entropies_are_those_of_the_softmax() -> None:
    logits = torch.tensor([[0.0, math.log(3)], [0.0, -math.inf]], dtype=torch.float64)
    assert token_logprobs(logits, torch.tensor([1, 0])).tolist() == pytest.approx([math.log(0.75), 0])
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert token_entropies(logits).tolist() == pytest.approx([quarter, 0])
    assert token_logprobs(logits, torch.tensor([1, 0]), temperature=0.5)[0].item() == pytest.approx(math.log(0.9))


def test_an_entropys_gradient_is_finite_where_a_token_cannot_be() -> None:
    logits = torch.tensor([[0.5, -math.inf, 0.1]], dtype=torch.float64)
    found = slope(lambda at: token_entropies(at).sum(), logits)
    possible = by_differences(lambda at: token_entropies(at).sum(), logits[:, [0, 2]])
    assert torch.allclose(found[:, [0, 2]], possible, atol=1e-8)
    assert found[0, 1].item() == 0


def test_half_precision_is_raised_before_the_softmax() -> None:
    logits = torch.randn(4, 512, generator=torch.Generator().manual_seed(0)).bfloat16()
    tokens = torch.tensor([3, 70, 200, 511])
    found = token_logprobs(logits, tokens)
    assert found.dtype == torch.float32
    assert torch.allclose(found.double(), token_logprobs(logits.double(), tokens), atol=1e-5, rtol=0)


def test_only_what_led_to_success_is_repeated() -> None:
    logprobs, weights = doubles(-1, -2, -4), doubles(1, 1, 1)
    correct = torch.tensor([True, False, True])
    assert positive_example_loss(logprobs, weights, correct, 2).item() == pytest.approx(2.5)
    assert positive_example_loss(logprobs, weights, ~(correct | True), 0).item() == 0


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient"),
    [
        (1.0, 2.0, -2.0, -2.0),
        (1.25, 2.0, -2.5, -2.5),  # above 1 + the lower clip, not yet above the higher one
        (1.5, 2.0, -2.56, 0.0),
        (0.5, 2.0, -1.0, -1.0),  # a good token that became unlikely is brought back
        (0.9, -2.0, 1.8, 1.8),
        (0.5, -2.0, 1.6, 0.0),
        (1.5, -2.0, 3.0, 3.0),  # a bad one that became likelier as well
    ],
)
def test_the_clip_is_wider_above(ratio: float, advantage: float, loss: float, gradient: float) -> None:
    logprobs, one = logs(ratio, grad=True), doubles(1)
    found = policy_loss(logprobs, doubles(0), doubles(advantage), one, 1)
    found.loss.backward()
    assert logprobs.grad is not None
    assert (found.loss.item(), logprobs.grad.item()) == pytest.approx((loss, gradient))
    assert found.clipped.item() == (gradient == 0)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "held"), [(5.0, -1.0, 3.0, 1), (2.0, -1.0, 2.0, 0), (5.0, 1.0, -1.28, 0)]
)
def test_the_dual_clip_holds_a_bad_token(ratio: float, advantage: float, loss: float, held: float) -> None:
    logprobs = logs(ratio, grad=True)
    found = policy_loss(logprobs, doubles(0), doubles(advantage), doubles(1), 1, dual_clip=3.0)
    found.loss.backward()
    assert found.loss.item() == pytest.approx(loss)
    assert found.held.item() == held
    assert logprobs.grad is not None
    assert (logprobs.grad.item() == 0) == (held == 1 or advantage > 0)


def test_a_dual_clip_below_one_is_refused() -> None:
    with pytest.raises(ValueError):
        policy_loss(doubles(0), doubles(0), doubles(1), doubles(1), 1, dual_clip=1.0)


@pytest.mark.parametrize(
    ("least", "beyond", "expected"),
    [
        (None, "cap", [0.5, 1.5, 2.0]),
        (0.6, "cap", [0.0, 1.5, 2.0]),
        (None, "drop", [0.5, 1.5, 0.0]),
        (0.6, "drop", [0.0, 1.5, 0.0]),
    ],
)
def test_importance_is_truncated_or_dropped(
    least: float | None, beyond: Literal["cap", "drop"], expected: list[float]
) -> None:
    found = importance_weights(logs(0.5, 0.75, 0.9), logs(1.0, 0.5, 0.1), least=least, beyond=beyond)
    assert found.tolist() == pytest.approx(expected)


def test_importance_multiplies_each_tokens_loss() -> None:
    logprobs, correction = logs(1.1, 0.9, 1.0, grad=True), doubles(0.5, 2.0, math.nan)
    found = policy_loss(logprobs, doubles(0, 0, 0), doubles(1, -1, 9), doubles(1, 1, 0), 2, correction=correction)
    assert found.loss.item() == pytest.approx((-1.1 * 0.5 + 0.9 * 2.0) / 2)
    assert found.correction.item() == pytest.approx(1.25)
    found.loss.backward()
    assert logprobs.grad is not None
    assert logprobs.grad.tolist() == pytest.approx([-0.275, 0.9, 0])


def test_a_ratio_that_would_overflow_stays_a_number() -> None:
    logprobs = doubles(0, -2000, grad=True)
    found = policy_loss(logprobs, doubles(-2000, 0), doubles(-1, 1), doubles(1, 1), 2)
    found.loss.backward()
    assert logprobs.grad is not None
    assert torch.isfinite(found.loss)
    assert torch.isfinite(logprobs.grad).all()


def test_a_critic_is_held_by_the_worse_of_two_errors() -> None:
    values = doubles(1.0, 1.0, 0.1, grad=True)
    old, returns = doubles(0.5, 0.5, 0.0), doubles(2.0, 0.0, 1.0)
    loss = value_loss(values, old, returns, doubles(1, 1, 1), 3)
    # (1 - 2)² < (0.7 - 2)²; (1 - 0)² > (0.7 - 0)²; 0.1 is within the clip
    assert loss.item() == pytest.approx(0.5 * (1.3**2 + 1 + 0.9**2) / 3)
    loss.backward()
    assert values.grad is not None
    assert values.grad.tolist() == pytest.approx([0, 1 / 3, -0.3])
    assert value_loss(values, old, returns, doubles(1, 0, 0), 1, clip=None).item() == pytest.approx(0.5)


P, Q = logs(0.5, 0.3, 0.2), logs(0.2, 0.2, 0.6)
KL = sum(p * math.log(p / q) for p, q in ((0.5, 0.2), (0.3, 0.2), (0.2, 0.6)))


@pytest.mark.parametrize("kind", ["k1", "k3"])
def test_two_estimates_of_kl_are_right_on_average(kind: KLKind) -> None:
    assert (P.exp() * kl_estimates(P, Q, kind)).sum().item() == pytest.approx(KL)


def test_each_estimate_is_what_it_says() -> None:
    apart = math.log(0.5) - math.log(0.2)
    expected = {"k1": apart, "k2": apart**2 / 2, "k3": 0.4 - 1 + apart}
    for kind, value in expected.items():
        assert kl_estimates(P, Q, kind)[0].item() == pytest.approx(value)  # type: ignore[arg-type]
    assert (kl_estimates(P, Q, "k3") >= 0).all()


def test_the_second_estimates_gradient_is_that_of_the_kl() -> None:
    logits = doubles(0.3, -0.7, 0.1)
    drawn = logits.softmax(-1)
    exact = slope(lambda at: (at.softmax(-1) * (at.log_softmax(-1) - Q)).sum(), logits)
    on_average = slope(lambda at: (drawn * kl_estimates(at.log_softmax(-1), Q, "k2")).sum(), logits)
    assert torch.allclose(on_average, exact, atol=TINY)
    nothing = slope(lambda at: (drawn * kl_estimates(at.log_softmax(-1), Q, "k1")).sum(), logits)
    assert torch.allclose(nothing, torch.zeros(3, dtype=torch.float64), atol=TINY)


def test_kl_is_not_spoilt_by_what_does_not_count() -> None:
    logprobs = doubles(math.log(0.5), -math.inf, grad=True)
    loss = kl_loss(logprobs, doubles(math.log(0.2), -math.inf), doubles(1, 0), 1)
    loss.backward()
    assert loss.item() == pytest.approx(0.4 - 1 + math.log(2.5))
    assert logprobs.grad is not None
    assert logprobs.grad.tolist() == pytest.approx([1 - 0.4, 0])


def test_a_pair_is_weighed_by_how_much_more_the_chosen_gained() -> None:
    chosen, rejected = doubles(-1.0, -3.0, grad=True), doubles(-2.0, -2.0, grad=True)
    found = preference_loss(chosen, rejected, doubles(-2.0, -2.5), doubles(-1.0, -2.5), 2, beta=0.5)
    margins = [0.5 * (1 - -1), 0.5 * (-0.5 - 0.5)]
    assert found.loss.item() == pytest.approx(sum(math.log1p(math.exp(-margin)) for margin in margins) / 2)
    assert found.margin.item() == pytest.approx(sum(margins) / 2)
    assert found.accuracy.item() == 0.5
    found.loss.backward()
    pulls = [-0.5 / (1 + math.exp(margin)) / 2 for margin in margins]
    assert chosen.grad is not None
    assert rejected.grad is not None
    assert chosen.grad.tolist() == pytest.approx(pulls)
    assert rejected.grad.tolist() == pytest.approx([-pull for pull in pulls])


def test_a_doubted_pair_is_pushed_less_far() -> None:
    zero = doubles(0)
    found = preference_loss(doubles(2), zero, zero, zero, 1, beta=1.0, smoothing=0.25)
    assert found.loss.item() == pytest.approx(0.75 * math.log1p(math.exp(-2)) + 0.25 * math.log1p(math.exp(2)))
    least = slope(lambda at: preference_loss(at, zero, zero, zero, 1, beta=1.0, smoothing=0.25).loss, logs(3))
    assert least.item() == pytest.approx(0, abs=TINY), "it rests where the odds are those of the doubt"


def test_good_and_bad_replies_are_told_from_the_drift() -> None:
    logprobs, reference = doubles(-1.0, -1.0, grad=True), doubles(-2.0, -2.0)
    desirable = torch.tensor([True, False])
    loss = desirability_loss(
        logprobs, reference, desirable, 0.5, 2, beta=2.0, desirable_weight=1.0, undesirable_weight=3.0
    )
    seen = 1 / (1 + math.exp(-2.0 * (1 - 0.5)))
    assert loss.item() == pytest.approx(((1 - seen) + 3 * seen) / 2)
    loss.backward()
    pull = 2.0 * seen * (1 - seen) / 2
    assert logprobs.grad is not None
    assert logprobs.grad.tolist() == pytest.approx([-pull, 3 * pull])
    good = torch.tensor([True, True])
    nothing, below = (desirability_loss(logprobs, reference, good, drift, 2) for drift in (0.0, -7.0))
    assert below.item() == nothing.item()


TOKENS = torch.tensor([2, 0, 4, 1])
WEIGHTS = doubles(1, 0, 1, 0.5)
OLD, ADVANTAGES = doubles(-1.4, -1.6, -1.7, -1.5), doubles(1.0, 5.0, -1.5, 0.7)


def test_gradients_through_the_softmax_agree_with_finite_differences() -> None:
    torch.manual_seed(3)
    logits = torch.randn(4, 5, dtype=torch.float64)

    def everything(at: Tensor) -> Tensor:
        said = token_logprobs(at, TOKENS, temperature=0.8)
        return (
            policy_loss(said, OLD, ADVANTAGES, WEIGHTS, 2.5, dual_clip=3.0).loss
            + 0.1 * likelihood_loss(said, WEIGHTS, 2.5)
            + 0.2 * kl_loss(said, OLD, WEIGHTS, 2.5)
            - 0.05 * weighted_sum(token_entropies(at), WEIGHTS, 2.5)
        )

    found = slope(everything, logits)
    assert torch.allclose(found, by_differences(everything, logits), atol=1e-7)
    assert found[1].abs().max().item() == 0, "a token of weight 0 moves nothing"
    single = slope(everything, logits.float())
    assert torch.allclose(single.double(), found, atol=1e-5)


def test_preferences_gradients_agree_with_finite_differences() -> None:
    torch.manual_seed(4)
    replies = torch.randn(2, 3, dtype=torch.float64)
    references = torch.randn(2, 3, dtype=torch.float64)
    desirable = torch.tensor([True, False, True])

    def both(at: Tensor) -> Tensor:
        pairs = preference_loss(at[0], at[1], references[0], references[1], 3, beta=0.7, smoothing=0.1).loss
        return pairs + desirability_loss(at[0], references[0], desirable, 0.2, 3, undesirable_weight=1.3)

    assert torch.allclose(slope(both, replies), by_differences(both, replies), atol=1e-8)
