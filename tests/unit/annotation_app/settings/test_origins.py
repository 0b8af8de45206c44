"""Which pages may open a WebSocket."""

from typing import Any

import pytest

from annotation_app.web.websocket_origins import origin_allowed

HOST = "annotate.example.org"


@pytest.fixture(autouse=True)
def _settings(settings: Any) -> None:
    settings.ALLOWED_HOSTS = [HOST, "127.0.0.1", "[::1]"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example.org", "https://*.lab.example.org"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


def allowed(origin: str | None, host: str = HOST, *, scheme: str = "ws", **headers: str) -> bool:
    given = {"host": host, **({} if origin is None else {"origin": origin}), **headers}
    lines = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    return origin_allowed({"type": "websocket", "scheme": scheme, "headers": lines})


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (f"http://{HOST}", HOST),
        (f"http://{HOST}:8000", f"{HOST}:8000"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
        (f"http://{HOST}", HOST.upper()),
        ("https://front.example.org", HOST),
        ("https://a.lab.example.org", HOST),
    ],
)
def test_the_web_app_s_own_pages_and_trusted_ones_may(origin: str, host: str) -> None:
    assert allowed(origin, host)


@pytest.mark.parametrize(
    "origin",
    [
        *(None, "", "null", HOST, "file://", f"//{HOST}", f"http://{HOST}/", f"http://{HOST} "),
        *(f"http://{HOST}:8010", f"http://{HOST}:8011", f"http://{HOST}:80", f"https://{HOST}", f"ws://{HOST}"),
        *(f"http://{HOST}.evil.example", f"http://evil.{HOST}", f"http://evil.example/{HOST}", f"http://evil@{HOST}"),
        *("http://front.example.org", "https://front.example.org:444", "https://front.example.org.evil.example"),
        *("http://a.lab.example.org", "https://lab.example.org.evil.example", "https://evillab.example.org"),
    ],
)
def test_no_other_page_may(origin: str | None) -> None:
    assert not allowed(origin)


def test_a_host_that_is_not_ours_vouches_for_nothing() -> None:
    assert not allowed("http://evil.example", "evil.example")


@pytest.mark.parametrize(("scheme", "headers"), [("wss", {}), ("ws", {"x_forwarded_proto": "https"})])
def test_pages_over_https_stay_apart_from_those_over_http(scheme: str, headers: dict[str, str]) -> None:
    assert allowed(f"https://{HOST}", scheme=scheme, **headers)
    assert not allowed(f"http://{HOST}", scheme=scheme, **headers)
