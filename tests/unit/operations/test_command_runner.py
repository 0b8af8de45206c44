"""Commands of the set-up tell what they do, keep their output, and fail with its last lines."""

import io
import sys
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.install.command_runner import run_with_progress


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_output_is_added_to_the_log_and_not_shown(tmp_path: Path) -> None:
    said, log = io.StringIO(), tmp_path / "logs" / "setup.log"
    for word in ("one", "two"):
        run_with_progress("Saying", python(f"print({word!r})"), console=Console(said), log=log)
    assert log.read_text() == "one\ntwo\n"
    assert said.getvalue() == "▸ Saying …\n" * 2


def test_a_failure_tells_only_the_last_lines_of_that_command_and_what_to_do(tmp_path: Path) -> None:
    log = tmp_path / "setup.log"
    run_with_progress("Before", python("print('earlier')"), console=Console(io.StringIO()), log=log)
    failing = python("raise SystemExit('no such package')")
    with pytest.raises(CommandFailed, match=r"Failing: .* failed after") as failure:
        run_with_progress("Failing", failing, console=Console(io.StringIO()), log=log, hint="Try that.")
    assert failure.value.hint == f"no such package\n(all of it: {log})\nTry that."


def test_a_command_that_is_not_there_fails(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="Failing: `no-such-program` cannot be started"):
        run_with_progress(
            "Failing", ["no-such-program"], console=Console(io.StringIO()), log=tmp_path / "log", hint="Try that."
        )


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    endless = python("import time; time.sleep(600)")
    with pytest.raises(CommandFailed):
        run_with_progress("Waiting", endless, console=Console(io.StringIO()), log=tmp_path / "log", timeout_seconds=0.1)


def test_the_environment_is_added_to_ours(tmp_path: Path) -> None:
    code = python("import os; print(os.environ['GIVEN'], 'PATH' in os.environ)")
    run_with_progress(
        "Asking", code, console=Console(io.StringIO()), log=tmp_path / "log", environment={"GIVEN": "yes"}
    )
    assert (tmp_path / "log").read_text() == "yes True\n"
