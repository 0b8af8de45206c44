"""A run's figures, update by update: a line of JSON each, and the same for TensorBoard."""

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import torch
from tensorboardX import SummaryWriter

from trainer.runtime.distributed import is_first

LOG, BOARD = "log.jsonl", "tensorboard"


class MetricsWriter:
    """Where figures go; each line also has the seconds since the one before."""

    def __init__(self, lines: TextIO, board: SummaryWriter) -> None:
        self._lines, self._board, self._since = lines, board, time.monotonic()

    def write(self, update: int, figures: Mapping[str, float]) -> None:
        """The figures of one update; what is no number is null, and no point of a curve."""
        now, figures = time.monotonic(), {**figures, **gpu_figures()}
        numbers = {name: value for name, value in figures.items() if math.isfinite(value)}
        row = {"update": update, **dict.fromkeys(figures), **numbers, "seconds": now - self._since}
        self._since = now
        self._lines.write(json.dumps(row) + "\n")
        self._lines.flush()
        for name, value in numbers.items():
            self._board.add_scalar(name, value, update)


def gpu_figures() -> dict[str, float]:
    """The most GPU memory this process has held so far, in GiB; empty where it has used no GPU."""
    if not torch.cuda.is_initialized():
        return {}
    return {"gpu_memory_gib": torch.cuda.max_memory_allocated() / 2**30}


class NullMetricsWriter(MetricsWriter):
    """Those of a process that is not the first: what it would write the first has written."""

    def __init__(self) -> None:
        pass

    def write(self, update: int, figures: Mapping[str, float]) -> None:
        pass


@contextmanager
def open_metrics(out: Path, done: int) -> Iterator[MetricsWriter]:
    """A run's curves, without what came after update `done`: it is done again."""
    if not is_first():
        yield NullMetricsWriter()
        return
    path = out / LOG
    earlier = [line for line in _lines(path) if json.loads(line)["update"] <= done]
    fresh = path.with_name(LOG + ".new")
    fresh.write_text("".join(earlier))
    fresh.rename(path)
    with path.open("a") as lines, SummaryWriter(str(out / BOARD), purge_step=done + 1 if done else None) as board:
        yield MetricsWriter(lines, board)


def _lines(path: Path) -> list[str]:
    """The whole lines: the last one may have been cut off."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith("\n")]
