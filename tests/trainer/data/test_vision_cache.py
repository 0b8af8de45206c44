"""A frozen tower looks at each picture once, and what it saw is what it would see again."""

from typing import Any

import pytest
import torch

from tests.trainer.examples import read, sample
from trainer.data.packing import Pack, learned_logprobs, pack
from trainer.data.rendering import Renderer
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.model.critic import learned_values, load_critic
from trainer.model.forward import VisionFeatureCache
from trainer.runtime.runs import trainable_weights


class Watched:
    """How many pictures a model's tower is shown."""

    def __init__(self, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown = 0
        look = model.model.visual.forward

        def watched(pixels: torch.Tensor, grid_thw: torch.Tensor, **more: Any) -> Any:
            self.shown += len(grid_thw)
            return look(pixels, grid_thw=grid_thw, **more)

        monkeypatch.setattr(model.model.visual, "forward", watched)


def packed(checkpoint: Checkpoint, *numbers: int) -> Pack:
    renderer = Renderer(checkpoint, context=512)
    return pack([renderer.render_sample(sample(number), read) for number in numbers], checkpoint.model)


def frozen(checkpoint: Checkpoint, **more: Any) -> Checkpoint:
    """The checkpoint anew, with a tower that stands still and looks once."""
    found = load_checkpoint(checkpoint.path)
    trainable_weights(found.model, vision=False)
    found.model.model.get_image_features = VisionFeatureCache(found.model.model, **more)
    return found


def test_each_picture_is_looked_at_once_however_it_is_grouped(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, once = load_checkpoint(checkpoint.path), frozen(checkpoint)
    watched = Watched(once.model, monkeypatch)
    with torch.inference_mode():
        for numbers in ((0, 1), (1, 0, 1), (2,), (0, 2)):
            one = packed(checkpoint, *numbers)
            assert (learned_logprobs(once.model, one) - learned_logprobs(plain.model, one)).abs().max() < 1e-5
    assert watched.shown == 3


def test_what_was_seen_without_gradients_serves_with_them(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, again = packed(checkpoint, 0, 1), frozen(checkpoint)
    watched = Watched(again.model, monkeypatch)
    with torch.inference_mode():
        learned_logprobs(again.model, one)
    fresh = frozen(checkpoint)
    for each in (again, fresh):
        learned_logprobs(each.model, one).sum().backward()
    assert watched.shown == 2
    pairs = list(zip(again.model.named_parameters(), fresh.model.named_parameters(), strict=True))
    assert all((mine.grad is None) == name.startswith("model.visual.") for (name, mine), _ in pairs)
    assert all(mine.grad is None or torch.equal(mine.grad, other.grad) for (_, mine), (_, other) in pairs)


def test_a_tower_that_learns_looks_every_time_and_has_its_gradient(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, one = frozen(checkpoint), packed(checkpoint, 0, 1)
    trainable_weights(found.model, vision=True)
    watched = Watched(found.model, monkeypatch)
    for _ in range(2):
        learned_logprobs(found.model, one).sum().backward()
    assert watched.shown == 4
    assert all(weight.grad is not None for weight in found.model.model.visual.parameters())


def test_no_more_is_kept_than_may_be(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    found = frozen(checkpoint, most_bytes=1)
    watched = Watched(found.model, monkeypatch)
    with torch.inference_mode():
        for number, shown in ((0, 1), (0, 1), (1, 2), (0, 3)):
            learned_logprobs(found.model, packed(checkpoint, number))
            assert watched.shown == shown


def test_a_critic_looks_once_too(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    critic, plain = load_critic(checkpoint.path), load_critic(checkpoint.path)
    for each in (critic, plain):
        torch.nn.init.ones_(each.head.weight)
    critic.learning(vision=False)
    critic.checkpoint.model.model.get_image_features = VisionFeatureCache(critic.checkpoint.model.model)
    watched, one = Watched(critic.checkpoint.model, monkeypatch), packed(checkpoint, 0)
    for _ in range(2):
        off = learned_values(critic, one) - learned_values(plain, one)
        assert float(off.detach().abs().max()) < 1e-4
    assert watched.shown == 1
