"""How a model is computed while it learns: what is kept for the backward pass, and in which precision.

The weights themselves, their gradients and the optimiser stay in single precision whatever is chosen here.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from trainer.config import TrainingConfig
from trainer.model.vision_tower import VisionFeatureCache


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
