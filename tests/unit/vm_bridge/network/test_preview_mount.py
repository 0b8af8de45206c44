"""What of headers passes between a browser and a sandbox's web program."""

import pytest

from vm_bridge.network.previews.mount import PreviewMount

HOST = "preview.example"
OUTER = f"https://{HOST}"
PREFIX = "/sandboxes/desktop-1/proxy/5000"
STRIPPED = PreviewMount("desktop-1", 5000, HOST, whole=False)
WHOLE = PreviewMount("desktop-1", 5000, HOST, whole=True)


def to_program(mount: PreviewMount, *headers: tuple[bytes, bytes], cookies: tuple[str, ...] = ()) -> dict[bytes, bytes]:
    return dict(mount.to_program(headers, cookies))


def to_browser(*headers: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    return STRIPPED.to_browser(headers, ("https://web.example",))


def test_a_program_sees_itself_asked_from_its_own_machine() -> None:
    passed = to_program(
        STRIPPED,
        (b"host", b"preview.example"),
        (b"origin", OUTER.encode()),
        (b"referer", f"{OUTER}{PREFIX}/page?x=1".encode()),
        (b"accept", b"text/html"),
    )
    assert passed[b"host"] == b"127.0.0.1:5000"
    assert passed[b"origin"] == b"http://127.0.0.1:5000"
    assert passed[b"referer"] == b"http://127.0.0.1:5000/page?x=1"
    assert passed[b"accept"] == b"text/html"
    assert b"x-forwarded-host" not in passed
    assert passed[b"x-forwarded-prefix"] == PREFIX.encode()


def test_a_program_that_writes_the_path_itself_keeps_it_in_the_referer() -> None:
    passed = to_program(WHOLE, (b"referer", f"{OUTER}{PREFIX}/lab".encode()))
    assert passed[b"referer"] == f"http://127.0.0.1:5000{PREFIX}/lab".encode()


def test_who_asks_and_what_else_the_browser_holds_stays_outside() -> None:
    passed = to_program(
        STRIPPED,
        (b"authorization", b"Bearer secret"),
        (b"cookie", b"sessionid=secret; csrftoken=secret; own=1; pilothouse-preview=secret; own2=2"),
        (b"proxy-authorization", b"secret"),
        (b"x-forwarded-for", b"203.0.113.9"),
        (b"x-forwarded-host", b"forged"),
        (b"x-real-ip", b"203.0.113.9"),
        (b"forwarded", b"for=203.0.113.9"),
        (b"referer", f"https://web.example{PREFIX}/episodes/1?secret".encode()),
        cookies=("own", "own2"),
    )
    assert passed[b"cookie"] == b"own=1; own2=2"
    assert b"referer" not in passed
    everything = b" ".join((*passed, *passed.values()))
    assert not any(word in everything for word in (b"secret", b"203.0.113", b"forged"))


def test_without_cookies_of_its_own_it_gets_none() -> None:
    assert b"cookie" not in to_program(STRIPPED, (b"cookie", b"sessionid=secret"))


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a=1", f"a=1; Path={PREFIX}/; SameSite=Lax"),
        ("a=1; Path=/admin; HttpOnly", f"a=1; Path={PREFIX}/admin; SameSite=Lax; HttpOnly"),
        (f"a=1; Path={PREFIX}/deep", f"a=1; Path={PREFIX}/deep; SameSite=Lax"),
        (f"a=1; Path={PREFIX}1/", f"a=1; Path={PREFIX}{PREFIX}1/; SameSite=Lax"),
        ("a=1; Domain=example; Secure; SameSite=None; Max-Age=5", f"a=1; Path={PREFIX}/; SameSite=Lax; Max-Age=5"),
        ("a=1; path=relative", f"a=1; Path={PREFIX}/; SameSite=Lax"),
    ],
)
def test_a_cookie_comes_back_to_its_program_only(sent: str, kept: str) -> None:
    assert (b"set-cookie", kept.encode()) in to_browser((b"Set-Cookie", sent.encode()))


@pytest.mark.parametrize("sent", [b"pilothouse-preview=forged", b"=nameless", b"with space=1", b""])
def test_a_cookie_of_the_bridges_name_or_of_none_is_dropped(sent: bytes) -> None:
    assert not [value for name, value in to_browser((b"set-cookie", sent)) if name == b"set-cookie"]


def test_headers_that_speak_for_the_whole_origin_are_dropped() -> None:
    names = (
        *(b"Service-Worker-Allowed", b"Clear-Site-Data", b"Strict-Transport-Security", b"Alt-Svc", b"NEL"),
        *(b"Report-To", b"WWW-Authenticate", b"X-Frame-Options", b"Transfer-Encoding", b"Connection"),
    )
    assert to_browser(*((name, b"x") for name in names)) == [
        (b"content-security-policy", b"frame-ancestors 'self' https://web.example")
    ]


def test_the_bridge_alone_says_who_may_frame_a_program() -> None:
    policies = [
        value
        for name, value in to_browser((b"content-security-policy", b"default-src 'self'; Frame-Ancestors 'none'"))
        if name == b"content-security-policy"
    ]
    assert policies == [b"default-src 'self'", b"frame-ancestors 'self' https://web.example"]


@pytest.mark.parametrize(
    ("sent", "stripped", "whole"),
    [
        ("/login?next=/", f"{PREFIX}/login?next=/", "/login?next=/"),
        ("next", "next", "next"),
        ("?page=2", "?page=2", "?page=2"),
        ("http://127.0.0.1:5000/a?b#c", f"{PREFIX}/a?b#c", "/a?b#c"),
        ("http://localhost:5000", f"{PREFIX}/", f"{PREFIX}/"),
        ("//localhost:5000/a", f"{PREFIX}/a", "/a"),
        ("http://localhost:6000/a", "http://localhost:6000/a", "http://localhost:6000/a"),
        ("https://example.org/a", "https://example.org/a", "https://example.org/a"),
    ],
)
def test_a_redirect_stays_below_the_programs_path(sent: str, stripped: str, whole: str) -> None:
    for mount, expected in ((STRIPPED, stripped), (WHOLE, whole)):
        headers = dict(mount.to_browser([(b"location", sent.encode())], ()))
        assert headers[b"location"] == expected.encode()
