"""Value pretraining: a critic learns the returns of a fixed policy's attempts before PPO uses it.

Its target at each sampled token is the return from there on (λ = 1, no discount), so its first estimates do not affect
its targets. It is evaluated on held-out attempts. Training stops when the critic explains them well enough or stops
improving. PPO starts from its folder (`critic`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path

import torch
from pydantic import Field

from protocol.dialects.families import get_dialect
from trainer.config import DatasetTrainingConfig, DialectConfig
from trainer.data.batches import ShuffledOrder, is_held_out
from trainer.data.packing import pack
from trainer.data.rendering import Renderer, TokenizedSample, report_left_out
from trainer.data.trajectories import open_folders
from trainer.errors import AttemptUnusable, NothingToLearn, SampleError
from trainer.model.checkpoints import Checkpoint
from trainer.model.critic import Critic, learned_values, open_critic
from trainer.rl.advantages import explained_variance, token_advantages
from trainer.rl.attempts import Attempt, build_attempt, flatten_attempts
from trainer.rl.losses import value_loss
from trainer.rl.rewards import RewardShaping
from trainer.runtime.distributed import (
    backward,
    gather_values,
    local_share,
    no_gradients,
    padded_local_share,
    sum_metrics,
)
from trainer.runtime.metrics import open_metrics
from trainer.runtime.runs import (
    check_even_split,
    create_optimiser,
    is_checkpoint_due,
    newest_checkpoint,
    optimiser_step,
    resume_state,
    save_checkpoint,
)


class Config(DatasetTrainingConfig, DialectConfig):
    """How it is trained, and on what."""

    folders: tuple[Path, ...] = Field(min_length=1)
    """Attempts of one policy with unchanged weights."""
    temperature: float = Field(default=1.0, gt=0)
    """At which the policy drew; attempts of another are left out."""
    shaping: RewardShaping = RewardShaping()
    """The rewards of an attempt; PPO must have the same settings."""
    held_out: float = Field(default=0.1, gt=0, lt=1)
    """The share of attempts that are only asked about."""
    look_every: int = Field(default=10, ge=1)
    """Updates between two evaluations on held-out attempts."""
    enough: float = Field(default=0.95, le=1)
    """It is done when it explains so much of their variance."""
    patience: int = Field(default=5, ge=1)
    """Stop after so many evaluations in a row that improve on the best earlier one by less than `rise`."""
    rise: float = Field(default=0.01, ge=0)
    """How much better a look has to be to count."""


@dataclass(frozen=True)
class ValueExample:
    """A step with what was really come to from each of its tokens."""

    sample: TokenizedSample
    targets: torch.Tensor
    """Of each learned token; shape (learned,)."""
    weights: torch.Tensor
    """1 where the policy drew it; a person's words tell nothing of the policy's worth."""


def read_attempts_for_value(config: Config, checkpoint: Checkpoint) -> list[Attempt]:
    """Every attempt that can be used. Raises NothingToLearn, FolderError, and AttemptUnusable for several policies'."""
    left_out: Counter[str] = Counter()
    renderer, dialect = Renderer(checkpoint, context=config.tokens), get_dialect(config.dialect, config.prompt)
    attempts: list[Attempt] = []
    for folder in open_folders(config.folders):
        for trajectory in folder.trajectories():
            try:
                attempts.append(
                    build_attempt(trajectory, folder, dialect, renderer, config.shaping, config.temperature)
                )
            except (AttemptUnusable, SampleError) as error:
                left_out[error.code] += 1
    report_left_out(len(attempts), left_out)
    if not attempts:
        raise NothingToLearn("no attempt in the folders has a reward or a value")
    if len(versions := {version for one in attempts for version in one.versions}) > 1:
        raise AttemptUnusable(f"a value is of one policy; these drew: {', '.join(sorted(versions))}")
    return attempts


AttemptsFor = Callable[[Config, Checkpoint], Sequence[Attempt]]


