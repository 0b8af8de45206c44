"""What the terminal shows: colours only where they are wanted."""

import io
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_gets_neither_colours_nor_replaced_lines() -> None:
    said = io.StringIO()
    console = Console(said)
    console.progress("half")
    console.end_progress()
    console.step("done")
    assert said.getvalue() == "▸ done\n"


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Console(Terminal()).paint("x", 31) == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Console(Terminal()).paint("x", 31) == "x"


def test_a_problem_is_told_with_what_to_do() -> None:
    said = io.StringIO()
    Console(said).problem(OperationsError("Broken.", hint="Mend it.\nThen start again."))
    assert said.getvalue() == "✗ Broken.\n  Mend it.\n  Then start again.\n"


def test_a_journal_prefixes_the_terminal_and_dates_the_file(tmp_path: Path) -> None:
    said = io.StringIO()
    program_log = Console(said).program_log("web", tmp_path / "logs" / "web.log")
    program_log.info("hello")
    for handler in program_log.handlers:
        handler.close()
    assert said.getvalue() == "web     │ hello\n"
    assert (tmp_path / "logs" / "web.log").read_text().endswith(" hello\n")
