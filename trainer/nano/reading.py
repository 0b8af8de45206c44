"""The first stage: the tower learns to read screens full of writing, before anything is asked for."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from trainer.curves import curves_open
from trainer.nano.forward import looked, patches_of, turns_of
from trainer.nano.heads import Read, read_of, reading_heads, reading_loss
from trainer.nano.learning import Learning, run_open
from trainer.nano.screens import PAGES, Screen, screen_draw
from trainer.nano.targets import CELL, seen_of


class Config(Learning):
    """What it is told."""


def run(config: Config) -> Path:
    """Read until all updates are done. Returns the last checkpoint's folder."""
    stage = run_open(config, reading_heads, learns=lambda name: ".visual." in f".{name}")
    model, began = stage.checkpoint.model, time.process_time()
    with curves_open(config.out, stage.state.update) as curves:
        for update, (pixels, read) in stage.updates(partial(drawn, config.seed, count=config.batch)):
            with torch.autocast("cpu", torch.bfloat16, enabled=config.bfloat16):
                patches, cells = looked(model, patches_of(pixels), turns_for(model, pixels))
            loss, figures = reading_loss(stage.heads, patches, cells, read)
            loss.backward()
            norm = stage.optimisers.step(update, config)
            curves.write(update, {**figures, "gradient": norm, "cpu_seconds": time.process_time() - began})
    return stage.newest


def drawn(seed: int, update: int, *, count: int) -> tuple[torch.Tensor, Read]:
    """The pictures of an update, all of one size, and what is to be read; the same for the same seed and update."""
    page = Random(f"{seed} {update}").choice(PAGES)
    screens = [screen_draw(Random(f"{seed} {update} {number}"), page=page, dense=True) for number in range(count)]
    return pixels_of(screens), read_of([seen_of(one) for one in screens])


def pixels_of(screens: Sequence[Screen]) -> torch.Tensor:
    """Pictures of one size; shape (B, height, width, 3)."""
    return torch.from_numpy(np.stack([np.asarray(one.image) for one in screens]))


def turns_for(model: Any, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The places in pictures of this size."""
    return turns_of(model, pixels.shape[1] // CELL, pixels.shape[2] // CELL)
