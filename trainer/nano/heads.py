"""Throw-away heads: what a small model is asked on the way to an answer, so that it learns to see. None is ever served.

A large pre-trained model needs none of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from trainer.nano.synthetic.targets import BUCKETS, COLUMNS, LETTERS, ScreenTargets

NOTHING = 0.1
"""What a place without a letter weighs beside one with a letter."""


def reading_heads(model: Any) -> nn.ModuleDict:
    """What the tower is asked, drawn anew: letters and the widget's place of each patch, pairs of letters of cells."""
    tower, text = model.config.vision_config.hidden_size, model.config.text_config.hidden_size
    return nn.ModuleDict(
        {
            "letters": nn.Linear(tower, COLUMNS * LETTERS),
            "offsets": nn.Linear(tower, 2),
            "pairs": nn.Linear(text, BUCKETS),
        }
    )


@dataclass(frozen=True)
class ReadingTargets:
    """The targets of several screens, as tensors with the screens first; see `Seen`."""

    letters: torch.Tensor
    offsets: torch.Tensor
    offered: torch.Tensor
    pairs: torch.Tensor


def stack_reading_targets(seen: list[ScreenTargets]) -> ReadingTargets:
    """Targets of screens of one size."""
    return ReadingTargets(
        letters=torch.from_numpy(np.stack([one.letters for one in seen])),
        offsets=torch.from_numpy(np.stack([one.offsets for one in seen])),
        offered=torch.from_numpy(np.stack([one.offered for one in seen])),
        pairs=torch.from_numpy(np.stack([one.pairs for one in seen])),
    )


def reading_loss(
    heads: nn.ModuleDict, patches: torch.Tensor, cells: torch.Tensor, read: ReadingTargets
) -> tuple[torch.Tensor, dict[str, float]]:
    """How wrong the heads are about what the tower made of patches and cells, and figures of it."""
    weights = torch.ones(LETTERS)
    weights[0] = NOTHING
    letter_logits = heads["letters"](patches.float()).unflatten(-1, (COLUMNS, LETTERS))
    letters = functional.cross_entropy(letter_logits.flatten(0, 2), read.letters.flatten(), weight=weights)
    offsets = functional.smooth_l1_loss(
        heads["offsets"](patches.float())[read.offered], read.offsets[read.offered], beta=0.1
    )
    pair_logits = heads["pairs"](cells.float())
    pairs = functional.binary_cross_entropy_with_logits(pair_logits, read.pairs, reduction="sum")
    pairs = pairs / read.pairs.sum().clamp(min=1)
    with torch.no_grad():
        has_letter = read.letters > 0
        right = (letter_logits.argmax(-1) == read.letters)[has_letter].float().mean()
        believed = pair_logits > 0
        found = (believed & (read.pairs > 0)).sum() * 2 / (believed.sum() + (read.pairs > 0).sum()).clamp(min=1)
    figures = {
        "letters": letters.item(),
        "offsets": offsets.item(),
        "pairs": pairs.item(),
        "letters_right": right.item(),
        "pairs_f1": found.item(),
    }
    return letters + offsets + 0.3 * pairs, figures
