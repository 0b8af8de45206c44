"""What pages are told of a training: every figure by update, and what it came to in the end."""

import json
from pathlib import Path
from typing import Any

from annotation_app.flywheel.curves import MAX_CURVE_POINTS, final_figures, read_curves


def write_log(folder: Path, phase: str, text: str) -> None:
    path = folder / "train" / phase
    path.mkdir(parents=True)
    (path / "log.jsonl").write_text(text)


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_figures_that_are_no_number_or_not_there_are_none(tmp_path: Path) -> None:
    write_log(
        tmp_path,
        "sft",
        '{"update": 1, "loss": 0.5}\n{"update": 2, "loss": NaN, "entropy": 2}\n{"update": 3, "lo',
    )
    (curve,) = read_curves(tmp_path, {})
    assert (curve.phase, curve.updates) == ("sft", (1, 2))
    assert curve.figures == {"loss": (0.5, None), "entropy": (None, 2)}


def test_throughput_follows_from_counts_and_seconds(tmp_path: Path) -> None:
    write_log(tmp_path, "rl", lines({"update": 1, "tokens": 300, "attempts": 8, "seconds": 4}, {"update": 2}))
    (curve,) = read_curves(tmp_path, {})
    assert (curve.figures["tokens_per_s"], curve.figures["attempts_per_s"]) == ((75, None), (2, None))


def test_long_trainings_are_thinned_out(tmp_path: Path) -> None:
    write_log(tmp_path, "ct", lines(*({"update": n, "loss": n} for n in range(1, 2 * MAX_CURVE_POINTS + 2))))
    (curve,) = read_curves(tmp_path, {})
    assert len(curve.updates) <= MAX_CURVE_POINTS
    assert curve.updates[:2] == (1, 4)


def test_the_end_of_a_training_is_the_mean_of_its_last_updates(tmp_path: Path) -> None:
    rows = ({"update": n, "loss": float(n), "reward": None if n > 18 else 1.0} for n in range(1, 21))
    write_log(tmp_path, "rl", lines(*rows))
    assert final_figures(tmp_path) == {"rl": {"loss": 19.5}}
    assert final_figures(tmp_path / "none") == {}
