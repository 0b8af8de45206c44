"""The report of a run says what its processors computed, and what its tests left open."""

import json
from pathlib import Path
from typing import Any

from annotation_app.operations.testing import timing
from annotation_app.operations.testing.runs import save_durations


def row(test: str, phase: str, **more: Any) -> str:
    whole = {"test": test, "group": "g", "phase": phase, "seconds": 1.0, "fixtures": [], "waits": [], **more}
    return json.dumps(whole)


def test_computed_seconds_and_what_was_left_open_are_told_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        "\n".join(
            [
                row("tests/one/test_a.py::test_one", "call", processor_s=2.5),
                row("tests/one/test_a.py::test_one", "teardown", processor_s=0.5, unclosed=["unclosed <socket>"]),
                row("tests/two/test_b.py::test_two", "call", processor_s=4.0),
                row("tests/two/test_b.py::test_two", "teardown"),
            ]
        )
    )
    found = timing.TestTiming.read([tmp_path / "a.jsonl"])
    assert found.processor_seconds() == {"tests/one": 3.0, "tests/two": 4.0}
    assert found.busiest() == [("tests/two/test_b.py", 4.0), ("tests/one/test_a.py", 3.0)]
    assert "left open by tests/one/test_a.py: unclosed <socket>" in list(found.lines({}))


def test_durations_of_a_part_replace_its_own_and_drop_files_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        "\n".join([row("a", "setup", group="platform"), row("a", "call", group="platform")])
    )
    here, kept = "tests/unit/operations/test_timing.py", tmp_path / "durations.json"
    kept.write_text(json.dumps({here: 3.0, "platform": 9.0, "tests/unit/none.py": 4.0}))
    assert save_durations(timing.TestTiming.read([tmp_path / "a.jsonl"]), kept) == 1
    assert json.loads(kept.read_text()) == {"platform": 2.0, here: 3.0}
