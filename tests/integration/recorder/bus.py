"""Programs on a D-Bus that answer as real ones do."""

import threading
from collections.abc import Callable
from typing import Any, Self

from recorder.pilothouse_recorder.dbus.connection import BUS, BUS_PATH, Connection
from recorder.pilothouse_recorder.dbus.wire import Message

Answer = tuple[str, tuple[Any, ...]]
Reply = Callable[[Message], Answer | None]
ROUND_SECONDS = 0.01


class Program:
    """A program on the bus, with a thread that answers.

    Args:
        address: The bus.
        reply: Answers a call; None: there is no such method.
        names: The names that it takes.
    """

    def __init__(self, address: str, reply: Reply, *names: str) -> None:
        self.bus = Connection(address)
        self.bus.handler = reply
        for name in names:
            self.bus.call(BUS, BUS_PATH, BUS, "RequestName", "su", name, 0)
        self._signals: list[tuple[Any, ...]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def emit(self, *signal: Any) -> None:
        """Send a signal: path, interface, member, signature, values."""
        self._signals.append(signal)

    def _run(self) -> None:
        while not self._ended.is_set():
            while self._signals:
                self.bus.emit(*self._signals.pop(0))
            self.bus.process(ROUND_SECONDS)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.bus.close()
