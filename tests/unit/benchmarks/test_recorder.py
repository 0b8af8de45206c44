"""Which recorded events are those of which inputs."""

import sqlite3
from pathlib import Path

from benchmarks.parts.recorder.desktop import SentInput
from benchmarks.parts.recorder.peer.measure import stored_events
from benchmarks.parts.recorder.scripted_input import match_inputs, time_errors_ms

MS = 1_000_000
SENT = [SentInput(kind, at * MS, (at + 1) * MS) for kind, at in (("key.down", 100), ("key.up", 110), ("key.down", 400))]


def test_a_lost_event_pairs_with_no_input() -> None:
    stored = [{"kind": "key.down", "t_ns": 101 * MS}, {"kind": "key.down", "t_ns": 402 * MS}]
    matched = match_inputs(SENT, stored)
    assert [one.before_ns for one, _ in matched] == [100 * MS, 400 * MS]
    assert time_errors_ms(matched) == [1.0, 2.0]


def test_an_event_far_from_its_input_is_another_one() -> None:
    stored = [{"kind": "key.down", "t_ns": 150 * MS}]
    assert match_inputs(SENT, stored) == []
    assert len(match_inputs(SENT, stored, near_ns=100 * MS)) == 1


def test_an_input_that_the_server_took_late_has_no_known_time() -> None:
    late = SentInput("key.down", 0, 50 * MS)
    assert time_errors_ms([(late, {"kind": "key.down", "t_ns": 20 * MS})]) == []


def test_events_of_the_peer_have_our_names_and_clock(tmp_path: Path) -> None:
    database = tmp_path / "recording.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE action_event (id INTEGER, name TEXT, timestamp REAL, mouse_pressed BOOLEAN)")
        rows = [
            (1, "move", 1000.0, None),
            (2, "click", 1000.25, 1),
            (3, "click", 1000.5, 0),
            (4, "press", 1001.0, None),
        ]
        connection.executemany("INSERT INTO action_event VALUES (?, ?, ?, ?)", rows)
    assert stored_events(database, offset_ns=1000 * 1000 * MS) == [
        {"kind": "pointer.move", "t_ns": 0},
        {"kind": "pointer.down", "t_ns": 250 * MS},
        {"kind": "pointer.up", "t_ns": 500 * MS},
        {"kind": "key.down", "t_ns": 1000 * MS},
    ]
