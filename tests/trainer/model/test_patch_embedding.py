"""Patches by a product are patches by the convolution, and teach the same."""

import torch

from trainer.model.checkpoints import Checkpoint
from trainer.model.forward import MatmulPatchEmbedding


def test_a_product_is_the_convolution(checkpoint: Checkpoint) -> None:
    product = checkpoint.model.model.visual.patch_embed.proj
    assert isinstance(product, MatmulPatchEmbedding)
    draw = torch.Generator().manual_seed(0)
    pixels = torch.randn(6, product.in_channels, *product.kernel_size, generator=draw)
    told = []
    for forward in (product.forward, lambda given: torch.nn.Conv3d.forward(product, given)):
        made = forward(pixels)
        (gradient,) = torch.autograd.grad(made.square().sum(), [product.weight])
        told.append((made, gradient))
    for ours, theirs in zip(*told, strict=True):
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
