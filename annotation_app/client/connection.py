"""Calls to the web app with a token: answers checked, refusals typed, what may be repeated repeated."""

import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from annotation_app.client.errors import Invalid, NotConfigured, Unreachable, rejection_from
from protocol.base import find_json_error

URL, TOKEN, TOKEN_FILE = "PILOTHOUSE_URL", "PILOTHOUSE_TOKEN", "PILOTHOUSE_TOKEN_FILE"
DEFAULT_URL = "http://127.0.0.1:8000"
RETRY_PAUSES_SECONDS = (0.2, 0.8, 3.2)
"""Before each further try of a call that may be repeated (seconds)."""
MAX_PAUSE_SECONDS = 30.0
"""The most of what a server's `Retry-After` asks for (seconds)."""
BUSY_STATUSES = frozenset({429, 502, 503, 504})
TIMEOUTS = httpx.Timeout(60, connect=5)
MAX_REJECTION_BYTES = 64 * 1024


class Connection:
    """A server and a token. Reading is repeated after a lost connection or where the server is busy; what changes
    something is not, unless the caller says that it may be."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api",
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUTS,
            trust_env=False,
            verify=httpx.create_ssl_context(),  # an authority of the house's own is named by `SSL_CERT_FILE`
        )

    def close(self) -> None:
        """Close the connections to the server."""
        self._http.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """What is at this address. Raises RequestRejected and Unreachable."""
        return self._call("GET", path, params=params, repeatable=True)

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, repeatable: bool = False) -> Any:
        """What became of a change. Raises RequestRejected, Invalid for what JSON cannot hold, and Unreachable."""
        return self.call("POST", path, {} if body is None else body, repeatable=repeatable)

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, repeatable: bool = False) -> Any:
        """Any call with JSON both ways; a GET is always retried.

        Raises:
            Invalid: The body holds what JSON cannot.
            RequestRejected: The server refused.
            Unreachable: There was no answer.
        """
        if (fault := find_json_error(body)) is not None:
            raise Invalid(": ".join(filter(None, fault)))
        given = {} if body is None else {"json": body}
        return self._call(method, path, repeatable=repeatable or method == "GET", **given)

    def send(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes = b"", *, repeatable: bool = False
    ) -> httpx.Response:
        """A call whose answer is in its headers. Raises RequestRejected and Unreachable."""
        return self._response(method, path, repeatable=repeatable, headers=headers, content=content)

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Response]:
        """An answer that is read bit by bit; once, since how far it got is the caller's to know.

        Raises RequestRejected and Unreachable.
        """
        try:
            with self._http.stream("GET", path, headers=headers) as response:
                if response.is_error and response.status_code != 416:
                    raise rejection_from(response.status_code, _read_rejection(response))
                yield response
        except httpx.TransportError as error:
            raise Unreachable(f"{self._http.base_url.host}: {error or type(error).__name__}") from error

    def _call(self, method: str, path: str, *, repeatable: bool, **call: Any) -> Any:
        return _check_response(self._response(method, path, repeatable=repeatable, **call))

    def _response(self, method: str, path: str, *, repeatable: bool, **call: Any) -> httpx.Response:
        pauses = iter(RETRY_PAUSES_SECONDS if repeatable else ())
        while True:
            wait = next(pauses, None)
            try:
                response = self._http.request(method, path, **call)
            except httpx.TransportError as error:
                if wait is None:
                    raise Unreachable(f"{self._http.base_url.host}: {error or type(error).__name__}") from error
            else:
                if response.status_code not in BUSY_STATUSES or wait is None:
                    _check_response(response)
                    return response
                wait = _retry_pause(response, wait)
            time.sleep(wait)


def read_token(environment: Mapping[str, str] = os.environ) -> str:
    """The token of `PILOTHOUSE_TOKEN`, or of the file that `PILOTHOUSE_TOKEN_FILE` names and no other user may read.
    Raises NotConfigured."""
    if token := environment.get(TOKEN, "").strip():
        return token
    named = environment.get(TOKEN_FILE, "")
    if not named:
        raise NotConfigured(f"set {TOKEN}, or {TOKEN_FILE} to a file of mode 600")
    path = Path(named)
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise NotConfigured(f"others may read {path}: `chmod 600` it, and make another token")
        return path.read_text().strip()
    except OSError as error:
        raise NotConfigured(f"{path}: {error.strerror}") from None


def read_url(environment: Mapping[str, str] = os.environ) -> str:
    """The server's address, `PILOTHOUSE_URL`."""
    return environment.get(URL, DEFAULT_URL)


def _check_response(response: httpx.Response) -> Any:
    if response.is_error:
        raise rejection_from(response.status_code, _parse_json(response.content))
    return _parse_json(response.content) if response.content else None


def _read_rejection(response: httpx.Response) -> object:
    """The body of a refusal, as far as it can be one."""
    content = b""
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > MAX_REJECTION_BYTES:
            return None
    return _parse_json(content)


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _retry_pause(response: httpx.Response, pause: float) -> float:
    retry_after = response.headers.get("Retry-After", "")
    return min(float(retry_after), MAX_PAUSE_SECONDS) if retry_after.isdigit() else pause
