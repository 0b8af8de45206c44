"""The report of a run says what its processors computed, and what its tests left open."""

import json
from pathlib import Path
from typing import Any

from annotation_app.operations.testing import timing


def row(test: str, phase: str, **more: Any) -> str:
    whole = {"test": test, "group": "g", "phase": phase, "seconds": 1.0, "fixtures": [], "waits": [], **more}
    return json.dumps(whole)


def test_computed_seconds_and_what_was_left_open_are_told_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        "\n".join(
            [
                row("tests/unit/test_a.py::test_one", "call", processor_s=2.5),
                row("tests/unit/test_a.py::test_one", "teardown", processor_s=0.5, unclosed=["unclosed <socket>"]),
                row("tests/e2e/test_b.py::test_two", "call", processor_s=4.0),
                row("tests/e2e/test_b.py::test_two", "teardown"),
            ]
        )
    )
    found = timing.TestTiming.read([tmp_path / "a.jsonl"])
    assert sorted(found.processor_seconds().values()) == [3.0, 4.0]
    assert found.busiest() == [("tests/e2e/test_b.py", 4.0), ("tests/unit/test_a.py", 3.0)]
    assert "left open by tests/unit/test_a.py: unclosed <socket>" in list(found.lines({}))
