"""How a model is computed: what stands in place of transformers' own parts in a forward pass.

* *Packed attention*. A mask of a whole sequence costs its length squared, most of it for pairs that must not see each
  other. Each sample is attended to alone instead: the same numbers, less work, and no mask to keep. What is not packed
  (a server's batch, the vision tower's windows) goes to torch's own attention as ever.
* *The vision tower*. It says its first layer as a convolution whose kernel is as large as a patch. Each kernel then
  meets each patch once, which is a matrix product; as a convolution it took a tenth of a training step on a processor.
  An update of reinforcement reads its screens several times, and attempts at one task begin with the same screen.
  Pictures are looked at one by one, so that what is kept is the same to the last bit however they are grouped. A tower
  that learns, or whose weights several processes share, looks every time.
* *Precision*. What is kept for the backward pass, and in which precision. The weights themselves, their gradients and
  the optimiser stay in single precision whatever is chosen here.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.modeling_outputs import BaseModelOutputWithPooling

from trainer.config import TrainingConfig
from trainer.runtime.distributed import world_size

PACKED_ATTENTION = "packed"
UNMASKED: dict[str, None] = {"full_attention": None}
"""The `attention_mask` of a packed sequence: its positions say where samples begin."""
MOST_FEATURE_BYTES = 1 << 28
"""Of pictures' features that are kept; those that were met last."""


def packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    position_ids: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of each sample of a packed sequence by itself, with the interface of `transformers`.

    Args:
        query: [1, heads, N, width].
        key: [1, key heads, N, width].
        value: [1, key heads, N, width].
        attention_mask: Any shape [...]; with one, torch's own attention runs.
        position_ids: Count within the sample, [1, N] (int); None: torch's own attention runs.

    Returns:
        [1, N, heads, width], and no weights.
    """
    if position_ids is None or attention_mask is not None:
        whole: tuple[torch.Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
        return whole
    lengths = sample_lengths(position_ids[0])
    each = zip(*(one.split(lengths, dim=2) for one in (query, key, value)), strict=True)
    return torch.cat([sdpa_attention_forward(module, *parts, None, **kwargs)[0] for parts in each], dim=1), None


def sample_lengths(count: torch.Tensor) -> list[int]:
    """Tokens of each sample.

    Args:
        count: Position within the sample, [N] (int); it begins again at 0 with each sample.
    """
    begins = (count == 0).nonzero()[:, 0]
    ends = torch.cat([begins[1:], begins.new_tensor([len(count)])])
    lengths: list[int] = (ends - begins).tolist()
    return lengths


AttentionInterface.register(PACKED_ATTENTION, packed_attention)
AttentionMaskInterface.register(PACKED_ATTENTION, sdpa_mask)


class MatmulPatchEmbedding(torch.nn.Conv3d):  # type: ignore[misc]
    """That convolution, with the same weight under the same name."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Embed patches.

        Args:
            pixels: [N, channels, frames, rows, columns].

        Returns:
            [N, width, 1, 1, 1].
        """
        made = torch.nn.functional.linear(pixels.flatten(1), self.weight.flatten(1), self.bias)
        return made[:, :, None, None, None]


def use_matmul_patches(model: Any) -> Any:
    """The same model, with patches multiplied."""
    convolution = model.model.visual.patch_embed.proj
    if convolution.stride == convolution.kernel_size:
        convolution.__class__ = MatmulPatchEmbedding
    return model


class VisionFeatureCache:
    """In place of a trunk's `get_image_features`, while its tower stands still."""

    def __init__(self, trunk: Any, *, most_bytes: int = MOST_FEATURE_BYTES) -> None:
        self._tower, self._look, self._most = trunk.visual, trunk.get_image_features, most_bytes
        self._features: OrderedDict[bytes, torch.Tensor] = OrderedDict()
        self._bytes = 0

    def __call__(self, pixel_values: torch.Tensor, image_grid_thw: torch.Tensor, **more: Any) -> Any:
        """What the tower makes of each picture, as it tells it itself."""
        if world_size() > 1 or any(weight.requires_grad for weight in self._tower.parameters()):
            return self._look(pixel_values, image_grid_thw, **more)
        parts = pixel_values.split(image_grid_thw.prod(-1).tolist())
        found = tuple(self._seen(pixels, grid[None], more) for pixels, grid in zip(parts, image_grid_thw, strict=True))
        return BaseModelOutputWithPooling(pooler_output=found)

    def _seen(self, pixels: torch.Tensor, grid: torch.Tensor, more: dict[str, Any]) -> torch.Tensor:
        name = _picture_digest(pixels, grid)
        if name not in self._features:
            with torch.inference_mode(False), torch.no_grad():  # it is met again where gradients are taken
                (made,) = self._look(pixels, grid, **more).pooler_output
            self._features[name] = made
            self._bytes += made.nbytes
            while self._bytes > self._most and len(self._features) > 1:
                self._bytes -= self._features.popitem(last=False)[1].nbytes
        self._features.move_to_end(name)
        return self._features[name]


def _picture_digest(pixels: torch.Tensor, grid: torch.Tensor) -> bytes:
    """The same for the same picture."""
    hasher = hashlib.blake2b(repr((grid.tolist(), pixels.dtype)).encode(), digest_size=20)
    hasher.update(pixels.contiguous().cpu().view(torch.uint8).numpy())
    return hasher.digest()


def configure_compute(model: Any, config: TrainingConfig) -> Any:
    """The same model, computed as a run's settings say; a tower that does not learn looks at each picture once."""
    model.model.get_image_features = VisionFeatureCache(model.model)
    if config.recompute:
        for layer in (*model.model.language_model.layers, *model.model.visual.blocks):
            layer.forward = checkpoint_activations(layer.forward)
    if config.precision == "bfloat16":
        # The trunk alone: what meets the vocabulary, and the critic's head, are few rows, and exact.
        model.model.forward = torch.autocast(model.device.type, torch.bfloat16)(model.model.forward)
    return model


def checkpoint_activations(forward: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, of which only the arguments are kept for the backward pass."""

    @wraps(forward)
    def again(*args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return forward(*args, **kwargs)
        return checkpoint(forward, *args, use_reentrant=False, preserve_rng_state=False, **kwargs)

    return again
