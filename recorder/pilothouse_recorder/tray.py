"""An icon in the tray: start, pause, mark, stop, and the current state."""

import queue
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .adapters import open_tray_icon
from .pairing import list_briefs
from .recorder_client import RecorderClient
from .tray_icon import IconState, Look, MenuEntry, OpenIcon
from .window_texts import find_texts, status_key

ROUND_SECONDS = 0.1
START = "start:"
"""Prefix of the entries that start a task; the task's key follows."""
MAX_LABEL = 60
"""Maximum length of a task in the menu."""


def run_tray(home: Path, language: str | None) -> dict[str, Any]:
    """Show the icon until *Quit* is chosen. Raises RecorderError with `no_tray` if the desktop has no tray."""
    client = RecorderClient(home)
    try:
        Tray(home, client, find_texts(language), open_tray_icon).run()
    finally:
        client.close()
    return {"closed": True}


class Tray:
    """What the icon shows, and the actions of its entries."""

    def __init__(self, home: Path, client: RecorderClient, texts: Mapping[str, str], open_icon: OpenIcon) -> None:
        self._home, self._client, self._texts = home, client, texts
        self._status: Mapping[str, Any] | None = None
        self._message = ""
        self._ended = False
        self._icon = open_icon(texts["title"], self._look(), self.choose)

    def run(self) -> None:
        """Run until *Quit*. Raises RecorderError with `no_tray` once the tray is gone."""
        try:
            while not self._ended:
                self.round()
        finally:
            self._icon.close()

    def round(self) -> None:
        """Process the recorder's answers, then answer the tray for a moment."""
        while True:
            try:
                what, result = self._client.answers.get_nowait()
            except queue.Empty:
                break
            if what == "status":
                self._status = result
            elif what in ("failed", "ended"):
                self._status = None
                self._message = self._texts["saved"] if what == "ended" else self._texts["failed"].format(error=result)
        self._icon.show(self._look())
        self._icon.process(ROUND_SECONDS)

    def choose(self, name: str) -> None:
        """Run the action of an entry."""
        self._message = ""
        if name == "quit":
            self._ended = True
        elif name == "window":
            command = [sys.executable, "-m", __package__ or "pilothouse_recorder", "window"]
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        elif name.startswith(START):
            key = name.removeprefix(START)
            self._client.start([f"--task={key}"])
        elif name in ("success", "failure"):
            self._client.send("stop", outcome=name)
        else:
            self._client.send(name)

    def _look(self) -> Look:
        key = status_key(self._status)
        line = self._message or self._texts[key]
        paused = self._status is not None and self._status["reason"] == "paused"
        is_recorded = self._status is not None and self._status["recording"]
        state: IconState = "recording" if is_recorded else "paused" if self._status is not None else "idle"
        head = (MenuEntry(line), MenuEntry(""))
        return Look(state, line, (*head, *(self._idle() if self._status is None else self._running(paused))))

    def _running(self, paused: bool) -> tuple[MenuEntry, ...]:
        names = ("resume" if paused else "pause", "mark", "help", "forget", "success", "failure")
        return tuple(MenuEntry(self._texts[name], name) for name in names)

    def _idle(self) -> tuple[MenuEntry, ...]:
        tasks = tuple(
            MenuEntry(label[:MAX_LABEL], START + key) for label, (key, _) in sorted(list_briefs(self._home).items())
        )
        start = (MenuEntry(self._texts["start"], entries=tasks),) if tasks else ()
        return (
            *start,
            MenuEntry(self._texts["open_window"], "window"),
            MenuEntry(""),
            MenuEntry(self._texts["quit"], "quit"),
        )
