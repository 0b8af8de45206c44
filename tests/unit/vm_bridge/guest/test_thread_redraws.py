"""Telling what an act did from what changes by itself."""

from typing import Any

import pytest

from vm_bridge.guest.linux.thread_activity import (
    GROWTH,
    LEARNING_SECONDS,
    MARGIN,
    TILE_HEIGHT,
    TILE_WIDTH,
    RedrawDelays,
    RedrawWatcher,
    WokenThreads,
)
from vm_bridge.settle import ThreadSample

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

    def capture(self) -> dict[str, Any]:
        self.dirty = False
        return {"slot": 0}

    def __getitem__(self, part: slice) -> bytes:
        return bytes(self.pixels[part])


CARET, LATE = (WIDTH - 1, HEIGHT - 1), (0, 0)


@pytest.fixture
def painted() -> Painted:
    return Painted()


@pytest.fixture
def watch(painted: Painted) -> RedrawWatcher:
    watch = RedrawWatcher(lambda: painted, painted, WIDTH, HEIGHT)
    watch.begin()
    return watch


def test_a_caret_alone_makes_nothing_late(painted: Painted, watch: RedrawWatcher) -> None:
    for tick in range(5):
        painted.paint(*CARET)
        watch.capture(tick * 0.5)
    assert watch.lateness() == 0


def test_a_redraw_beside_a_caret_is_seen(painted: Painted, watch: RedrawWatcher) -> None:
    for tick in range(5):
        painted.paint(*CARET)
        if tick == 3:
            painted.paint(*LATE)
        watch.capture(tick * 0.5)
    assert watch.lateness() == 1.5


def test_feedback_and_a_later_redraw_count_by_the_last(painted: Painted, watch: RedrawWatcher) -> None:
    for after in (0.01, 0.3):
        painted.paint(*LATE)
        watch.capture(after)
    assert watch.lateness() == 0.3


def test_damage_without_another_picture_is_no_change(painted: Painted, watch: RedrawWatcher) -> None:
    painted.dirty = True
    watch.capture(0.4)
    assert watch.lateness() == 0


def test_every_watch_begins_anew(painted: Painted, watch: RedrawWatcher) -> None:
    painted.paint(*LATE)
    watch.capture(0.3)
    watch.begin()
    assert watch.lateness() == 0


def test_processes_are_known_one_by_one() -> None:
    delays = RedrawDelays()
    assert delays.is_unknown(7)
    assert delays.lateness(7) == LEARNING_SECONDS
    delays.learn(7, 0.3)
    assert not delays.is_unknown(7)
    assert delays.lateness(7) == pytest.approx(0.3 * GROWTH + MARGIN)
    assert delays.is_unknown(8)


BEFORE = {1: ThreadSample(5, False, 10.5, 7), 2: ThreadSample(5, False, None, 8), 3: ThreadSample(5, False, 99.0, 9)}


def test_only_habits_within_the_bound_that_were_woken_early_are_reached(watch: RedrawWatcher) -> None:
    woken = {tid: ThreadSample(6, False, None, thread.process) for tid, thread in BEFORE.items()}
    woken_threads = WokenThreads(RedrawDelays(), watch, BEFORE, ends=13.0)
    woken_threads.note(BEFORE, 10.1)
    assert woken_threads.lateness == {}
    woken_threads.note(woken, 10.6)
    assert woken_threads.lateness == {}
    woken_threads.note(woken, 10.2)
    assert woken_threads.lateness == {1: LEARNING_SECONDS}
    assert woken_threads.learning == {7}


def test_what_was_learnt_is_not_watched_again(painted: Painted, watch: RedrawWatcher) -> None:
    delays, woken = RedrawDelays(), {1: ThreadSample(6, False, 10.5, 7)}
    first = WokenThreads(delays, watch, BEFORE, ends=13.0)
    first.note(woken, 10.1)
    painted.paint(*LATE)
    first.capture(0.3)
    first.learn()
    second = WokenThreads(delays, watch, BEFORE, ends=13.0)
    second.note(woken, 10.1)
    assert second.learning == set()
    assert second.lateness == {1: pytest.approx(0.3 * GROWTH + MARGIN)}
