"""Recorded input becomes actions, and sessions become trajectories."""

from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from protocol.actions.inputs import Point
from protocol.actions.types import ACTION_ADAPTER
from protocol.blobs import BlobRef
from protocol.dialects.families import get_dialect
from protocol.formats import ct_documents
from protocol.formats.recorded_acts import RecordedEvent, find_acts, straighten
from protocol.formats.recording_reader import READER
from protocol.formats.records import ExportOptions, RowError
from protocol.formats.row_readers import SourceImage, SourceRow, read_row
from protocol.trajectory.elements import redact_elements, step_elements, with_elements_of_part
from protocol.trajectory.trajectories import Trajectory

MS = 1_000_000
START = datetime(2026, 11, 29, 12, tzinfo=UTC)
EVENTS: TypeAdapter[list[RecordedEvent]] = TypeAdapter(list[RecordedEvent])
Events = list[dict[str, Any]]


def at(milliseconds: int, kind: str, **fields: Any) -> dict[str, Any]:
    place = {} if kind.startswith(("screen", "gap")) else {"x": 5, "y": 5}
    return {"kind": kind, "t_ns": milliseconds * MS, "t_error_ns": MS, **place, **fields}


def click(milliseconds: int, x: int = 5, number: int = 1, modifiers: tuple[str, ...] = ()) -> Events:
    fields = {"x": x, "button": number, "modifiers": modifiers}
    return [at(milliseconds, "pointer.down", **fields), at(milliseconds + 50, "pointer.up", **fields)]


def key(milliseconds: int, name: str, text: str = "", modifiers: tuple[str, ...] = ()) -> Events:
    fields = {"key": name, "modifiers": modifiers}
    return [at(milliseconds, "key.down", text=text, **fields), at(milliseconds + 20, "key.up", **fields)]


def drag(milliseconds: int, *points: tuple[int, int], number: int = 1) -> Events:
    moves = [
        at(milliseconds + 10 * place, "pointer.move", x=x, y=y, button=0) for place, (x, y) in enumerate(points[1:], 1)
    ]
    down = at(milliseconds, "pointer.down", x=points[0][0], y=points[0][1], button=number)
    up = at(milliseconds + 10 * len(points), "pointer.up", x=points[-1][0], y=points[-1][1], button=number)
    return [down, *moves, up]


def typed(milliseconds: int, text: str) -> Events:
    return [event for place, char in enumerate(text) for event in key(milliseconds + 100 * place, char.lower(), char)]


def notch(milliseconds: int, dx: int = 0, dy: int = 0) -> dict[str, Any]:
    return at(milliseconds, "scroll", dx=dx, dy=dy)


