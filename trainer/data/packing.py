"""Several samples in one sequence, none of which sees another.

Each keeps the positions it would have alone: rotary ones in time, height and width, and a plain count before them.
Where the count begins again a new sample begins: from that the model makes its attention mask (or, with flash
attention, its sequence bounds).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from trainer.data.rendering import TokenizedSample
from trainer.model.forward import UNMASKED
from trainer.serve.prompt_encoder import Picture


@dataclass(frozen=True)
class Pack:
    """A sequence of N tokens from several samples. T of the tokens are learned: those under the masks, in order."""

    ids: torch.Tensor
    """Token ids, [1, N] (int)."""
    positions: torch.Tensor
    """Count within the sample, then time, height and width; [4, 1, N] (int)."""
    pixels: torch.Tensor | None
    """Patches of all pictures, in order, [patches, values of a patch]; None without pictures."""
    grids: torch.Tensor | None
    """Frames, rows and columns of patches, [pictures, 3] (int); None without pictures."""
    places: torch.Tensor
    """Where the learned tokens are, [T] (int)."""
    weights: torch.Tensor
    """How much each of them counts, [T], from 0."""
    rollout_logprobs: torch.Tensor
    """Log-probability that the server gave, [T], in nats.

    NaN where the policy did not sample the token, or not comparably.
    """
    sample_index: torch.Tensor
    """Which sample each belongs to, [T] (int), from 0."""
    lengths: tuple[int, ...]
    """Tokens of each sample."""

    @property
    def learned(self) -> torch.Tensor:
        """The tokens that are learned; shape (T,)."""
        return self.ids[0, self.places]

    def to(self, device: str | torch.device) -> "Pack":
        """The same on another device."""
        moved = {
            name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in vars(self).items()
        }
        return Pack(**moved)


def pack(samples: Sequence[TokenizedSample], model: Any) -> Pack:
    """Samples one after the other, as inputs for this model. Raises ValueError where there is nothing to learn."""
    if not samples or any(sample.mask[0] or not any(sample.mask) for sample in samples):
        raise ValueError("every sample of a pack has something to learn, and something before it")
    lengths = tuple(len(sample.ids) for sample in samples)
    if vision_learns(model) and not any(sample.pictures for sample in samples):
        samples = [*samples, blank_sample(model)]
    mask = torch.tensor([flag for sample in samples for flag in sample.mask])
    sample_index = torch.repeat_interleave(torch.arange(len(samples)), torch.tensor([len(one.ids) for one in samples]))
    pictures = [picture for sample in samples for picture in sample.pictures]
    return Pack(
        ids=torch.tensor([[token for sample in samples for token in sample.ids]]),
        positions=torch.cat([token_positions(sample, model) for sample in samples], dim=2),
        pixels=torch.cat([picture.pixels for picture in pictures]) if pictures else None,
        grids=torch.cat([picture.grid for picture in pictures]) if pictures else None,
        places=mask.nonzero()[:, 0],
        weights=torch.tensor([weight for sample in samples for weight in sample.weights])[mask],
        rollout_logprobs=torch.tensor([value for sample in samples for value in _comparable(sample)]),
        sample_index=sample_index[mask],
        lengths=lengths,
    )


def vision_learns(model: Any) -> bool:
    """Whether its vision tower learns."""
    return any(weight.requires_grad for weight in model.model.visual.parameters())


def blank_sample(model: Any) -> TokenizedSample:
    """A blank picture that teaches nothing.

    A tower that learns has a gradient, if only of zeros, in every sequence: processes that share a model wait for each
    other's, and one alone shall do the same.
    """
    vision, ids = model.config.vision_config, (model.config.vision_start_token_id, model.config.image_token_id)
    across = vision.spatial_merge_size
    pixels = torch.zeros(across**2, vision.in_channels * vision.temporal_patch_size * vision.patch_size**2)
    look = Picture(pixels=pixels, grid=torch.tensor([[1, across, across]]), tokens=1, sha256="")
    return TokenizedSample("", 0, "human", ids, (False, False), (0.0, 0.0), (look,), None)


def token_positions(sample: TokenizedSample, model: Any) -> torch.Tensor:
    """Position of each token of a sample: the count, then time, height and width.

    Returns:
        [4, 1, tokens] (int).
    """
    ids = torch.tensor([sample.ids])
    grids = torch.cat([picture.grid for picture in sample.pictures]) if sample.pictures else None
    kinds = (ids == model.config.image_token_id).int()
    rotary, _ = model.model.get_rope_index(ids, mm_token_type_ids=kinds, image_grid_thw=grids)
    count = torch.arange(len(sample.ids))[None, None]
    return torch.cat([count, rotary])


def vision_inputs(pack: Pack) -> dict[str, torch.Tensor | None]:
    """The pictures as a model takes them: `pixel_values` [patches, values] and `image_grid_thw` [pictures, 3].

    Empty without pictures.
    """
    return {} if pack.pixels is None else {"pixel_values": pack.pixels, "image_grid_thw": pack.grids}


def learned_logits(model: Any, pack: Pack) -> torch.Tensor:
    """Logits of each learned token, in single precision.

    Only these rows are multiplied by the vocabulary's matrix: screens are many tokens, and a reply is few.

    Returns:
        [T, vocabulary].
    """
    out = model(
        input_ids=pack.ids,
        position_ids=pack.positions,
        attention_mask=UNMASKED,
        use_cache=False,  # with a cache the positions' count would not be heeded
        logits_to_keep=pack.places - 1,
        **vision_inputs(pack),
    )
    logits: torch.Tensor = out.logits[0].float()
    return logits


def learned_logprobs(model: Any, pack: Pack, *, temperature: float = 1.0) -> torch.Tensor:
    """Log-probability of each learned token, in nats.

    Args:
        model: As `transformers` loads it.
        pack: A sequence.
        temperature: Divides the logits; 0 stands for 1.

    Returns:
        [T], at most 0.
    """
    logits = learned_logits(model, pack) / (temperature or 1.0)
    chosen: torch.Tensor = logits.log_softmax(-1).gather(-1, pack.learned[:, None])[:, 0]
    return chosen


def _comparable(sample: TokenizedSample) -> tuple[float, ...]:
    if sample.logprobs is None or not sample.exact:
        return (float("nan"),) * sum(sample.mask)
    return sample.logprobs
