"""Attempts at a task are compared with each other: those that all came to the same are not computed."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.trainer.examples import read, sample
from trainer.algorithms.grpo import Config, Grpo
from trainer.algorithms.grpo import run as grpo_run
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.errors import ConfigInvalid
from trainer.model.checkpoints import Checkpoint
from trainer.rl.attempts import Attempt, flatten_attempts
from trainer.rl.training_loop import LearnerContext
from trainer.runtime.runs import RunState, create_optimiser

CONFIG = Config(
    checkpoint=Path("start"), out=Path("run"), inbox=Path("inbox"), tokens=512, warmup=1, learning_rate=1e-3
)


def attempts(checkpoint: Checkpoint, *wins: tuple[str, bool]) -> list[Attempt]:
    """An attempt of one step at each of these tasks."""
    renderer = Renderer(checkpoint, context=512)
    return [
        Attempt(
            str(number), task, (sampled_reply(renderer, number),), (float(won),), True, won, ("update-000000",), 1, 0.0
        )
        for number, (task, won) in enumerate(wins)
    ]


def sampled_reply(renderer: Renderer, number: int) -> TokenizedSample:
    made = renderer.render_sample(sample(number, target=f"Action: click({number})"), read)
    return replace(made, actor="policy", logprobs=(-5.0,) * sum(made.mask), exact=True)


def learner_of(checkpoint: Checkpoint, **place: object) -> tuple[Grpo, Checkpoint]:
    """A learner that begins or resumes, and the weights it changes."""
    own = replace(checkpoint, model=deepcopy(checkpoint.model))
    optimiser = create_optimiser(list(own.model.parameters()), CONFIG)
    return Grpo(LearnerContext(own, optimiser, RunState(data="", config={}, place=place), None), CONFIG), own


def run_update(checkpoint: Checkpoint, found: list[Attempt]) -> tuple[dict[str, float], dict[str, torch.Tensor]]:
    """The figures of an update, and the weights after it."""
    learner, own = learner_of(checkpoint)
    return learner.learn(found, flatten_attempts(found), 1), own.model.state_dict()


def test_a_group_of_one_mind_changes_nothing_of_what_the_others_teach(checkpoint: Checkpoint) -> None:
    mixed = attempts(checkpoint, ("a", True), ("b", True), ("a", False), ("b", True))
    told, weights = run_update(checkpoint, mixed)
    alone, same = run_update(checkpoint, [mixed[0], mixed[2]])
    assert (told.pop("varied"), alone.pop("varied")) == (0.5, 1.0)
    assert told == pytest.approx(alone)
    assert all(torch.allclose(weights[name], same[name], atol=1e-6) for name in same)
    before = checkpoint.model.state_dict()
    assert any(not torch.equal(weights[name], before[name]) for name in before)


def test_where_no_group_differs_there_is_no_step(checkpoint: Checkpoint) -> None:
    told, weights = run_update(checkpoint, attempts(checkpoint, ("a", True), ("a", True), ("b", False)))
    assert told == {"varied": 0.0}
    before = checkpoint.model.state_dict()
    assert all(torch.equal(weights[name], before[name]) for name in before)


def test_what_a_person_said_is_learned_in_a_group_of_one_mind(checkpoint: Checkpoint) -> None:
    one, other = attempts(checkpoint, ("a", True), ("a", True))
    said = replace(one, steps=(replace(one.steps[0], actor="human", logprobs=None),))
    told, weights = run_update(checkpoint, [said, other])
    assert told["varied"] == 0
    assert told["human_loss"] > 0
    before = checkpoint.model.state_dict()
    assert any(not torch.equal(weights[name], before[name]) for name in before)


def test_a_late_sibling_is_compared_with_what_the_others_came_to(checkpoint: Checkpoint) -> None:
    lost, won, late = attempts(checkpoint, ("a", False), ("a", False), ("a", True))
    learner, _ = learner_of(checkpoint)
    assert learner.compared == set()
    assert learner.learn([lost, won], flatten_attempts([lost, won]), 1) == {"varied": 0.0}
    resumed, own = learner_of(checkpoint, **learner.place)
    assert resumed.compared == {"a"}
    assert resumed.learn([late], flatten_attempts([late]), 2)["varied"] == 1.0
    before = checkpoint.model.state_dict()
    assert any(not torch.equal(own.model.state_dict()[name], before[name]) for name in before)


def test_rewards_are_forgotten_with_the_updates_of_which_nothing_is_learned_any_more(checkpoint: Checkpoint) -> None:
    learner, _ = learner_of(checkpoint)
    for update in range(1, CONFIG.staleness + 2):
        assert ("a" in learner.compared) == (update > 1)
        other = attempts(checkpoint, ("a" if update == 1 else "b", True))
        learner.learn(other, flatten_attempts(other), update)
    assert learner.compared == {"b"}


def test_a_world_of_one_attempt_a_task_has_nothing_to_compare() -> None:
    with pytest.raises(ConfigInvalid, match="group"):
        grpo_run(CONFIG.model_copy(update={"world": "lights"}))