CTRL = ("ctrl",)
SHAPES: list[tuple[Events, list[dict[str, Any]]]] = [
    (click(0), [{"kind": "click", "x": 5, "y": 5}]),
    ([*click(0), *click(200)], [{"kind": "double_click", "x": 5, "y": 5}]),
    ([*click(0), *click(200), *click(400)], [{"kind": "triple_click", "x": 5, "y": 5}]),
    ([*click(0), *click(900)], [{"kind": "click", "x": 5, "y": 5}] * 2),
    ([*click(0), *click(200, x=50)], [{"kind": "click", "x": 5, "y": 5}, {"kind": "click", "x": 50, "y": 5}]),
    (click(0, number=3), [{"kind": "right_click", "x": 5, "y": 5}]),
    (click(0, number=2), [{"kind": "middle_click", "x": 5, "y": 5}]),
    (click(0, number=8), [{"kind": "mouse_click", "point": {"x": 5, "y": 5}, "button": "back"}]),
    (
        [*key(0, "ctrl")[:1], *click(10, modifiers=CTRL), *key(90, "ctrl")[1:]],
        [{"kind": "mouse_click", "point": {"x": 5, "y": 5}, "keys": ["ctrl"]}],
    ),
    (click(0)[1:], []),
    (
        drag(0, (5, 5), (20, 20), (60, 60)),
        [{"kind": "drag", "start": {"x": 5, "y": 5}, "end": {"x": 60, "y": 60}}],
    ),
    (
        drag(0, (5, 5), (60, 5), (60, 60)),
        [{"kind": "drag_path", "points": [{"x": 5, "y": 5}, {"x": 60, "y": 5}, {"x": 60, "y": 60}]}],
    ),
    (
        drag(0, (5, 5), (60, 5), (5, 5)),
        [{"kind": "drag_path", "points": [{"x": 5, "y": 5}, {"x": 60, "y": 5}, {"x": 5, "y": 5}]}],
    ),
    (
        [notch(0, dy=1), notch(100, dy=1), notch(200, dy=-1)],
        [
            {"kind": "scroll", "point": {"x": 5, "y": 5}, "direction": "down", "amount": 2},
            {"kind": "scroll", "point": {"x": 5, "y": 5}, "direction": "up", "amount": 1},
        ],
    ),
    (typed(0, "Hé 日"), [{"kind": "type_text", "text": "Hé 日"}]),
    ([*typed(0, "ls"), *key(300, "enter")], [{"kind": "type_text", "text": "ls\n"}]),
    (key(0, "enter"), [{"kind": "press_keys", "keys": ["enter"]}]),
    ([*typed(0, "a"), *typed(5_000, "b")], [{"kind": "type_text", "text": "a"}, {"kind": "type_text", "text": "b"}]),
    (
        [*typed(0, "a"), *key(100, "backspace"), *typed(200, "b")],
        [
            {"kind": "type_text", "text": "a"},
            {"kind": "press_keys", "keys": ["backspace"]},
            {"kind": "type_text", "text": "b"},
        ],
    ),
    (
        [*key(0, "ctrl")[:1], *key(10, "c", "c", CTRL), *key(90, "ctrl")[1:]],
        [{"kind": "press_keys", "keys": ["ctrl", "c"]}],
    ),
    (key(0, "tab", "", ("shift",)), [{"kind": "press_keys", "keys": ["shift", "tab"]}]),
    (key(0, "super"), [{"kind": "press_keys", "keys": ["super"]}]),
    (key(0, "shift"), []),
    (key(0, ""), []),
]


@pytest.mark.parametrize(("events", "actions"), SHAPES)
def test_input_becomes_actions_of_the_vocabulary(events: Events, actions: list[dict[str, Any]]) -> None:
    found = [act.action for act in find_acts(EVENTS.validate_python(events))]
    assert found == [ACTION_ADAPTER.validate_python(one) for one in actions]


def test_a_long_drag_keeps_at_most_64_points() -> None:
    zigzag = [Point(x=10 * place, y=50 * (place % 2)) for place in range(300)]
    path = straighten(zigzag)
    assert 2 < len(path) <= 64
    assert (path[0], path[-1]) == (zigzag[0], zigzag[-1])


def frame(milliseconds: int, name: str, damaged: int = 0) -> dict[str, Any]:
    return at(milliseconds, "screen.frame", sha256=name * 64, damaged_ns=damaged * MS, app="form")


def session(*events: dict[str, Any] | Events, **fields: Any) -> dict[str, Any]:
    flat = [one for each in events for one in (each if isinstance(each, list) else [each])]
    return {
        "format": "pilothouse-session-1",
        "id": "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11",
        "annotator": "recorder-1",
        "instruction": "Fill in the form",
        "track": "novice",
        "state": "finished",
        "outcome": "success",
        "screen": [100, 80],
        "clock": {"monotonic_ns": 0, "realtime_ns": int(START.timestamp()) * 10**9},
        "events": flat,
        **fields,
    }


def read(row: dict[str, Any]) -> Trajectory:
    def find(name: str) -> SourceImage:
        return SourceImage(BlobRef(sha256=name, media_type="image/jpeg", size=1), 100, 80)

    assert READER.recognises(row)
    return read_row(READER, SourceRow(row=row, find=find, moment=START, key="key"))


def names(trajectory: Trajectory) -> list[tuple[str, str]]:
    looks = [(step.before.screenshot, step.after.screenshot if step.after else None) for step in trajectory.steps]
    return [(before.sha256[0], after.sha256[0]) for before, after in looks if before and after]


