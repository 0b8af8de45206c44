"""The command line hands on what others are asked, and its exit status says whether that was done."""

import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from annotation_app.operations import __main__ as operations
from annotation_app.operations import documentation, program_commands
from annotation_app.operations.__main__ import main
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.testing import checks


@pytest.fixture
def django_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Django is asked of a demo that runs."""
    words: list[str] = []

    def execve(program: str, command: list[str], environment: dict[str, str]) -> None:
        words.extend(command[2:])

    monkeypatch.setattr("os.execve", execve)
    monkeypatch.setattr(operations, "require_platform", lambda data: mock.Mock(environment={}))
    for made in ("ensure_python_packages", "ensure_trainer"):
        monkeypatch.setattr(operations, made, lambda *given: None)
    return words


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("manage run_flywheel --help", "run_flywheel --help"),
        ("manage --data elsewhere run_flywheel main -h", "run_flywheel main -h"),
        ("flywheel own --cycles 2 --resume", "run_flywheel own --cycles 2 --resume"),
        ("wheel own --turns 2 --resume", "run_flywheel own --cycles 2 --resume"),
        ("flywheel", "run_flywheel main --cycles 1"),
    ],
)
def test_djangos_commands_are_asked(said: str, heard: str, django_calls: list[str]) -> None:
    main(said.split())
    assert django_calls == heard.split()


@pytest.mark.parametrize(
    "said", ["manage --help", "flywheel --toy --resume", "flywheel main --cicles 2", "flywheel --cycles 0"]
)
def test_what_is_ours_is_answered_here(said: str, django_calls: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(said.split())
    assert django_calls == []
    assert "usage: ./pilothouse" in "".join(capsys.readouterr())


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever a command wants installed is there."""
    for made in ("ensure_setup", "ensure_python_packages", "ensure_frontend_packages", "ensure_system_packages"):
        for module in (operations, documentation, program_commands):
            monkeypatch.setattr(module, made, lambda *given, **options: None, raising=False)
    monkeypatch.setattr(operations, "ensure_trainer", lambda *given: Path(sys.executable))
    monkeypatch.setattr(checks, "REPORTS_FOLDER", tmp_path)


def fails(*given: Any, **options: Any) -> None:
    raise CommandFailed("It failed.", hint="Mend it.")


@pytest.mark.parametrize(
    ("said", "failing"),
    [
        ("setup", "ensure_setup"),
        ("demo", "ensure_setup"),
        ("serve --nano", "ensure_trainer"),
        ("check", "ensure_frontend_packages"),
        ("test", "ensure_frontend_packages"),
        ("types", "write_types"),
        ("types --check", "check_types"),
        ("flywheel --toy", "run_toy_flywheel"),
        ("wheel --small", "run_toy_flywheel"),
        ("osworld", "ensure_osworld"),
        ("docs", "build_site"),
        ("bench data", "ensure_system_packages"),
        ("bench no-such-benchmark", "ensure_system_packages"),
        ("manage check", "require_platform"),
        ("backup copy", "backup"),
        ("restore copy", "restore"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_a_command_that_fails_exits_with_an_error(
    said: str, failing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for module in (operations, documentation, program_commands):
        if hasattr(module, failing):
            monkeypatch.setattr(module, failing, fails)
    words = [
        *said.split(),
        *(["--data", str(tmp_path)] if said.split()[0] in ("demo", "serve", "wheel", "flywheel") else []),
    ]
    assert main(words) == 1
    assert "✗" in capsys.readouterr().out


@pytest.mark.usefixtures("installed")
def test_a_choice_of_tests_in_which_there_is_none_fails(capfd: Any) -> None:
    assert main(["test", "-p", "no:cacheprovider", __file__, "-k", "no_such_test"]) == 1
    assert capfd.readouterr().out.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"
