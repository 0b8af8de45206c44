"""What pages are told of a training that went wrong."""

from pathlib import Path

from annotation_app.flywheel.selectors.turns import _curves


def test_a_loss_that_is_no_number_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "train" / "sft"
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text('{"update": 1, "loss": 0.5}\n{"update": 2, "loss": NaN}\n{"update": 3, "lo')
    (curve,) = _curves(tmp_path)
    assert [(point.update, point.loss) for point in curve.points] == [(1, 0.5), (2, None)]