def test_an_act_stands_on_the_last_frame_before_it() -> None:
    row = session(frame(0, "a"), click(100), frame(101, "b"), click(1_000), frame(1_200, "c", 1_100), frame(1_300, "d"))
    trajectory = read(row)
    assert names(trajectory) == [("a", "b"), ("b", "d")]
    first, second = trajectory.steps
    assert first.started_at == START + timedelta(milliseconds=100)
    assert second.before.application == "form"
    assert (trajectory.origin, trajectory.annotator, trajectory.outcome) == ("recording", "recorder-1", "success")
    assert (trajectory.terminated, trajectory.truncated) == (True, False)


def test_a_frame_within_the_error_of_an_acts_time_is_not_before_it() -> None:
    assert names(read(session(frame(0, "a"), frame(100, "b"), click(100)))) == [("a", "b")]


def test_a_screen_that_had_changed_when_the_act_began_was_not_settled() -> None:
    row = session(frame(0, "a"), click(100), frame(150, "b", 90), click(1_000), frame(1_200, "c", 1_100))
    assert [step.before.settled for step in read(row).steps] == [False, True]


def test_acts_after_a_gap_need_a_frame_of_their_own() -> None:
    gap = [at(500, "gap.begin", reason="excluded"), at(600, "gap.end")]
    row = session(frame(0, "a"), click(100), gap, click(700), frame(800, "b"), click(1_500))
    trajectory = read(row)
    assert names(trajectory) == [("a", "a"), ("b", "b")]
    assert trajectory.task.parameters["recording"] == {
        "track": "novice", "events": 10, "gaps": 1, "acts_without_screenshot": 1, "time_error_ms": 1.0,
    }  # fmt: skip


def test_a_button_that_is_down_at_a_gap_is_no_drag() -> None:
    gap = [at(500, "gap.begin", reason="excluded"), at(600, "gap.end")]
    row = session(
        frame(0, "a"), click(100), click(400)[:1], gap, frame(650, "b"), at(700, "pointer.up", x=90, button=1)
    )
    assert [step.action.kind for step in read(row).steps] == ["click"]


def test_a_session_that_broke_off_is_cut_off() -> None:
    trajectory = read(session(frame(0, "a"), click(100), state="crashed", outcome=None))
    assert (trajectory.terminated, trajectory.truncated, trajectory.outcome) == (False, True, None)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (session(frame(0, "a")), "no_steps"),
        (session(click(0)), "no_steps"),
        (session(frame(0, "a"), click(100, x=500)), "bad_row"),
        (session(frame(0, "a"), click(100, x=-5)), "bad_row"),
        (session(frame(0, "a"), click(100), state="recording"), "bad_row"),
        (session(frame(0, "a"), at(5, "telepathy")), "bad_row"),
        (session(frame(0, "a"), click(100), instruction=""), "bad_row"),
        (session(frame(0, "a"), click(100), events=7), "bad_row"),
        (session(frame(0, "a"), click(100), clock={}), "bad_row"),
    ],
)
def test_what_is_wrong_with_a_session_has_a_code(row: dict[str, Any], code: str) -> None:
    with pytest.raises(RowError) as caught:
        read(row)
    assert caught.value.code == code


def spoken(milliseconds: int, text: str) -> list[dict[str, Any]]:
    return [
        {"t_ns": (milliseconds + 200 * place) * MS, "end_ns": (milliseconds + 200 * place + 150) * MS, "text": word}
        for place, word in enumerate(text.split())
    ]


def test_words_become_the_thoughts_of_steps() -> None:
    words = [
        *spoken(100, "I need the menu."),
        *spoken(3_000, "That worked."),
        *spoken(5_000, "Um"),
        *spoken(9_500, "Done."),
    ]
    speech = {"engine": "recorded", "language": "en", "words": words}
    row = session(frame(0, "a"), click(2_000), frame(2_500, "b"), click(8_000), frame(8_300, "c"), speech=speech)
    trajectory = read(row)
    assert [step.thought for step in trajectory.steps] == ["I need the menu.", "That worked."]
    recorded: Any = trajectory.task.parameters["recording"]
    kept = recorded["speech"]
    assert [word[2] for word in kept["words"]] == [word["text"] for word in words]
    assert [(one["role"], one["relation"], one["steps"]) for one in kept["thoughts"]] == [
        ("plan", "before", [0]),
        ("evaluation", "after", [0]),
        ("filler", None, []),
        ("evaluation", "after", [1]),
    ]
    assert kept["thoughts"][0]["begin"] == 0.1


