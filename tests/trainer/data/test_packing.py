"""Samples in one sequence are what they are alone: likelihoods, gradients, positions."""

from dataclasses import replace

import pytest
import torch

from tests.trainer.examples import read, sample
from trainer.data.packing import learned_logits, learned_logprobs, pack, token_positions
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.likelihood import compute_reply_logprobs
from trainer.model.checkpoints import Checkpoint

CLOSE = 1e-5


@pytest.fixture
def samples(checkpoint: Checkpoint) -> list[TokenizedSample]:
    """Of different lengths, with none to three pictures of different sizes."""
    renderer = Renderer(checkpoint, context=4096)
    return [
        renderer.render_sample(sample(number, pictures=number, weight=number + 1.0), read) for number in (2, 0, 3, 1)
    ]


def alone(checkpoint: Checkpoint, one: TokenizedSample) -> torch.Tensor:
    """A sample's log-probabilities as they were computed before there was packing."""
    begin = one.mask.index(True)
    return compute_reply_logprobs(checkpoint, one.ids[:begin], one.pictures, one.ids[begin:])


def test_a_pack_is_its_samples_one_by_one(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    packed = pack(samples, checkpoint.model)
    with torch.inference_mode():
        found = learned_logprobs(checkpoint.model, packed)
    expected = torch.cat([alone(checkpoint, one) for one in samples])
    assert found.shape == expected.shape
    assert (found - expected).abs().max() <= CLOSE
    for number, one in enumerate(samples):
        assert (packed.sample_index == number).sum() == sum(one.mask)
        assert torch.all(packed.weights[packed.sample_index == number] == max(one.weights))


def test_a_temperature_divides_what_is_said(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    packed = pack(samples[:2], checkpoint.model)
    with torch.inference_mode():
        halved = learned_logprobs(checkpoint.model, packed, temperature=0.5)
        logits = learned_logits(checkpoint.model, packed)
    expected = (logits * 2).log_softmax(-1)[torch.arange(len(halved)), packed.learned]
    assert torch.allclose(halved, expected, atol=CLOSE, rtol=0)


def test_gradients_of_a_pack_are_the_sum_of_its_samples(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    model = checkpoint.model
    weights = [value for name, value in model.named_parameters() if "layers.0" in name or "patch_embed" in name]

    def gradients(*some: TokenizedSample) -> list[torch.Tensor]:
        packed = pack(some, model)
        loss = -(learned_logprobs(model, packed) * packed.weights).sum()
        return list(torch.autograd.grad(loss, weights, materialize_grads=True))

    together = gradients(*samples)
    singly = [sum(parts[1:], parts[0]) for parts in zip(*(gradients(one) for one in samples), strict=True)]
    for packed, summed in zip(together, singly, strict=True):
        assert (packed - summed).abs().max() <= CLOSE * max(1.0, float(summed.abs().max()))


def test_samples_do_not_see_each_other(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    other = replace(samples[0], ids=tuple((token + 1) % 256 if token < 256 else token for token in samples[0].ids))
    with torch.inference_mode():
        one, two = (
            learned_logprobs(checkpoint.model, pack([first, *samples[1:]], checkpoint.model))
            for first in (samples[0], other)
        )
    begun = sum(samples[0].mask)
    assert not torch.allclose(one[:begun], two[:begun], atol=1e-3)
    assert (one[begun:] - two[begun:]).abs().max() <= CLOSE


def test_every_sample_has_the_positions_it_has_alone(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    packed = pack(samples, checkpoint.model)
    parts = packed.positions.split(packed.lengths, dim=2)
    for part, one in zip(parts, samples, strict=True):
        assert torch.equal(part, token_positions(one, checkpoint.model))
        assert torch.equal(part[0, 0], torch.arange(len(one.ids)))
        assert torch.all(part[:, :, 0] == 0)
    assert int(parts[0][1:].max()) < len(samples[0].ids) - 1, "a picture takes fewer positions than tokens"


def test_what_the_server_said_stands_by_the_tokens(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    first, second, third = samples[:3]
    told = tuple(-float(place) for place in range(sum(first.mask)))
    drawn = replace(first, logprobs=told, exact=True)
    cut_off = replace(second, logprobs=(-1.0,) * sum(second.mask), exact=False)
    packed = pack([cut_off, drawn, third], checkpoint.model)
    assert packed.rollout_logprobs[packed.sample_index == 1].tolist() == list(told)
    assert torch.all(packed.rollout_logprobs[packed.sample_index != 1].isnan())
    assert packed.learned.tolist() == [
        token for one in (cut_off, drawn, third) for token, flag in zip(one.ids, one.mask, strict=True) if flag
    ]


def test_nothing_to_learn_is_no_pack(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    silent = replace(samples[0], mask=(False,) * len(samples[0].ids))
    for wrong in ([], [samples[1], silent], [replace(samples[0], mask=(True,) * len(samples[0].ids))]):
        with pytest.raises(ValueError, match="something to learn"):
            pack(wrong, checkpoint.model)


def test_a_pack_moves_whole(checkpoint: Checkpoint, samples: list[TokenizedSample]) -> None:
    moved = pack(samples, checkpoint.model).to("meta")
    assert moved.ids.is_meta
    assert moved.pixels is not None
    assert moved.pixels.is_meta
    assert moved.lengths == tuple(len(one.ids) for one in samples)
