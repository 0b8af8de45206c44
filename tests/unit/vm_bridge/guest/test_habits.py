"""Telling what an act did from what changes by itself."""

from typing import Any

import pytest

from vm_bridge.guest.habits import GROWTH, MARGIN, TILE_HEIGHT, TILE_WIDTH, UNKNOWN, Habits, Reach, Watch
from vm_bridge.settle import Thread

WIDTH, HEIGHT = 2 * TILE_WIDTH, 2 * TILE_HEIGHT


class Painted:
    """A picture that tests paint on, and the memory it is captured into."""

    def __init__(self) -> None:
        self.pixels = bytearray(WIDTH * HEIGHT * 4)
        self.dirty = False

    def paint(self, x: int, y: int) -> None:
        self.pixels[(y * WIDTH + x) * 4] ^= 0xFF
        self.dirty = True

    def sync(self) -> bool:
        return self.dirty

    def look(self) -> dict[str, Any]:
        self.dirty = False
        return {"slot": 0}

    def __getitem__(self, part: slice) -> bytes:
        return bytes(self.pixels[part])


CARET, LATE = (WIDTH - 1, HEIGHT - 1), (0, 0)


@pytest.fixture
def painted() -> Painted:
    return Painted()


@pytest.fixture
def watch(painted: Painted) -> Watch:
    watch = Watch(lambda: painted, painted, WIDTH, HEIGHT)
    watch.begin()
    return watch


def test_a_caret_alone_makes_nothing_late(painted: Painted, watch: Watch) -> None:
    for tick in range(5):
        painted.paint(*CARET)
        watch.look(tick * 0.5)
    assert watch.lateness() == 0


def test_a_redraw_beside_a_caret_is_seen(painted: Painted, watch: Watch) -> None:
    for tick in range(5):
        painted.paint(*CARET)
        if tick == 3:
            painted.paint(*LATE)
        watch.look(tick * 0.5)
    assert watch.lateness() == 1.5


def test_feedback_and_a_later_redraw_count_by_the_last(painted: Painted, watch: Watch) -> None:
    for after in (0.01, 0.3):
        painted.paint(*LATE)
        watch.look(after)
    assert watch.lateness() == 0.3


def test_damage_without_another_picture_is_no_change(painted: Painted, watch: Watch) -> None:
    painted.dirty = True
    watch.look(0.4)
    assert watch.lateness() == 0


def test_every_watch_begins_anew(painted: Painted, watch: Watch) -> None:
    painted.paint(*LATE)
    watch.look(0.3)
    watch.begin()
    assert watch.lateness() == 0


def test_processes_are_known_one_by_one() -> None:
    habits = Habits()
    assert habits.unknown(7)
    assert habits.lateness(7) == UNKNOWN
    habits.learn(7, 0.3)
    assert not habits.unknown(7)
    assert habits.lateness(7) == pytest.approx(0.3 * GROWTH + MARGIN)
    assert habits.unknown(8)


BEFORE = {1: Thread(5, False, 10.5, 7), 2: Thread(5, False, None, 8), 3: Thread(5, False, 99.0, 9)}


def test_only_habits_within_the_bound_that_were_woken_early_are_reached(watch: Watch) -> None:
    woken = {tid: Thread(6, False, None, thread.process) for tid, thread in BEFORE.items()}
    reach = Reach(Habits(), watch, BEFORE, ends=13.0)
    reach.note(BEFORE, 10.1)
    assert reach.lateness == {}
    reach.note(woken, 10.6)
    assert reach.lateness == {}
    reach.note(woken, 10.2)
    assert reach.lateness == {1: UNKNOWN}
    assert reach.learning == {7}


def test_what_was_learnt_is_not_watched_again(painted: Painted, watch: Watch) -> None:
    habits, woken = Habits(), {1: Thread(6, False, 10.5, 7)}
    first = Reach(habits, watch, BEFORE, ends=13.0)
    first.note(woken, 10.1)
    painted.paint(*LATE)
    first.look(0.3)
    first.learn()
    second = Reach(habits, watch, BEFORE, ends=13.0)
    second.note(woken, 10.1)
    assert second.learning == set()
    assert second.lateness == {1: pytest.approx(0.3 * GROWTH + MARGIN)}
