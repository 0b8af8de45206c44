"""Recomputing layers changes no gradient and keeps less; bfloat16 stays near single precision, and off is off."""

import inspect
import re
import weakref
from importlib import import_module
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.trainer.examples import read, sample
from trainer.__main__ import COMMANDS, SHARED
from trainer.config import TrainingConfig
from trainer.data.packing import Pack, learned_logprobs, pack
from trainer.data.rendering import Renderer
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.model.critic import learned_values, load_critic
from trainer.model.forward import configure_compute
from trainer.rl.losses import likelihood_loss
from trainer.runtime.distributed import backward
from trainer.runtime.runs import trainable_weights

Gradients = dict[str, torch.Tensor]


class PeakMemory(TorchDispatchMode):  # type: ignore[misc]
    """The most bytes of tensors that were held at once."""

    def __init__(self) -> None:
        super().__init__()
        self.most = self._now = 0
        self._seen: set[int] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else (made,):
            if isinstance(one, torch.Tensor):
                self._hold(one.untyped_storage())
        return made

    def _hold(self, storage: torch.UntypedStorage) -> None:
        key, size = storage.data_ptr(), storage.nbytes()
        if not size or key in self._seen:
            return
        self._seen.add(key)
        self._now += size
        self.most = max(self.most, self._now)
        weakref.finalize(storage, self._let_go, key, size)

    def _let_go(self, key: int, size: int) -> None:
        self._seen.discard(key)
        self._now -= size


def opened(checkpoint: Checkpoint, **more: Any) -> Checkpoint:
    """The checkpoint anew, computed so, with its tower learning."""
    found = load_checkpoint(checkpoint.path)
    configure_compute(found.model, TrainingConfig(checkpoint=found.path, out=found.path, **more))
    trainable_weights(found.model, vision=True)
    return found


def packed(checkpoint: Checkpoint, copies: int = 1) -> Pack:
    """Two steps with their pictures, so many times."""
    renderer = Renderer(checkpoint, context=512)
    return pack([renderer.render_sample(sample(number), read) for number in range(2)] * copies, checkpoint.model)


def gradients(checkpoint: Checkpoint, one: Pack) -> Gradients:
    backward(likelihood_loss(learned_logprobs(checkpoint.model, one), one.weights, float(one.weights.sum())))
    return {name: weight.grad for name, weight in checkpoint.model.named_parameters() if weight.grad is not None}


def off_by(one: Gradients, other: Gradients) -> float:
    """How far gradients are from others, over the norm of these."""
    both = [torch.cat([each[name].flatten() for name in sorted(one)]) for each in (one, other)]
    return float((both[0] - both[1]).norm() / both[0].norm())


def test_recomputing_gives_the_same_gradients(checkpoint: Checkpoint) -> None:
    plain, again = opened(checkpoint), opened(checkpoint, recompute=True)
    one = packed(checkpoint)
    kept, made = gradients(plain, one), gradients(again, one)
    assert kept.keys() == made.keys()
    assert any("visual" in name for name in kept)
    assert all(torch.equal(kept[name], made[name]) for name in kept)


def test_recomputing_holds_less(checkpoint: Checkpoint) -> None:
    most = {}
    for recompute in (False, True):
        found = opened(checkpoint, recompute=recompute)
        one = packed(found, copies=8)
        with PeakMemory() as held:
            gradients(found, one)
        most[recompute] = held.most
    assert most[True] < 0.8 * most[False], most


def test_bfloat16_is_near_and_leaves_the_weights_single(checkpoint: Checkpoint) -> None:
    plain, half = opened(checkpoint), opened(checkpoint, precision="bfloat16")
    one = packed(checkpoint)
    with torch.no_grad():
        exact, near = learned_logprobs(plain.model, one), learned_logprobs(half.model, one)
    assert 0 < float((exact - near).abs().max()) < 0.05
    whole, rounded = gradients(plain, one), gradients(half, one)
    assert 0 < off_by(whole, rounded) < 0.05
    assert {value.dtype for value in (*rounded.values(), *half.model.state_dict().values())} == {torch.float32}
    both = gradients(opened(checkpoint, precision="bfloat16", recompute=True), one)
    assert all(torch.equal(rounded[name], both[name]) for name in rounded), "recomputed in the same precision"


def test_a_critics_head_stays_exact(checkpoint: Checkpoint) -> None:
    critic = load_critic(checkpoint.path)
    torch.nn.init.constant_(critic.head.weight, 0.01)
    configure_compute(
        critic.checkpoint.model, TrainingConfig(checkpoint=checkpoint.path, out=checkpoint.path, precision="bfloat16")
    )
    values = learned_values(critic, packed(checkpoint))
    assert not torch.equal(values, values.bfloat16().float())


@pytest.mark.parametrize("command", SHARED)
def test_every_command_that_trains_opens_its_models_so(command: str) -> None:
    source = inspect.getsource(import_module(COMMANDS[command]))
    assert not re.search(r"\b(checkpoint|critic)_load\(", source), "what it loads would not be computed as it is told"


def test_off_is_off(checkpoint: Checkpoint) -> None:
    one = packed(checkpoint)
    bare = load_checkpoint(checkpoint.path)
    with torch.no_grad():
        assert torch.equal(learned_logprobs(bare.model, one), learned_logprobs(opened(checkpoint).model, one))
    with pytest.raises(ValueError, match="precision"):
        opened(checkpoint, precision="half")