def test_what_the_person_agreed_to_is_kept() -> None:
    consent = {"version": "1", "accepted_at": "2026-11-29T12:00:00+00:00"}
    recorded: Any = read(session(frame(0, "a"), click(100), consent=consent)).task.parameters["recording"]
    assert recorded["consent"] == {"version": "1", "accepted_at": "2026-11-29T12:00:00Z"}


def test_lost_sound_does_not_part_a_session() -> None:
    lost = {"kind": "audio.gap", "t_ns": 50 * MS, "t_error_ns": 0, "duration_ns": 9, "reason": "lost"}
    assert len(read(session(frame(0, "a"), lost, click(100))).steps) == 1


def test_marks_help_and_what_was_known_come_with_the_recording() -> None:
    hotkey = ("ctrl", "shift", "super")
    events = [
        frame(0, "a"),
        *click(100),
        at(200, "mark", note="here"),
        *key(300, "m", modifiers=hotkey),
        at(400, "help", note="a search"),
        *key(500, "h", modifiers=hotkey),
        *key(600, "k", modifiers=hotkey),
    ]
    known = {"rating": 2, "text": "the web site"}
    found = read(session(events, knowledge=known, brief={"pool": 3, "task": "table"}))
    recording: Any = found.task.parameters["recording"]
    assert (recording["knowledge"], recording["brief"]) == (known, {"pool": 3, "task": "table"})
    assert [one["note"] for one in recording["marks"]] == ["here"]
    assert [(one["seconds"], one["note"]) for one in recording["help"]] == [(0.4, "a search")]
    assert [step.action.kind for step in found.steps] == ["click", "press_keys"], "the recorder's hotkeys are no acts"


def test_loudness_has_the_sessions_time_and_a_lower_rate_where_it_is_long() -> None:
    def levels(values: bytes) -> Any:
        run = {"t_ns": 500 * MS, "values": b64encode(values).decode()}
        row = session(frame(0, "a"), click(100), levels={"rate": 20, "runs": [run]})
        recorded: Any = read(row).task.parameters["recording"]
        (found,) = recorded["levels"]
        return found["begin"], found["rate"], b64decode(found["values"])

    assert levels(bytes((1, 9, 3))) == (0.5, 20, bytes((1, 9, 3)))
    assert levels(bytes((1, 9)) * 20_000) == (0.5, 10, bytes((9,)) * 20_000)


LINK = {"role": "link", "name": "Inbox", "bounds": [0, 0, 40, 10], "late_ns": 7 * MS}


def test_the_clicked_element_comes_with_its_step_and_stands_in_documents() -> None:
    pressed = click(900)
    pressed[0]["element"] = LINK
    trajectory = read(session(frame(0, "a"), click(100), frame(200, "b"), pressed, click(1_100), frame(1_300, "c")))
    assert [step.action.kind for step in trajectory.steps] == ["click", "double_click"]
    recorded: Any = trajectory.task.parameters["recording"]
    element = {"step": 1, "role": "link", "name": "Inbox", "bounds": [0, 0, 40, 10]}
    assert recorded["elements"] == [element]
    (document,) = ct_documents.records(trajectory, ExportOptions(get_dialect("ui_tars_1_5")))
    text = document.files[f"{trajectory.id}/document.md"]
    assert isinstance(text, bytes)
    assert text.decode().count("link “Inbox”") == 1
    part = with_elements_of_part(trajectory, 1, 1)
    assert step_elements(part)[0].name == "Inbox"
    assert not step_elements(with_elements_of_part(trajectory, 0, 0))
    assert step_elements(redact_elements(trajectory, ["inbox"]))[1].name == ""


@pytest.mark.parametrize("wrong", [{"role": "x" * 500}, {"bounds": [1]}, {"name": "a\0"}])
def test_an_element_that_is_none_is_told(wrong: dict[str, Any]) -> None:
    pressed = click(100)
    pressed[0]["element"] = LINK | wrong
    with pytest.raises(RowError) as caught:
        read(session(frame(0, "a"), pressed))
    assert caught.value.code == "bad_row"
