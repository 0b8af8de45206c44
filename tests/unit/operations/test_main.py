"""The command line hands on what others are asked."""

from typing import Any
from unittest import mock

import pytest

from annotation_app.operations import __main__ as operations
from annotation_app.operations.__main__ import main


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Django is asked of a demo that runs."""
    words: list[str] = []

    def execve(program: str, command: list[str], environment: dict[str, str]) -> None:
        words.extend(command[2:])

    monkeypatch.setattr("os.execve", execve)
    monkeypatch.setattr(operations, "note_of", lambda data: mock.Mock(environment={}))
    for made in ("ensure_python_packages", "ensure_trainer"):
        monkeypatch.setattr(operations, made, lambda *given: None)
    return words


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("manage turn_wheel --help", "turn_wheel --help"),
        ("manage --data elsewhere turn_wheel main -h", "turn_wheel main -h"),
        ("wheel own --turns 2 --resume", "turn_wheel own --turns 2 --resume"),
        ("wheel", "turn_wheel main --turns 1"),
    ],
)
def test_djangos_commands_are_asked(said: str, heard: str, asked: list[str]) -> None:
    main(said.split())
    assert asked == heard.split()


@pytest.mark.parametrize("said", ["manage --help", "wheel --small --resume", "wheel main --tuns 2"])
def test_what_is_ours_is_answered_here(said: str, asked: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(said.split())
    assert asked == []
    assert "usage: ./pilothouse" in "".join(capsys.readouterr())
