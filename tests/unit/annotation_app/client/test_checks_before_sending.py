"""What cannot work is refused before a server is asked; no server is there to ask."""

from pathlib import Path

import pytest

from annotation_app.client.__main__ import main
from annotation_app.client.client import Pilothouse
from annotation_app.client.errors import Invalid


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTHOUSE_TOKEN", "ph_token")
    monkeypatch.setenv("PILOTHOUSE_URL", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("import none", "No such file"),
        ("import empty", "no_rows"),
        ("import file", "no_rows"),
        ("export empty", "is there already"),
        ("export file/below", "exists"),
        ("export new --reward-min nan", "finite"),
        ("query --reward-max inf", "finite"),
        ("stream file --once", "exists"),
    ],
)
def test_the_command_ends_with_a_reason(
    command: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 1
    said = capsys.readouterr().err
    assert reason in said
    assert "unreachable" not in said


def test_a_body_that_is_no_json_names_its_field() -> None:
    with Pilothouse() as client, pytest.raises(Invalid, match=r"filters\.reward_min: a number must be finite"):
        client.export_start({"reward_min": float("nan")}, {})
