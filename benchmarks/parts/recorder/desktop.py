"""A scripted person at a real X server: windows, clicks and keys whose times are known, and a recorder beside."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from Xlib import X, Xutil
from Xlib.display import Display
from Xlib.error import XError
from Xlib.ext import xtest

from annotation_app.operations.runtime.stack import ROOT
from recorder.pilothouse_recorder.control import send_command
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.settings import set_consent

MODULE = "recorder.pilothouse_recorder"
WAIT_SECONDS = 30.0
POLL_SECONDS = 0.01
RIGHTS = 0o700


@dataclass(frozen=True)
class SentInput:
    """An input of the script: the event's kind, and monotonic times before it was sent and after the server took it."""

    kind: str
    before_ns: int
    after_ns: int


class Desktop:
    """Hands and windows of the scripted person."""

    def __init__(self, name: str) -> None:
        self.display = Display(name)
        self.root = self.display.screen().root
        self.sent: list[SentInput] = []

    def close(self) -> None:
        """End the connection."""
        self.display.close()

    def open_window(
        self, title: str, application: str, color: int, *, place: tuple[int, int, int, int] = (100, 100, 400, 300)
    ) -> Any:
        """A window of one color at x, y, with width and height; it is on the screen when this returns."""
        events = X.ExposureMask | X.FocusChangeMask
        window = self.root.create_window(*place, 0, X.CopyFromParent, background_pixel=color, event_mask=events)
        window.set_wm_class(application, application)
        window.set_wm_name(title)
        window.set_wm_normal_hints(flags=Xutil.PPosition)
        window.map()
        self.display.sync()
        return window

    def wait_for_window(self, application: str, *, name: str | None = None) -> Any:
        """The visible window of this class (and of this name), once there is one. Raises TimeoutError."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            with suppress(XError):  # windows come and go
                for window in self.root.query_tree().children:
                    classes = window.get_wm_class() or ()
                    if application not in classes or name not in (None, window.get_wm_name()):
                        continue
                    if window.get_attributes().map_state == X.IsViewable:
                        return window
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"no window of {application} appeared")

    def paint(self, window: Any, color: int) -> None:
        """Give a window another color."""
        window.change_attributes(background_pixel=color)
        window.clear_area()
        self.display.sync()

    def focus(self, window: Any) -> None:
        """Give a window the keyboard."""
        window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
        self.display.sync()

    def move(self, x: int, y: int) -> None:
        """Move the pointer."""
        self._send("pointer.move", X.MotionNotify, x=x, y=y)

    def click(self, x: int, y: int, button: int = 1) -> None:
        """Move and click."""
        self.move(x, y)
        self._send("pointer.down", X.ButtonPress, button)
        self._send("pointer.up", X.ButtonRelease, button)

    def hold(self, x: int, y: int) -> None:
        """Move and press the left button."""
        self.move(x, y)
        self._send("pointer.down", X.ButtonPress, 1)

    def release(self) -> None:
        """Release the left button."""
        self._send("pointer.up", X.ButtonRelease, 1)

    def scroll(self, button: int) -> None:
        """Turn the wheel by one notch: 4 to 7 are up, down, left and right."""
        self._send("scroll", X.ButtonPress, button)
        xtest.fake_input(self.display, X.ButtonRelease, button)

    def press(self, *keysyms: int) -> None:
        """Press keys together."""
        codes = [self.display.keysym_to_keycode(keysym) for keysym in keysyms]
        for code in codes:
            self._send("key.down", X.KeyPress, code)
        for code in reversed(codes):
            self._send("key.up", X.KeyRelease, code)

    def type(self, text: str) -> None:
        """Type lower-case letters and digits."""
        for char in text:
            self.press(ord(char))

    def _send(self, kind: str, event: int, detail: int = 0, **place: int) -> None:
        before = time.monotonic_ns()
        xtest.fake_input(self.display, event, detail, **place)
        self.display.sync()
        self.sent.append(SentInput(kind, before, time.monotonic_ns()))


class RecorderProcess:
    """`pilothouse-recorder record` as a process of its own."""

    def __init__(self, home: Path, environment: dict[str, str], *options: str) -> None:
        self.home = home
        home.mkdir(exist_ok=True, mode=RIGHTS)
        set_consent(home, accepted=True)
        self._environment = {**environment, "PILOTHOUSE_RECORDER_HOME": str(home)}
        command = [sys.executable, "-m", MODULE, "record", "Fill in the form", *options]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.session: str = json.loads(self.process.stdout.readline())["session"]

    @property
    def folder(self) -> Path:
        """Where the session lies."""
        return self.home / "sessions" / self.session

    def command(self, command: str, **more: Any) -> dict[str, Any]:
        """Have it do something; its answer."""
        return send_command(self.home, {"command": command, **more})

    def wait(self, **expected: Any) -> dict[str, Any]:
        """Wait until its status has these values. Raises TimeoutError."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            try:
                status = self.command("status")
            except RecorderError:
                status = {}
            if all(status.get(key) == value for key, value in expected.items()):
                return status
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"the recorder's status never had {expected}")

    def wait_stored(self) -> None:
        """Wait until what happened before this call is stored, or was dropped."""
        ends = time.monotonic_ns() + 1_200_000_000  # how long events are held, and a round
        while time.monotonic_ns() < ends:
            time.sleep(POLL_SECONDS)
        self.command("status")

    def stop(self, outcome: str | None = None) -> None:
        """End the session; it is whole when this returns."""
        self.command("stop", outcome=outcome)
        self.process.communicate(timeout=WAIT_SECONDS)

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def recorder(home: Path, environment: dict[str, str], *options: str) -> Iterator[RecorderProcess]:
    """A recorder that records; it is ended where the caller left it running."""
    running = RecorderProcess(home, environment, *options)
    with running.process:
        try:
            running.wait(recording=True)
            yield running
        finally:
            if running.process.poll() is None:
                running.process.kill()


def environment_of(display: str, folder: Path) -> dict[str, str]:
    """The environment of programs on a display."""
    return {**os.environ, "DISPLAY": display, "XAUTHORITY": str(folder / "authority")}
