"""A step of the policy: who wrote what decides the loss, and how sequences are cut changes nothing."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.trainer.examples import read, sample
from trainer.data.packing import learned_logprobs, pack
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.model.checkpoints import Checkpoint
from trainer.rl.attempts import Attempt, FlatBatch, flatten_attempts
from trainer.rl.config import OnPolicyConfig
from trainer.rl.losses import likelihood_loss
from trainer.rl.policy_updates import (
    TokenStatistics,
    build_minibatch,
    compute_token_statistics,
    minibatches,
    policy_gradients,
    sequences,
    token_metrics,
)

CONFIG = OnPolicyConfig(
    checkpoint=Path("start"), out=Path("run"), inbox=Path("inbox"), tokens=512, epochs=2, sequences=1
)


def steps(checkpoint: Checkpoint) -> list[TokenizedSample]:
    """Two steps the policy drew, and one a person worded."""
    renderer = Renderer(checkpoint, context=512)
    made = [renderer.render_sample(sample(number, target=f"Action: click({number})"), read) for number in range(3)]
    drawn = [replace(one, actor="policy", logprobs=(-5.0,) * sum(one.mask), exact=True) for one in made[:2]]
    return [*drawn, made[2]]


def attempt(*samples: TokenizedSample, success: bool = True) -> Attempt:
    rewards = (0.0,) * (len(samples) - 1) + (1.0,)
    return Attempt("a", "task", samples, rewards, True, success, (), len(samples), 0.0)


def known(checkpoint: Checkpoint, flat: FlatBatch) -> TokenStatistics:
    return compute_token_statistics(checkpoint.model, None, flat, sequences(flat, checkpoint.model, CONFIG, 1), CONFIG)


def gradients(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    found = {
        name: weight.grad.clone() for name, weight in checkpoint.model.named_parameters() if weight.grad is not None
    }
    checkpoint.model.zero_grad()
    return found


def test_a_persons_words_are_fitted_and_have_no_ratio(checkpoint: Checkpoint) -> None:
    flat = flatten_attempts([attempt(steps(checkpoint)[2])])
    step = build_minibatch(flat, [[0]], checkpoint.model)
    told = policy_gradients(
        checkpoint.model, step, flat, known(checkpoint, flat), torch.full((len(flat.attempt_index),), 1e6), CONFIG
    )
    ours = gradients(checkpoint)
    one = pack(flat.samples, checkpoint.model)
    likelihood_loss(learned_logprobs(checkpoint.model, one), one.weights, float(one.weights.sum())).backward()
    theirs = gradients(checkpoint)
    assert told["policy_loss"] == 0
    assert all(torch.allclose(ours[name], theirs[name], atol=1e-6) for name in theirs)


def test_a_step_is_the_same_however_its_sequences_are_cut(checkpoint: Checkpoint) -> None:
    flat = flatten_attempts([attempt(*steps(checkpoint))])
    before, advantages = known(checkpoint, flat), torch.linspace(-1, 1, len(flat.attempt_index))
    found, figures = [], []
    for batches in ([[0, 1, 2]], [[2], [1, 0]]):
        step = build_minibatch(flat, batches, checkpoint.model)
        figures.append(policy_gradients(checkpoint.model, step, flat, before, advantages, CONFIG, positive=0.1))
        found.append(gradients(checkpoint))
    assert figures[0] == pytest.approx(figures[1], abs=1e-5)
    assert all(torch.allclose(found[0][name], found[1][name], atol=1e-5) for name in found[0])
    assert figures[0]["clipped"] == 0, "it is where it began"


def test_what_made_an_attempt_fail_has_no_positive_loss(checkpoint: Checkpoint) -> None:
    flat = flatten_attempts([attempt(steps(checkpoint)[0], success=False)])
    step = build_minibatch(flat, [[0]], checkpoint.model)
    nothing = torch.zeros(len(flat.attempt_index))
    told = policy_gradients(checkpoint.model, step, flat, known(checkpoint, flat), nothing, CONFIG, positive=0.1)
    assert "positive_loss" not in told
    assert all(float(one.abs().max()) == 0 for one in gradients(checkpoint).values())


def test_what_cannot_be_compared_counts_for_nothing(checkpoint: Checkpoint) -> None:
    first, second, _ = steps(checkpoint)
    flat = flatten_attempts([attempt(first, replace(second, exact=False))])
    before = known(checkpoint, flat)
    each = sum(first.mask)
    assert before.comparable.tolist() == [1.0] * each + [0.0] * sum(second.mask)
    told = token_metrics(flat, before)
    assert told["correction"] == pytest.approx(float(before.correction[:each].mean()), rel=1e-5)
    assert all(value == value for value in told.values()), "no figure is lost to what is missing"


def test_every_sample_has_its_turn_in_every_epoch(checkpoint: Checkpoint) -> None:
    flat = flatten_attempts([attempt(*steps(checkpoint)), attempt(*steps(checkpoint))])
    config = CONFIG.model_copy(update={"tokens": 160})
    places = [step.places for step in minibatches(flat, checkpoint.model, config, 1)]
    assert sorted(torch.cat(places).tolist()) == sorted([*range(len(flat.attempt_index))] * config.epochs)
