"""Does one act on Windows' desktop from the frame before it to the frame after it; see `vm_bridge.guest.serve.Desk`."""

import threading
import time
from typing import Any

from vm_bridge.guest.act import Action, Given
from vm_bridge.guest.gesture import gesture_play
from vm_bridge.guest.win32.eyes import Picture
from vm_bridge.guest.win32.hands import WindowsHands
from vm_bridge.guest.win32.inside import WindowsInside
from vm_bridge.settle import LIMIT

QUIET = 0.5
"""How long the picture stands still before it is taken to rest: there is no `/proc` that says who is about to draw
(seconds)."""
TAKEN = 0.04
"""How long it stands still within an act before its next part."""
GLIMPSE = 0.05
"""How often to look (seconds)."""

Answer = dict[str, Any]


class WindowsDesk:
    """Driven by one thread; only `hurry`, `leave` and `frame` may be called from others."""

    def __init__(self, picture: Picture, stream: Picture, inside: WindowsInside) -> None:
        self._picture, self._stream, self._inside = picture, stream, inside
        self._hurry, self._left = threading.Event(), threading.Event()
        self._hands = WindowsHands(self._taken)

    def leave(self) -> None:
        """Nobody waits any more for the frame that is waited for."""
        self._left.set()

    def hurry(self) -> None:
        """Cut a running act, settle or wait short."""
        self._hurry.set()
        self._inside.cut()

    def observe(self, *, settle: bool) -> Answer:
        """One look, with `settle` after the screen has come to rest."""
        self._hurry.clear()
        rest, took = self._settle(QUIET, LIMIT) if settle else ("skipped", 0.0)
        return {"after": self._picture.look(), "rest": rest, "settle_ms": took}

    def frame(self, serial: int, wait: float) -> Answer:
        """The picture once it is newer than `serial`; the same one when nothing changed within `wait` seconds."""
        ends = time.monotonic() + wait
        while True:
            self._stream.sync()
            left = ends - time.monotonic()
            if self._stream.serial != serial or self._stream.newer or left <= 0:
                return self._stream.look()
            if self._left.wait(min(GLIMPSE, left)):
                self._left.clear()
                return self._stream.look()

    def perform(self, action: Action, *, settle: bool) -> Answer:
        """The frame acted on, what the act gave or why it failed, and the frame after it."""
        self._hurry.clear()
        before = self._picture.look()
        answer = self._inside.attempt(self._act, action)
        rest, took = self._settle(QUIET, LIMIT) if settle else ("skipped", 0.0)
        return {"before": before, "after": self._picture.look(), "rest": rest, "settle_ms": took, **answer}

    def _act(self, action: Action) -> Given:
        kind = action["kind"]
        if kind in self._inside.acts:
            return self._inside.acts[kind](action)
        if kind == "wait":
            self._hurry.wait(action["seconds"])
        elif kind == "gesture":
            gesture_play(action["inputs"], self._hands.do, self._hurry)
        else:
            self._hands.do(action)
        return Given()

    def _taken(self, longest: float) -> None:
        """Wait until the programs have taken the part of the act that was done so far, at most so many seconds."""
        self._settle(TAKEN, longest)

    def _settle(self, quiet: float, limit: float) -> tuple[str, float]:
        """How the settle ended, and how long it took (milliseconds)."""
        began = still_since = time.monotonic()
        self._picture.sync()
        seen = {self._picture.mark}
        while True:
            hurried = self._hurry.wait(min(GLIMPSE, quiet))
            changed, now = self._picture.sync(), time.monotonic()
            # What only comes back to a picture it showed before blinks.
            if changed and self._picture.mark not in seen:
                seen.add(self._picture.mark)
                still_since = now
            if hurried or now - still_since >= quiet or now - began >= limit:
                rest = "hurried" if hurried else "rested" if now - still_since >= quiet else "timeout"
                return rest, (now - began) * 1000
