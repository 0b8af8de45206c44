"""Does one act on Windows' desktop, from the frame before it to the frame after it.

See `vm_bridge.guest.common.server.Desktop`.
"""

import threading
import time
from typing import Any

from vm_bridge.guest.common.actions import Action, ActionOutput, play_gesture
from vm_bridge.guest.windows.input import WindowsInputController
from vm_bridge.guest.windows.machine_io import WindowsMachineIO
from vm_bridge.guest.windows.screen_capture import ScreenCapture
from vm_bridge.settle import MAX_SETTLE_SECONDS

QUIET_SECONDS = 0.5
"""How long the picture stands still before it is taken to rest: there is no `/proc` that says who is about to draw
(seconds)."""
PROCESSED_QUIET_SECONDS = 0.04
"""How long it stands still within an act before its next part."""
POLL_SECONDS = 0.05
"""How often to look (seconds)."""

Answer = dict[str, Any]


class WindowsDesktop:
    """Driven by one thread; other threads may call only `interrupt`, `cancel_frame_wait` and `frame`."""

    def __init__(self, picture: ScreenCapture, stream: ScreenCapture, machine_io: WindowsMachineIO) -> None:
        self._picture, self._stream, self._machine_io = picture, stream, machine_io
        self._interrupted, self._frame_wait_cancelled = threading.Event(), threading.Event()
        self._input = WindowsInputController(self._wait_until_processed)

    def cancel_frame_wait(self) -> None:
        """Nobody waits any more for the frame that is waited for."""
        self._frame_wait_cancelled.set()

    def interrupt(self) -> None:
        """Cut a running act, settle or wait short."""
        self._interrupted.set()
        self._machine_io.interrupt()

    def observe(self, *, settle: bool) -> Answer:
        """One look, with `settle` after the screen has come to rest."""
        self._interrupted.clear()
        rest, took = self._settle(QUIET_SECONDS, MAX_SETTLE_SECONDS) if settle else ("skipped", 0.0)
        return {"after": self._picture.capture(), "rest": rest, "settle_ms": took}

    def frame(self, serial: int, wait: float) -> Answer:
        """The picture once it is newer than `serial`; the same one when nothing changed within `wait` seconds."""
        ends = time.monotonic() + wait
        while True:
            self._stream.sync()
            left = ends - time.monotonic()
            if self._stream.serial != serial or self._stream.is_newer or left <= 0:
                return self._stream.capture()
            if self._frame_wait_cancelled.wait(min(POLL_SECONDS, left)):
                self._frame_wait_cancelled.clear()
                return self._stream.capture()

    def perform(self, action: Action, *, settle: bool, wait_for_timers: bool) -> Answer:
        """The frame acted on, what the act gave or why it failed, and the frame after it. Nothing tells of
        timers here."""
        self._interrupted.clear()
        before = self._picture.capture()
        answer = self._machine_io.run_action(self._act, action)
        rest, took = self._settle(QUIET_SECONDS, MAX_SETTLE_SECONDS) if settle else ("skipped", 0.0)
        return {"before": before, "after": self._picture.capture(), "rest": rest, "settle_ms": took, **answer}

    def _act(self, action: Action) -> ActionOutput:
        kind = action["kind"]
        if kind in self._machine_io.action_handlers:
            return self._machine_io.action_handlers[kind](action)
        if kind == "wait":
            self._interrupted.wait(action["seconds"])
        elif kind == "gesture":
            play_gesture(action["inputs"], self._input.do, self._interrupted)
        else:
            self._input.do(action)
        return ActionOutput()

    def _wait_until_processed(self, longest: float) -> None:
        """Wait until the programs have taken the part of the act that was done so far, at most so many seconds."""
        self._settle(PROCESSED_QUIET_SECONDS, longest)

    def _settle(self, quiet: float, limit: float) -> tuple[str, float]:
        """How the settle ended, and how long it took (milliseconds)."""
        began = still_since = time.monotonic()
        self._picture.sync()
        seen = {self._picture.fingerprint}
        while True:
            was_interrupted = self._interrupted.wait(min(POLL_SECONDS, quiet))
            changed, now = self._picture.sync(), time.monotonic()
            # What only comes back to a picture it showed before blinks.
            if changed and self._picture.fingerprint not in seen:
                seen.add(self._picture.fingerprint)
                still_since = now
            if was_interrupted or now - still_since >= quiet or now - began >= limit:
                rest = "hurried" if was_interrupted else "rested" if now - still_since >= quiet else "timeout"
                return rest, (now - began) * 1000
