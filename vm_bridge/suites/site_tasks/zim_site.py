"""The site of a ZIM file: its pages as they are, under a bar with the search of `kiwix-serve`."""

import asyncio
import re
import ssl
from html import escape
from urllib.parse import parse_qs, quote, quote_plus, urlsplit
from xml.etree import ElementTree

import httpx

from vm_bridge.browser import Request, Response
from vm_bridge.suites.site_tasks.kiwix import ANSWER_SECONDS, BOOK, KiwixServer, path_of, serve
from vm_bridge.suites.site_tasks.zim_files import ZimFile, ZimUnusable

HOST = "zim.pilothouse.test"
URL = f"http://{HOST}/"
SEARCH_PATH = "/_search"
RESULTS_PER_PAGE = 20
MAX_BODY_BYTES = 16 * 2**20
HTML = {"content-type": "text/html; charset=utf-8"}
UNUSED_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The server speaks plain HTTP; making a client's usual context takes longer than a page."""
KEPT_HEADERS = ("content-type", "location")
BODY_TAG = re.compile(rb"<body[^>]*>", re.IGNORECASE)
BAR = (
    '<div role="banner" style="all: initial; display: flex; gap: 10px; align-items: center; padding: 6px 14px;'
    ' background: #f4f6f8; border-bottom: 1px solid #c6ccd4; font: 16px sans-serif">'
    '<a href="/" style="color: #0b57b0">Home</a>'
    '<form action="{path}" style="margin: 0 0 0 auto; display: flex; gap: 8px">'
    '<input name="q" aria-label="Search" value="{words}" style="font: inherit; width: 260px; min-height: 30px">'
    '<button style="font: inherit; min-height: 30px">Search</button></form></div>'
)
FRAME = '<!doctype html><html><meta charset="utf-8"><title>{title}</title><body>{bar}<h1>{title}</h1>{body}</html>'


class ZimWebsite:
    """Implements `Site`: one host. The same requests have the same answers as long as the file is the same."""

    def __init__(self, zim: ZimFile) -> None:
        self._zim = zim

    async def answer(self, request: Request) -> Response:
        """The page of an address; every other host is not found."""
        parts = urlsplit(request.url)
        if parts.hostname != HOST:
            return Response(failure="NameNotResolved")
        if parts.path == "/favicon.ico":
            return Response(status=204)
        try:
            server = await asyncio.to_thread(serve, self._zim)
            async with httpx.AsyncClient(
                base_url=server.origin, trust_env=False, timeout=ANSWER_SECONDS, verify=UNUSED_TLS
            ) as client:
                if parts.path == SEARCH_PATH:
                    return await self._search(server, client, parse_qs(parts.query))
                return await self._page(server, client, parts.path)
        except (httpx.HTTPError, ZimUnusable):
            return Response(failure="ConnectionFailed")

    async def _page(self, server: KiwixServer, client: httpx.AsyncClient, path: str) -> Response:
        if path in ("", "/"):
            return Response(302, b"", {"location": server.first_page})
        async with client.stream("GET", server.prefix + path) as answer:
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    return Response(failure="InsufficientResources")
        headers = {name: text for name, text in answer.headers.items() if name in KEPT_HEADERS}
        if answer.is_redirect:
            headers["location"] = quote(path_of(server, headers.get("location", "")))
        if answer.status_code == 404:
            return _framed("Not found", "<p>There is no such page.</p>", status=404)
        if headers.get("content-type", "").startswith("text/html"):
            return Response(answer.status_code, _with_bar(bytes(body)), headers)
        return Response(answer.status_code, bytes(body), headers)

    async def _search(self, server: KiwixServer, client: httpx.AsyncClient, query: dict[str, list[str]]) -> Response:
        words, page = query.get("q", [""])[0].strip(), query.get("page", ["1"])[0]
        number = max(1, int(page)) if page.isdecimal() and len(page) < 4 else 1
        if not words:
            return _framed("Search", "<p>Type what to look for.</p>")
        first = (number - 1) * RESULTS_PER_PAGE
        asked = {"content": BOOK, "pattern": words, "format": "xml", "start": str(first + 1)}
        answer = await client.get("/search", params={**asked, "pageLength": str(RESULTS_PER_PAGE)})
        title = f"Pages about “{words}”"
        if answer.status_code != 200:
            return _framed(title, "<p>This site has no search.</p>", words, status=501)
        try:
            channel = ElementTree.fromstring(answer.content).find("channel")  # noqa: S314 - kiwix-serve's own template
        except ElementTree.ParseError:
            return Response(failure="ConnectionFailed")
        found = [] if channel is None else channel.findall("item")
        items = "".join(_result(server, one) for one in found)
        nothing = "" if found else "<p>No page was found.</p>"
        address = f"{SEARCH_PATH}?q={quote_plus(words)}&amp;page="
        back = f'<a href="{address}{number - 1}">Previous</a> ' if number > 1 else ""
        on = f'<a href="{address}{number + 1}">Next</a>' if len(found) == RESULTS_PER_PAGE else ""
        return _framed(title, f"<ol>{items}</ol>{nothing}<p>{back}{on}</p>", words)


def has_search(zim: ZimFile) -> bool:
    """Whether the file has a full-text index. Blocks. Raises ZimUnusable: `kiwix_missing`, `kiwix_failed`."""
    server = serve(zim)
    try:
        asked = {"content": BOOK, "pattern": "a", "format": "xml"}
        answer = httpx.get(f"{server.origin}/search", params=asked, trust_env=False, timeout=ANSWER_SECONDS)
    except httpx.HTTPError as error:
        raise ZimUnusable("kiwix_failed", f"kiwix-serve does not answer: {error}") from error
    return answer.status_code == 200


def _result(server: KiwixServer, item: ElementTree.Element) -> str:
    title, path = item.findtext("title") or "", path_of(server, item.findtext("link") or "")
    told = " ".join((item.findtext("description") or "").split())[:300]
    return f'<li><a href="{escape(quote(path))}">{escape(title)}</a><br><small>{escape(told)}</small></li>'


def _bar(words: str = "") -> str:
    return BAR.format(path=SEARCH_PATH, words=escape(words))


def _with_bar(page: bytes) -> bytes:
    bar = _bar().encode("ascii", "xmlcharrefreplace")
    found = BODY_TAG.search(page)
    return page[: found.end()] + bar + page[found.end() :] if found else bar + page


def _framed(title: str, body: str, words: str = "", status: int = 200) -> Response:
    page = FRAME.format(title=escape(title), bar=_bar(words), body=body)
    return Response(status, page.encode(), HTML)
