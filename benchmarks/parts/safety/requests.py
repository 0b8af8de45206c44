"""HTTP requests exactly as they are given: odd methods, odd paths, headers of any name, from any loopback address."""

import http.client
import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

TIMEOUT_SECONDS = 60.0
MAX_BODY = 1024 * 1024
"""How much of an answer is read (bytes)."""
JSON = "application/json"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
CONNECTION_ERRORS = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `status` 0 where the connection ended without an answer."""

    status: int
    kind: str = ""
    """The media type."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """Who sends a request: a cookie of a browser with the token of its page, or a bearer token, or neither."""

    cookie: str = ""
    csrf: str = ""
    bearer: str = ""

    def headers(self) -> dict[str, str]:
        """The request headers that say so."""
        if self.bearer:
            return {"Authorization": f"Bearer {self.bearer}"}
        cookies = {"sessionid": self.cookie, "csrftoken": self.csrf}
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items() if value)
        return {**({"Cookie": sent} if sent else {}), **({"X-CSRFToken": self.csrf} if self.csrf else {})}


class HttpConnection:
    """One connection to `host:port` that is opened again when it ends. Not for several threads."""

    def __init__(self, address: str, source: str = "") -> None:
        """
        Args:
            address: `host:port`.
            source: The loopback address that requests come from; empty: the usual one.
        """
        self.address = address
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPConnection(
            host, int(port), timeout=TIMEOUT_SECONDS, source_address=(source, 0) if source else None
        )

    def send(
        self, method: str, target: str, headers: Mapping[str, str] = NO_HEADERS, body: bytes | None = None
    ) -> Answer:
        """The answer to one request; one whose connection had ended is sent once more."""
        try:
            return self._send(method, target, headers, body)
        except CONNECTION_ERRORS:
            self.close()
        try:
            return self._send(method, target, headers, body)
        except CONNECTION_ERRORS:
            self.close()
            return Answer(0)

    def call(self, method: str, target: str, session: Session, value: Any = None) -> Answer:
        """A request with a JSON body."""
        body = None if value is None else json.dumps(value).encode()
        headers = {**session.headers(), **({} if body is None else {"Content-Type": JSON})}
        return self.send(method, target, headers, body)

    def send_parts(self, method: str, target: str, headers: Mapping[str, str], parts: Iterable[bytes]) -> Answer:
        """The answer to a request whose body is sent part by part, as far as the server takes it.

        Raises OSError, HTTPException.
        """
        self._begin(method, target, headers)
        self._connection.endheaders()
        with suppress(BrokenPipeError, ConnectionResetError):  # it answers before the end
            for part in parts:
                self._connection.send(part)
        return self._answer()

    def close(self) -> None:
        """End the connection; the next request opens another."""
        self._connection.close()

    def _send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        length = {} if body is None else {"Content-Length": str(len(body))}
        self._begin(method, target, {**length, **headers})
        self._connection.endheaders(body)
        return self._answer()

    def _begin(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        skip_host = any(name.lower() == "host" for name in headers)
        self._connection.putrequest(method, target, skip_host=skip_host, skip_accept_encoding=True)
        for name, value in headers.items():
            self._connection.putheader(name, value)

    def _answer(self) -> Answer:
        response = self._connection.getresponse()
        answered = response.read(MAX_BODY)
        if not response.isclosed():
            self.close()  # a longer body, or one without an end
        told = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, told.get("content-type", "").partition(";")[0], answered, told)


@contextmanager
def http_connection(address: str, source: str = "") -> Iterator[HttpConnection]:
    """A connection that is closed when the block ends."""
    connection = HttpConnection(address, source)
    try:
        yield connection
    finally:
        connection.close()


def listens(address: str) -> bool:
    """Whether anything takes connections there."""
    host, _, port = address.rpartition(":")
    with socket.socket() as link:
        return link.connect_ex((host, int(port))) == 0
