"""What the recorder's window says, and what the recorder knows of its pairing, without a screen or a platform."""

import json
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from recorder.pilothouse_recorder import window
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.pairing import POOLS, find_brief, load_pairing, pair
from recorder.pilothouse_recorder.window import run_window
from recorder.pilothouse_recorder.window_texts import CHINESE, ENGLISH, find_texts, level_share, status_key

POOLS_LISTED = [
    {"id": 3, "name": "Office", "briefs": [{"key": "table", "instruction": "Book a table"}]},
    {"id": 4, "name": "Travel", "briefs": []},
]


def status(reason: str | None = None, voice: str = "off", *, recording: bool = True) -> dict[str, Any]:
    return {"reason": reason, "voice": voice, "recording": recording and reason is None}


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_everything() -> None:
    assert {key: fields(text) for key, text in ENGLISH.items()} == {key: fields(text) for key, text in CHINESE.items()}


def test_the_language_is_that_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert find_texts(None) is CHINESE
    assert find_texts("en") is ENGLISH


@pytest.mark.parametrize(
    ("shown", "key"),
    [
        (None, "idle"),
        (status(), "recording"),
        (status(voice="recorded"), "recording_voice"),
        (status(voice="no_microphone"), "no_microphone"),
        (status("password"), "password"),
        (status(recording=False), "stopping"),
    ],
)
def test_what_is_recorded_is_said_with_the_reason(shown: dict[str, Any] | None, key: str) -> None:
    assert status_key(shown) == key


def test_a_level_is_a_share_of_its_scale() -> None:
    assert [level_share(db, -96.0) for db in (-96.0, -48.0, 0.0, 3.0)] == [0.0, 0.5, 1.0, 1.0]


def test_a_missing_tk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "tk", None)
    with pytest.raises(RecorderError) as caught:
        run_window(tmp_path, "en")
    assert caught.value.code == "no_tkinter"


@pytest.mark.parametrize(
    ("pool", "task", "code"), [("", "other", "no_brief"), ("5", "", "no_pool"), ("Travel", "table", "no_brief")]
)
def test_briefs_are_found_among_those_listed_last(tmp_path: Path, pool: str, task: str, code: str) -> None:
    with pytest.raises(RecorderError, match="pools"):
        find_brief(tmp_path, pool, task)
    (tmp_path / POOLS).write_text(json.dumps(POOLS_LISTED))
    assert find_brief(tmp_path, "", "table").instruction == "Book a table"
    assert find_brief(tmp_path, "Travel", "").pool == 4
    with pytest.raises(RecorderError) as caught:
        find_brief(tmp_path, pool, task)
    assert caught.value.code == code


def test_a_code_is_not_sent_in_the_clear_to_another_computer(tmp_path: Path) -> None:
    with pytest.raises(RecorderError) as caught:
        pair(tmp_path, "http://platform.example", "CFHJ-KLMR")
    assert caught.value.code == "insecure_url"
    with pytest.raises(RecorderError) as caught:
        load_pairing(tmp_path)
    assert caught.value.code == "not_paired"
