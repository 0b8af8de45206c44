"""How pictures go through a vision tower: their patches by one product of matrices, and a frozen tower once a picture.

The tower says its first layer as a convolution whose kernel is as large as a patch. Each kernel then meets each patch
once, which is a matrix product; as a convolution it took a tenth of a training step on a processor.

An update of reinforcement reads its screens several times, and attempts at one task begin with the same screen.
Pictures are looked at one by one, so that what is kept is the same to the last bit however they are grouped. A tower
that learns, or whose weights several processes share, looks every time.
"""

import hashlib
from collections import OrderedDict
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutputWithPooling

from trainer.runtime.distributed import world_size

MOST_BYTES = 1 << 28
"""Of what is kept; the pictures that were met last."""


class MatmulPatchEmbedding(torch.nn.Conv3d):  # type: ignore[misc]
    """That convolution, with the same weight under the same name."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Patches of shape (N, channels, frames, rows, columns) to (N, width, 1, 1, 1)."""
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

    def __init__(self, trunk: Any, *, most_bytes: int = MOST_BYTES) -> None:
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
