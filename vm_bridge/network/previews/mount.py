"""A port of a machine as browsers see it: below a path of the bridge; and what of headers may pass between the two."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from vm_bridge.api.tickets import preview_path
from vm_bridge.network.headers import HOP_BY_HOP_HEADERS

Header = tuple[bytes, bytes]
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""What programs call their own machine in addresses they send out."""
SESSION_COOKIE = "pilothouse-preview"
MAX_COOKIES = 64
"""Most names of cookies a program may keep in a browser."""
DROPPED_REQUEST_HEADERS = {
    *HOP_BY_HOP_HEADERS,
    # Whose they are, nobody inside may learn.
    *(b"host", b"origin", b"referer", b"cookie", b"authorization", b"forwarded", b"x-real-ip"),
    *(b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-port", b"x-forwarded-prefix"),
}
DROPPED_RESPONSE_HEADERS = {
    *HOP_BY_HOP_HEADERS,
    # These speak for the whole of the origin, of which this is one path.
    *(b"clear-site-data", b"service-worker-allowed", b"strict-transport-security", b"public-key-pins", b"alt-svc"),
    *(b"report-to", b"reporting-endpoints", b"nel", b"origin-agent-cluster", b"www-authenticate", b"expect-ct"),
    *(b"x-frame-options", b"content-security-policy", b"location", b"set-cookie", b"date", b"server"),
}
COOKIE_NAME_PATTERN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")


@dataclass(frozen=True, slots=True)
class PreviewMount:
    """`host` is the one the browser asks; `whole` says that the program is asked with the browser's whole path."""

    machine_id: str
    port: int
    host: str
    whole: bool

    @property
    def prefix(self) -> str:
        """The browser's path of the program's root, without a slash at its end."""
        return f"{preview_path(self.machine_id)}/{self.port}"

    @property
    def inner(self) -> str:
        """The origin inside the machine."""
        return f"http://127.0.0.1:{self.port}"

    def to_program(self, headers: Iterable[Header], cookies: Collection[str]) -> list[Header]:
        """A request's headers for the program, which sees itself asked from its own machine; of the browser's cookies
        only those it set."""
        headers = list(headers)
        passed = [(name, value) for name, value in headers if name not in DROPPED_REQUEST_HEADERS]
        given = {name: value.decode("latin-1") for name, value in headers}
        own = [pair for pair in _split_cookies(given.get(b"cookie", "")) if pair.partition("=")[0] in cookies]
        optional = {
            "cookie": "; ".join(own),
            "origin": self.inner if b"origin" in given else "",
            "referer": self._referer(given.get(b"referer", "")),
        }
        # No X-Forwarded-Host: programs compare it with the origin, which is their own here.
        replaced_headers = {
            "host": self.inner.removeprefix("http://"),
            "x-forwarded-prefix": self.prefix,
            **{name: value for name, value in optional.items() if value},
        }
        framing = [header for header in headers if header[0] == b"transfer-encoding"]
        return [
            *passed,
            *framing,
            *((name.encode(), value.encode("latin-1")) for name, value in replaced_headers.items()),
        ]

    def to_browser(self, headers: Iterable[Header], frame_ancestors: Sequence[str]) -> list[Header]:
        """An answer's headers for the browser: nothing in them reaches beyond the program's own path, and only the
        bridge says which pages may show it in a frame."""
        passed: list[Header] = []
        for key, value in headers:
            name, text = key.lower(), value.decode("latin-1")
            if name not in DROPPED_RESPONSE_HEADERS:
                passed.append((name, value))
            elif name == b"location":
                passed.append((name, self._location(text).encode("latin-1")))
            elif name == b"set-cookie" and (cookie := self._cookie(text)):
                passed.append((name, cookie.encode("latin-1")))
            elif name == b"content-security-policy" and (policy := _strip_frame_ancestors(text)):
                passed.append((name, policy.encode("latin-1")))
        frames = " ".join(("'self'", *frame_ancestors))
        return [*passed, (b"content-security-policy", f"frame-ancestors {frames}".encode())]

    def cookie_names(self, headers: Iterable[Header]) -> set[str]:
        """Which cookies an answer for the browser sets."""
        return {value.decode("latin-1").partition("=")[0] for name, value in headers if name == b"set-cookie"}

    def _referer(self, address: str) -> str:
        """The same page as the program knows it; nothing where it is not the program's."""
        url = urlsplit(address)
        if url.netloc != self.host or not url.path.startswith(f"{self.prefix}/"):
            return ""
        path = url.path if self.whole else url.path.removeprefix(self.prefix)
        return f"{self.inner}{path}{f'?{url.query}' if url.query else ''}"

    def _location(self, address: str) -> str:
        """Where a redirect leads the browser: an address of the program's own machine is below its path here."""
        url = urlsplit(address)
        name, _, port = url.netloc.rpartition(":") if url.netloc.count(":") else (url.netloc, "", "80")
        if url.netloc and not (url.scheme in ("", "http") and name in LOOPBACK_HOSTS and port == str(self.port)):
            return address
        path = address.partition(url.netloc)[2] if url.netloc else address
        if not path.startswith("/"):
            return f"{self.prefix}/{path}" if url.netloc else address  # relative to the page
        return path if self.whole else self.prefix + path

    def _cookie(self, text: str) -> str:
        """A cookie that is sent to this program only; nothing where it has no such name."""
        pair, *attributes = (part.strip() for part in text.split(";"))
        name = pair.partition("=")[0].strip()
        if not COOKIE_NAME_PATTERN.fullmatch(name) or name == SESSION_COOKIE:
            return ""
        kept, path = [], "/"
        for attribute in attributes:
            key, _, value = attribute.partition("=")
            if key.lower() in ("expires", "max-age", "httponly"):
                kept.append(attribute)
            elif key.lower() == "path" and value.startswith("/"):
                path = value
        below = path if path.startswith(f"{self.prefix}/") else self.prefix + path
        return "; ".join((pair, f"Path={below}", "SameSite=Lax", *kept))


def _split_cookies(cookies: str) -> list[str]:
    return [pair.strip() for pair in cookies.split(";") if "=" in pair]


def _strip_frame_ancestors(policy: str) -> str:
    directives = (directive.strip() for directive in policy.split(";"))
    return "; ".join(each for each in directives if each and not each.lower().startswith("frame-ancestors"))
