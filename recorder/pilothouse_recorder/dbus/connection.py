"""A connection to a bus. One thread uses it."""

import os
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from .wire import CALL, ERROR, HEADER_BYTES, NO_REPLY, REPLY, SIGNAL, Message, WireError, decode, encode, message_size

BUS, BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"
SESSION_BUS = "DBUS_SESSION_BUS_ADDRESS"
START_SECONDS = 5.0
READ_BYTES = 65_536
MAX_WAITING = 10_000
UNKNOWN_METHOD = "org.freedesktop.DBus.Error.UnknownMethod"

Handler = Callable[[Message], tuple[str, tuple[Any, ...]] | None]
"""Answers a call with the signature and values of the reply, or None if there is no such method."""


class DBusError(OSError):
    """The bus or another program is missing, returned an error, did not reply in time, or broke the protocol. `name` is
    the error's name, empty if it has none.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


def session_address() -> str:
    """The address of the session bus. Raises DBusError if there is none."""
    if address := os.environ.get(SESSION_BUS, ""):
        return address
    path = f"{os.environ.get('XDG_RUNTIME_DIR', '')}/bus"
    if not os.path.exists(path):
        raise DBusError("This session has no D-Bus.")
    return f"unix:path={path}"


class Connection:
    """A connection to the bus at an address, such as `unix:path=/run/user/1000/bus`. Raises DBusError."""

    def __init__(self, address: str) -> None:
        self._socket = _connect(address)
        self._received = bytearray()
        self._serial = 0
        self._waiting: deque[Message] = deque(maxlen=MAX_WAITING)
        self.handler: Handler = lambda _: None
        """Answers calls of other programs."""
        try:
            self._authenticate()
            self.name: str = self.call(BUS, BUS_PATH, BUS, "Hello")[0]
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """File descriptor that is readable when a message arrives."""
        return self._socket.fileno()

    def close(self) -> None:
        """End it."""
        self._socket.close()

    def call(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        *values: Any,
        seconds: float = START_SECONDS,
    ) -> tuple[Any, ...]:
        """Call a method. Returns the values of its reply.

        Raises DBusError, with `timeout` as its name if no reply arrives in time. Other messages that arrive meanwhile
        wait for `process`.
        """
        serial = self._send(Message(CALL, path, interface, member, "", 0, destination, "", signature, values))
        ends = time.monotonic() + seconds
        while True:
            message = self._read(ends)
            if message is None:
                raise DBusError(f"{member} of {destination}: no reply in {seconds:g} s", "timeout")
            if message.reply_serial != serial or message.type not in (REPLY, ERROR):
                self._waiting.append(message)
            elif message.type == ERROR:
                raise DBusError(f"{member} of {destination}: {message.error} {message.body}", message.error)
            else:
                return message.body

    def get(self, destination: str, path: str, interface: str, name: str, seconds: float = START_SECONDS) -> Any:
        """A property of an object. Raises DBusError."""
        properties = "org.freedesktop.DBus.Properties"
        return self.call(destination, path, properties, "Get", "ss", interface, name, seconds=seconds)[0]

    def emit(self, path: str, interface: str, member: str, signature: str = "", *values: Any) -> None:
        """Send a signal to all listeners."""
        self._send(Message(SIGNAL, path, interface, member, signature=signature, body=values))

    def process(self, seconds: float = 0.0) -> list[Message]:
        """Answer calls and return signals that wait or arrive within `seconds`."""
        if not self._waiting and (message := self._read(time.monotonic() + seconds)) is not None:
            self._waiting.append(message)
        while (message := self._read(0.0)) is not None:
            self._waiting.append(message)
        signals = []
        while self._waiting:
            message = self._waiting.popleft()
            if message.type == CALL:
                self._answer(message)
            elif message.type == SIGNAL:
                signals.append(message)
        return signals

    def _answer(self, message: Message) -> None:
        answer = self.handler(message)
        if message.flags & NO_REPLY:
            return
        if answer is None:
            text = f"There is no method {message.interface}.{message.member}."
            failed = Message(ERROR, error=UNKNOWN_METHOD, signature="s", body=(text,))
            self._send(replace(failed, destination=message.sender, reply_serial=message.serial))
            return
        signature, values = answer
        reply = Message(REPLY, signature=signature, body=values)
        self._send(replace(reply, destination=message.sender, reply_serial=message.serial))

    def _send(self, message: Message) -> int:
        self._serial += 1
        try:
            self._socket.settimeout(START_SECONDS)
            self._socket.sendall(encode(replace(message, serial=self._serial)))
        except OSError as error:
            raise DBusError(f"The bus has gone: {error}") from None
        return self._serial

    def _read(self, ends: float) -> Message | None:
        """The next message, or None if none arrives in time."""
        while True:
            if len(self._received) >= HEADER_BYTES:
                try:
                    size = message_size(bytes(self._received[:HEADER_BYTES]))
                    if len(self._received) >= size:
                        data = bytes(self._received[:size])
                        del self._received[:size]
                        return decode(data)
                except WireError as error:
                    raise DBusError(f"The bus sends what is no message: {error}") from None
            self._socket.settimeout(max(0.0, ends - time.monotonic()))
            try:
                data = self._socket.recv(READ_BYTES)
            except (TimeoutError, BlockingIOError):
                return None
            except OSError as error:
                raise DBusError(f"The bus has gone: {error}") from None
            if not data:
                raise DBusError("The bus has gone.")
            self._received += data

    def _authenticate(self) -> None:
        """SASL's EXTERNAL: the kernel tells the bus who connects."""
        self._socket.settimeout(START_SECONDS)
        identity = str(os.getuid()).encode().hex()
        try:
            self._socket.sendall(b"\0AUTH EXTERNAL " + identity.encode() + b"\r\n")
            answer = self._socket.recv(READ_BYTES)
            if not answer.startswith(b"OK "):
                raise DBusError(f"The bus refuses: {answer[:80]!r}")
            self._socket.sendall(b"BEGIN\r\n")
        except OSError as error:
            raise DBusError(f"The bus does not answer: {error}") from None


def _connect(address: str) -> socket.socket:
    """Connect a socket to the first address that answers."""
    for one in address.split(";"):
        kind, _, rest = one.partition(":")
        options = {name: unquote(value) for name, _, value in (pair.partition("=") for pair in rest.split(","))}
        place = options.get("path") or ("\0" + options["abstract"] if "abstract" in options else "")
        if kind != "unix" or not place:
            continue
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(START_SECONDS)
        try:
            connection.connect(place)
        except OSError:
            connection.close()
            continue
        return connection
    raise DBusError(f"No bus answers at {address!r}.")
