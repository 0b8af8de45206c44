"""Where the tokens of points begin: neighbouring pixels alike, so that what is learned of one is known of the next."""

import math
from typing import Any

import torch

from trainer.nano.tokenizer import ACROSS

FINEST, COARSEST, WAVES = 8.0, 1_408.0, 16
"""Pixels of the shortest and the longest wave, and how many there are."""
SPREAD = 0.02
"""Deviation of a number, that of the family's other embeddings."""


def initialize_point_embeddings(model: Any, tokenizer: Any) -> None:
    """Embed columns and rows as mixtures of waves, each axis in directions of its own."""
    words = model.get_input_embeddings().weight
    for name in ("<point>{}", " {}</point>"):
        tokens = [tokenizer.convert_tokens_to_ids(name.format(pixel)) for pixel in range(ACROSS)]
        with torch.no_grad():
            words[tokens] = _waves() @ torch.randn(2 * WAVES, words.shape[1]) * SPREAD * WAVES**-0.5


def _waves() -> torch.Tensor:
    """Sines and cosines of each pixel; shape (ACROSS, 2 * WAVES), the squares of a row sum to WAVES."""
    lengths = FINEST * (COARSEST / FINEST) ** (torch.arange(WAVES) / (WAVES - 1))
    angles = 2 * math.pi * torch.arange(ACROSS)[:, None] / lengths
    return torch.cat((angles.sin(), angles.cos()), 1)
