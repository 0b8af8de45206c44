"""A critic sees the pictures, counts packed samples as single ones, and comes back from its folder as it was."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.trainer.examples import read, sample
from trainer.data.packing import pack
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.errors import CheckpointMismatched, CheckpointUnusable
from trainer.model.checkpoints import Checkpoint
from trainer.model.critic import HEAD, Critic, learned_values, load_critic


@pytest.fixture
def samples(checkpoint: Checkpoint) -> list[TokenizedSample]:
    renderer = Renderer(checkpoint, context=512)
    return [renderer.render_sample(sample(number, target=f"click({number})"), read) for number in range(3)]


@pytest.fixture
def critic(checkpoint: Checkpoint) -> Critic:
    """One with an opinion."""
    made = load_critic(checkpoint.path)
    torch.nn.init.normal_(made.head.weight, generator=torch.Generator().manual_seed(1))
    return made


def values(critic: Critic, *samples: TokenizedSample) -> torch.Tensor:
    with torch.inference_mode():
        return learned_values(critic, pack(samples, critic.checkpoint.model))


def test_a_policy_becomes_a_critic_that_expects_nothing(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    assert values(load_critic(checkpoint.path), *samples).eq(0).all()


def test_packed_values_are_single_values(critic: Critic, samples: list[TokenizedSample]) -> None:
    apart = torch.cat([values(critic, one) for one in samples])
    assert values(critic, *samples).sub(apart).abs().max() < 1e-4
    assert apart.std() > 0.01


def test_the_picture_changes_the_value_and_later_words_do_not(critic: Critic, samples: list[TokenizedSample]) -> None:
    one = samples[0]
    other = replace(one.pictures[0], pixels=one.pictures[0].pixels + 1)
    assert (values(critic, one) - values(critic, replace(one, pictures=(other,)))).abs().min() > 1e-4
    said = replace(one, ids=(*one.ids[:-1], one.ids[-1] - 1))
    assert torch.equal(values(critic, one), values(critic, said)), "a value is of the state before the token"


def test_a_critic_comes_back_from_its_folder(critic: Critic, samples: list[TokenizedSample], tmp_path: Path) -> None:
    critic.write(tmp_path)
    assert torch.equal(values(critic, *samples), values(load_critic(tmp_path), *samples))


def test_the_tower_and_what_says_words_do_not_learn(critic: Critic, samples: list[TokenizedSample]) -> None:
    weights = critic.learning(vision=False)
    learned_values(critic, pack(samples, critic.checkpoint.model)).sum().backward()
    assert all(weight.grad is not None for weight in weights)
    assert critic.checkpoint.model.lm_head.weight.grad is None
    assert all(weight.grad is None for weight in critic.checkpoint.model.model.visual.parameters())


def test_a_head_of_another_shape_is_refused(critic: Critic, tmp_path: Path) -> None:
    Critic(critic.checkpoint, torch.nn.Linear(3, 1)).write(tmp_path)
    with pytest.raises(CheckpointMismatched):
        load_critic(tmp_path)
    (tmp_path / HEAD).write_bytes(b"no")
    with pytest.raises(CheckpointUnusable):
        load_critic(tmp_path)
