"""Does one act on the desktop from the frame before it to the frame after it."""

import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vm_bridge.guest import shell
from vm_bridge.guest.act import Action, Given
from vm_bridge.guest.census import Census
from vm_bridge.guest.eyes import Picture
from vm_bridge.guest.gesture import gesture_play
from vm_bridge.guest.habits import Habits, Reach, Watch
from vm_bridge.guest.inside import Inside
from vm_bridge.guest.session import Icons
from vm_bridge.settle import LIMIT, STILL, Evidence, LookAgain, Threads, judge

if TYPE_CHECKING:
    from vm_bridge.guest.xhands import XHands

GLIMPSES = 3
"""How often to look, at most, for a moment before an act in which nothing runs."""
WATCHING = 0.015
"""How often to look at the picture while a program's habit is told from what an act did (seconds)."""

Answer = dict[str, Any]


class ScreenDesk:
    """One desktop, driven by one thread; only `hurry` and `frame` may be called from others."""

    def __init__(
        self, picture: Picture, census: Census, watch: Watch, stream: Callable[[], Picture], inside: Inside
    ) -> None:
        """`stream` makes the picture that viewers see, once there are some."""
        self._picture = picture
        self._census = census
        self._watch = watch
        self.icons: Icons | None = None
        """What the first settled look waits for."""
        self._begin_stream = stream
        self._inside = inside
        self._habits = Habits()
        self._hurry = threading.Event()
        self._left = os.eventfd(0)
        self._hands: XHands | None = None
        self._arming = threading.Thread(target=self._arm)
        self._arming.start()

    def leave(self) -> None:
        """Nobody waits any more for the frame that is waited for."""
        os.eventfd_write(self._left, 1)

    @cached_property
    def _stream(self) -> Picture:
        return self._begin_stream()

    def hurry(self) -> None:
        """Cut a running act, settle or wait short."""
        self._hurry.set()
        self._inside.cut()

    def observe(self, *, settle: bool) -> Answer:
        """One look, with `settle` after the screen has come to rest, with its icons on it."""
        self._hurry.clear()
        if settle and self.icons is not None:
            self.icons.wait()
        rest, took = self._settle(self._standing(), time.monotonic(), LIMIT, act=False) if settle else ("skipped", 0.0)
        return {"after": self._picture.look(), "rest": rest, "settle_ms": took}

    def frame(self, serial: int, wait: float) -> Answer:
        """The picture once it is newer than `serial`; the same one when nothing changed within `wait` seconds."""
        if self._stream.serial == serial and not self._stream.sync():
            ready, _, _ = select.select([self._stream.fileno(), self._left], [], [], wait)
            if self._left in ready:
                os.eventfd_read(self._left)
        return self._stream.look()

    def perform(self, action: Action, *, settle: bool) -> Answer:
        """The frame acted on, what the act gave or why it failed, and the frame after it."""
        self._hurry.clear()
        self._arming.join()
        threads = self._before() if settle else {}
        before = self._picture.look()
        acted_at = time.monotonic()
        answer = self._inside.attempt(self._act, action)
        rest, took = (
            self._settle(threads, acted_at, LIMIT + time.monotonic() - acted_at) if settle else ("skipped", 0.0)
        )
        return {"before": before, "after": self._picture.look(), "rest": rest, "settle_ms": took, **answer}

    def _act(self, action: Action) -> Given:
        kind = action["kind"]
        if kind in shell.ACTIONS:
            return shell.ACTIONS[kind](action)
        if kind in self._inside.acts:
            return self._inside.acts[kind](action)
        if kind == "wait":
            self._hurry.wait(action["seconds"])
        elif kind == "gesture":
            gesture_play(action["inputs"], self._do, self._hurry)
        else:
            self._do(action)
        return Given()

    def _arm(self) -> None:
        # PyAutoGUI opens its display as soon as it is imported.
        from vm_bridge.guest.xhands import XHands

        self._hands = XHands(self._taken)

    def _do(self, action: Action) -> None:
        assert self._hands is not None  # the guest ends where they could not be made
        self._hands.do(action)

    def _settle(self, before: Threads, acted_at: float, limit: float, *, act: bool = True) -> tuple[str, float]:
        """How the settle ended, and how long it took (milliseconds); without an act nothing can be late."""
        began = first_at = time.monotonic()
        strained = self._census.strain()
        self._picture.sync()
        first = self._census.take()
        reach = Reach(self._habits, self._watch, before if act else {}, acted_at + limit)
        reach.note(first, acted_at)
        while True:
            self._picture.sync()
            second, now = self._census.take(), time.monotonic()
            reach.note(second, now)
            changed_at = self._picture.changed_at
            strain = self._census.strain() - strained
            evidence = Evidence(acted_at, before, first_at, first, now, second, changed_at, strain, reach.lateness)
            verdict = judge(evidence, limit=limit)
            reach.look(now - acted_at)
            if not isinstance(verdict, LookAgain):
                reach.learn()
                return verdict, (now - began) * 1000
            if verdict.moved:
                first_at, first = now, second
            look_at = min(verdict.at, now + WATCHING) if reach.learning else verdict.at
            if self._hurry.wait(max(0.0, look_at - time.monotonic())):
                return "hurried", (time.monotonic() - began) * 1000

    def _before(self) -> Threads:
        """The threads just before an act; one that runs now and then is not to be taken for one that always does."""
        for _ in range(GLIMPSES):
            threads = self._census.take()
            if not any(thread.running for thread in threads.values()):
                break
            self._hurry.wait(STILL)
        return threads

    def _standing(self) -> Threads:
        """The threads now, where what runs is not taken for a habit: no act divides before from after."""
        return {tid: replace(thread, running=False) for tid, thread in self._census.take().items()}

    def _taken(self, longest: float) -> None:
        """Wait until every program has taken the part of the act that was done so far, at most so many seconds."""
        hurried, self._hurry = self._hurry, threading.Event()
        self._settle(self._standing(), time.monotonic(), longest, act=False)
        self._hurry = hurried
