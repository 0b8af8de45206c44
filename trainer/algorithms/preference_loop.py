"""The training loop of DPO and KTO: groups of replies, compared with a frozen reference."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

from trainer.data.preferences import PreferenceConfig, ReplyGroup, group_order, reference_logprobs
from trainer.model.checkpoints import Checkpoint
from trainer.runtime.runs import newest_checkpoint, open_checkpoint, train

AnyConfig = TypeVar("AnyConfig", bound=PreferenceConfig)
AnyGroup = TypeVar("AnyGroup", bound=ReplyGroup)
Gradients = Callable[[Any, Sequence[list[int]], Sequence[AnyGroup], torch.Tensor, AnyConfig], dict[str, float]]
"""Computes the gradients of an update from the model, the groups in each sequence by their numbers, all groups, the
reference's log-probabilities of shape [groups, replies of a group], and the settings; returns its metrics."""


def train_against_reference(
    config: AnyConfig,
    load_groups: Callable[[AnyConfig, Checkpoint], Sequence[AnyGroup]],
    gradients: Gradients[AnyGroup, AnyConfig],
) -> Path:
    """Train, or resume from the newest checkpoint.

    The reference is the checkpoint the run started with. Its log-probabilities are computed once, before training.

    Returns:
        The folder of the last checkpoint.

    Raises:
        TrainerError: The settings, a checkpoint or the data cannot be used.
    """
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(config.checkpoint, config)
    groups = load_groups(config, checkpoint)
    reference = reference_logprobs(checkpoint.model, groups)
    if newest is not None:
        checkpoint = open_checkpoint(newest, config)

    def update_gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        return gradients(checkpoint.model, [list(one) for one in sequences], groups, reference, config)

    return train(config, checkpoint, newest, group_order(groups, config), update_gradients)
