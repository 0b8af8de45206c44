"""A line of figures an update, as pages and TensorBoard read them."""

import json
from pathlib import Path

import pytest
import torch

from trainer.runtime.metrics import BOARD, LOG, open_metrics


def lines(out: Path) -> list[dict[str, float | None]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    with open_metrics(tmp_path, 0) as metrics:
        metrics.write(1, {"loss": 0.5, "entropy": float("nan")})
    (line,) = lines(tmp_path)
    assert (line["update"], line["loss"], line["entropy"]) == (1, 0.5, None)
    assert "gpu_memory_gib" not in line
    assert list((tmp_path / BOARD).iterdir())


def test_a_run_on_a_gpu_tells_its_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 3 * 2**29)
    with open_metrics(tmp_path, 0) as metrics:
        metrics.write(1, {"loss": 0.5})
    assert lines(tmp_path)[0]["gpu_memory_gib"] == 1.5
