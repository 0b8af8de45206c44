"""Why something may not pass, for programs and for people."""

from html import escape

HTTP_STATUS = {
    "bad_request": 400,
    "network_off": 403,
    "host_not_allowed": 403,
    "port_not_allowed": 403,
    "address_not_public": 403,
    "unresolved": 502,
    "unreachable": 502,
    "too_many_connections": 503,
    "ticket_refused": 403,
    "port_forbidden": 403,
    "nothing_listens": 502,
    "broken_off": 502,
    "bridge_unavailable": 503,
}
"""Every code that either way refuses with, and the status it travels as."""
ERROR_HEADER = b"X-Pilothouse-Refusal"


class ProxyError(Exception):
    """Not let through; `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.status = code, HTTP_STATUS[code]


def error_page(error: ProxyError) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """A refusal as a small page, and its headers."""
    body = (
        f"<!doctype html><meta charset=utf-8><title>{error.code}</title><h1>Not reached</h1>"
        f"<p>{escape(str(error))}<p><code>{error.code}</code>\n"
    ).encode()
    headers = [
        (b"Content-Type", b"text/html; charset=utf-8"),
        (b"Content-Length", str(len(body)).encode()),
        (b"Connection", b"close"),
        (ERROR_HEADER, error.code.encode()),
    ]
    return body, headers
