"""The first stage: the tower learns to read screens full of writing, before anything is asked for."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from trainer.nano.forward import encode_pictures, extract_patches, rotary_embeddings
from trainer.nano.heads import ReadingTargets, reading_heads, reading_loss, stack_reading_targets
from trainer.nano.synthetic.screens import PAGES, Screen, draw_screen
from trainer.nano.synthetic.targets import CELL, screen_targets
from trainer.nano.training_runs import StageConfig, open_run
from trainer.runtime.metrics import open_metrics


class Config(StageConfig):
    """Settings of the reading stage."""


def run(config: Config) -> Path:
    """Read until all updates are done. Returns the last checkpoint's folder."""
    stage = open_run(config, reading_heads, learns=lambda name: ".visual." in f".{name}")
    model, began = stage.checkpoint.model, time.process_time()
    with open_metrics(config.out, stage.state.update) as metrics:
        for update, (pixels, read) in stage.updates(partial(sample_reading_batch, config.seed, count=config.batch)):
            with torch.autocast("cpu", torch.bfloat16, enabled=config.bfloat16):
                patches, cells = encode_pictures(model, extract_patches(pixels), rotary_embeddings_for(model, pixels))
            loss, figures = reading_loss(stage.heads, patches, cells, read)
            loss.backward()
            norm = stage.optimisers.step(update, config)
            metrics.write(update, {**figures, "gradient": norm, "cpu_seconds": time.process_time() - began})
    return stage.newest


def sample_reading_batch(seed: int, update: int, *, count: int) -> tuple[torch.Tensor, ReadingTargets]:
    """The pictures of an update, all of one size, and what is to be read; the same for the same seed and update."""
    page = Random(f"{seed} {update}").choice(PAGES)
    screens = [draw_screen(Random(f"{seed} {update} {number}"), page=page, dense=True) for number in range(count)]
    return stack_pixels(screens), stack_reading_targets([screen_targets(one) for one in screens])


def stack_pixels(screens: Sequence[Screen]) -> torch.Tensor:
    """Pictures of one size; shape (B, height, width, 3)."""
    return torch.from_numpy(np.stack([np.asarray(one.image) for one in screens]))


def rotary_embeddings_for(model: Any, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The places in pictures of this size."""
    return rotary_embeddings(model, pixels.shape[1] // CELL, pixels.shape[2] // CELL)
