"""What the pages of a session may load: every request is answered here, none by a network."""

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a page."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    kind: str
    """Chromium's resource type: Document, Script, Image, Fetch, XHR, Stylesheet, Media, Font, Other."""


@dataclass(frozen=True, slots=True)
class Response:
    """The response to a request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_ms: float = 0.0
    """Game time until delivery."""
    failure: str = ""
    """A network error instead of a response, in Chromium's terms: ConnectionRefused, ConnectionReset, TimedOut, Failed
    …
    """


class Site(Protocol):
    """Answers must be a function of the request and the earlier requests: replays send the same requests again."""

    async def answer(self, request: Request) -> Response:
        """Must not raise; an exception fails the request."""
        ...


class StaticSite:
    """Static files, with one folder per host in `hosts`; for tests and simple suites."""

    def __init__(self, hosts: Mapping[str, Path]) -> None:
        self._hosts = {host: folder.resolve() for host, folder in hosts.items()}

    async def answer(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        root = self._hosts.get(parts.hostname or "")
        if root is None:
            return Response(failure="NameNotResolved")
        path = (root / unquote(parts.path).lstrip("/")).resolve()
        if path.is_dir():
            path /= "index.html"
        if not path.is_relative_to(root) or not path.is_file():
            return Response(404, b"Not found", {"content-type": "text/plain"})
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        if media_type.startswith("text/") or media_type.endswith("javascript"):
            media_type += "; charset=utf-8"
        return Response(200, path.read_bytes(), {"content-type": media_type})
