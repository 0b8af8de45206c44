"""Does one act on the desktop from the frame before it to the frame after it."""

import threading
import time
from typing import Any

from vm_bridge.guest.census import Census
from vm_bridge.guest.eyes import Picture
from vm_bridge.guest.hands import Hands
from vm_bridge.guest.shell import ACTIONS, ActFailed
from vm_bridge.settle import LIMIT, Evidence, LookAgain, Threads, judge

TAKEN = 0.25
"""Longest wait within one act until the programs have taken a part of it (seconds)."""

Action = dict[str, Any]
Answer = dict[str, Any]


class Desk:
    """One desktop, driven by one thread; only `hurry` may be called from another."""

    def __init__(self, picture: Picture, census: Census) -> None:
        self._picture = picture
        self._census = census
        self._hands = Hands(self._taken)
        self._hurry = threading.Event()

    def hurry(self) -> None:
        """Cut a running settle or wait short."""
        self._hurry.set()

    def observe(self, *, settle: bool) -> Answer:
        """One look, with `settle` after the screen has come to rest."""
        self._hurry.clear()
        rest, took = self._settle({}, time.monotonic(), LIMIT) if settle else ("skipped", 0.0)
        return {"after": self._picture.look(), "rest": rest, "settle_ms": took}

    def perform(self, action: Action, *, settle: bool) -> Answer:
        """The frame acted on, what the act gave or why it failed, and the frame after it."""
        self._hurry.clear()
        before = self._picture.look()
        threads = self._census.take() if settle else {}
        acted_at = time.monotonic()
        answer = self._act(action)
        rest, took = (
            self._settle(threads, acted_at, LIMIT + time.monotonic() - acted_at) if settle else ("skipped", 0.0)
        )
        return {"before": before, "after": self._picture.look(), "rest": rest, "settle_ms": took, **answer}

    def _act(self, action: Action) -> Answer:
        try:
            return {"text": self._do(action), "error": None}
        except ActFailed as failure:
            return {"text": failure.text, "error": {"code": failure.code, "message": str(failure)}}

    def _do(self, action: Action) -> str | None:
        if action["kind"] == "wait":
            self._hurry.wait(action["seconds"])
        elif action["kind"] == "gesture":
            self._gesture(action["inputs"])
        elif action["kind"] in ACTIONS:
            return ACTIONS[action["kind"]](action)
        else:
            self._hands.do(action)
        return None

    def _gesture(self, inputs: list[dict[str, Any]]) -> None:
        """Primitive inputs at the pace they were made; `hurry` makes it as fast as can be."""
        began = time.monotonic()
        for timed in inputs:
            left = began + timed["at_ms"] / 1000 - time.monotonic()
            if left > 0:
                self._hurry.wait(left)
            self._hands.do(timed["input"])

    def _settle(self, before: Threads, acted_at: float, limit: float) -> tuple[str, float]:
        """How the settle ended, and how long it took (milliseconds)."""
        began = first_at = time.monotonic()
        first = self._census.take()
        while True:
            self._picture.sync()
            second, now = self._census.take(), time.monotonic()
            evidence = Evidence(acted_at, before, first_at, first, now, second, self._picture.changed_at)
            verdict = judge(evidence, limit=limit)
            if not isinstance(verdict, LookAgain):
                return verdict, (now - began) * 1000
            if verdict.moved:
                first_at, first = now, second
            if self._hurry.wait(max(0.0, verdict.at - time.monotonic())):
                return "hurried", (time.monotonic() - began) * 1000

    def _taken(self) -> None:
        """Wait until every program has taken the part of the act that was done so far."""
        now = time.monotonic()
        hurried, self._hurry = self._hurry, threading.Event()
        self._settle({}, now, TAKEN)
        self._hurry = hurried