def run(config: Config, load_attempts: AttemptsFor = read_attempts_for_value) -> Path:
    """Train, or resume training; returns the last critic's folder. Raises TrainerError."""
    check_even_split(config)
    newest = newest_checkpoint(config.out)
    critic = open_critic(newest or config.checkpoint, config)
    attempts = load_attempts(config, critic.checkpoint)
    held_out = [is_held_out(one.id, seed=config.seed, share=config.held_out) for one in attempts]
    examples = build_value_examples([one for one, held in zip(attempts, held_out, strict=True) if not held])
    questions = build_value_examples([one for one, held in zip(attempts, held_out, strict=True) if held])
    if not examples or not questions:
        raise NothingToLearn(f"{len(attempts)} attempts are too few to hold {config.held_out:g} of them out")
    if torch.cat([one.targets for one in questions]).unique().numel() == 1:
        raise NothingToLearn("the attempts that are held out all came to the same: nothing is left to explain")
    order = ShuffledOrder([len(one.sample.ids) for one in examples], tokens=config.tokens, seed=config.seed)
    optimiser = create_optimiser(critic.learning(vision=config.vision), config)
    state = resume_state(newest, config, order.fingerprint, optimiser, {"order": {}, "looks": []})
    evaluations: list[float] = state.place["looks"]
    batches = order.resume_from(state.place["order"])
    with open_metrics(config.out, state.update) as metrics:
        for update in range(state.update + 1, config.updates + 1):
            if is_done(evaluations, config):
                break
            taken = list(islice(batches, config.sequences))
            figures = _gradients(critic, [[examples[one] for one in batch.samples] for batch in taken])
            figures |= optimiser_step(optimiser, update, config)
            if update % config.look_every == 0:
                evaluations = [*evaluations, measure_explained_variance(critic, questions, config.tokens)]
                figures["explained_variance"] = evaluations[-1]
            metrics.write(update, figures)
            state = state.after(update, {"order": taken[-1].place, "looks": evaluations})
            if is_checkpoint_due(update, config) or is_done(evaluations, config):
                newest = save_checkpoint(config.out, state, optimiser, critic.write)
    return newest or config.checkpoint


def is_done(evaluations: Sequence[float], config: Config) -> bool:
    """Whether the last evaluation is good enough, or the last `patience` ones brought no improvement."""
    if not evaluations:
        return False
    before, last = evaluations[: -config.patience], evaluations[-config.patience :]
    return evaluations[-1] >= config.enough or (bool(before) and max(last) < max(before) + config.rise)


def build_value_examples(attempts: Sequence[Attempt]) -> list[ValueExample]:
    """Each step with its targets. What was cut off came to what it was rewarded with by then."""
    if not attempts:
        return []
    flat = flatten_attempts(attempts)
    rollout = flat.rollout(torch.zeros(len(flat.rewards)))
    returns = token_advantages(rollout, critic_lambda=1.0, policy_lambda=1.0).returns
    each = [flat.places([number]) for number in range(len(flat.samples))]
    found = zip(flat.samples, each, strict=True)
    examples = [ValueExample(sample, returns[places], flat.policy_mask[places].float()) for sample, places in found]
    return [one for one in examples if one.weights.any()]


def measure_explained_variance(critic: Critic, questions: Sequence[ValueExample], tokens: int) -> float:
    """How much of the variance of what attempts came to a critic explains: 1 all of it, 0 as much as their mean."""
    lengths = [len(one.sample.ids) for one in questions]
    batches = ShuffledOrder(lengths, tokens=tokens, seed=0).epoch(0)
    model = critic.checkpoint.model
    examples = [[questions[one] for one in batch] for batch in batches]
    ends = [*accumulate(sum(len(one.targets) for one in batch) for batch in examples)]
    values = torch.zeros(ends[-1])
    with no_gradients():
        for (batch, end), counts in padded_local_share([*zip(examples, ends, strict=True)]):
            there = pack([one.sample for one in batch], model).to(model.device)
            found = learned_values(critic, there).cpu()
            if counts:
                values[end - len(found) : end] = found
    targets, weights = (
        torch.cat([getattr(one, name) for batch in examples for one in batch]) for name in ("targets", "weights")
    )
    return explained_variance(targets, gather_values(values), weights)


def _gradients(critic: Critic, sequences: Sequence[Sequence[ValueExample]]) -> dict[str, float]:
    """Gradients of one update: each token counts the same, whichever sequence it is in."""
    model = critic.checkpoint.model
    count = float(sum(one.weights.sum() for each in sequences for one in each))
    total = 0.0
    for each in local_share(sequences):
        one = pack([example.sample for example in each], model).to(model.device)
        values = learned_values(critic, one)
        targets, weights = (
            torch.cat([getattr(example, name) for example in each]).to(values.device) for name in ("targets", "weights")
        )
        loss = value_loss(values, values.detach(), targets, weights, count, clip=None)
        backward(loss)
        total += float(loss.detach())
    return {**sum_metrics({"value_loss": total}), "learned": count}
