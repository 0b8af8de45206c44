"""The requests of a session's pages, and when each is answered."""

import asyncio
import base64
import heapq
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import Told
from vm_bridge.browser.site import Request, Response, Site

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

ANSWER_SECONDS = 30.0
ARRIVE_SECONDS = 2.0
MOST_WAITING = 200
"""Requests of one session that may wait at once; more fail."""
MOST_BODY = 32 * 1024 * 1024
STATIC_IMPORT = b"import"


class Answers:
    """`prelude` is what scripts of workers begin with: what documents get by the browser, they get from here."""

    def __init__(self, session: "Session", site: Site, prelude: Callable[[], str]) -> None:
        self._session, self._site, self._prelude = session, site, prelude
        self.count = 0
        """Requests so far."""
        self._asked = 0
        """Requests the site has not answered yet."""
        self._later: list[tuple[float, int, Page, Told, Response]] = []
        """Answers whose game time has not come, soonest first."""
        self._numbers = itertools.count()
        self._arriving: set[str] = set()
        """Answers given that the page has not got whole."""
        self._arrived = asyncio.Event()

    @property
    def delayed(self) -> bool:
        """Whether answers wait for their game time."""
        return bool(self._later)

    @property
    def pending(self) -> bool:
        """Whether anything is on its way to a page."""
        return bool(self._asked or self._later)

    def waits(self, page: Page) -> bool:
        """Whether a page's next document is delayed."""
        return any(each[2] is page and each[3].get("frameId") == page.id for each in self._later)

    def release(self, now: float) -> None:
        """Give the answers whose time has come."""
        while self._later and self._later[0][0] <= now:
            _, _, page, told, response = heapq.heappop(self._later)
            self._give(page, told, response)

    async def arrived(self) -> None:
        """Returns when pages have got what they were given, or after a bound."""
        try:
            async with asyncio.timeout(ARRIVE_SECONDS):
                while self._arriving or self._asked:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            self._arriving.clear()

    def finished(self, request: str) -> None:
        """A page has got an answer whole, or given it up."""
        self._arriving.discard(request)
        self._arrived.set()

    def forget(self, page: Page) -> None:
        """A page has gone, with all it asked."""
        self._later = [each for each in self._later if each[2] is not page]
        heapq.heapify(self._later)
        self._arriving.clear()
        self._arrived.set()

    async def answer(self, page: Page, told: Told) -> None:
        """Have one request answered."""
        self.count += 1
        self._asked += 1
        try:
            response = await self._response(page, _request(told))
            if response.delay_ms > 0:
                due = self._session.now_ms + response.delay_ms
                heapq.heappush(self._later, (due, next(self._numbers), page, told, response))
                self._session.time.kept()
                self._session.news.set()
            else:
                self._give(page, told, response)
        except BrowserFailed:
            return  # the page has gone
        finally:
            self._asked -= 1
            self._arrived.set()

    async def _response(self, page: Page, request: Request) -> Response:
        if self._asked + len(self._later) > MOST_WAITING:
            self._session.happen("request_refused", f"{request.url}: too many requests wait", page)
            return Response(failure="InsufficientResources")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                response = await self._site.answer(request)
        except Exception as error:  # noqa: BLE001 - a site's mistake is a failed request, not the session's end
            self._session.happen("request_failed", f"{request.url}: {type(error).__name__}: {error}", page)
            return Response(failure="Failed")
        if response.failure or response.status >= 400:
            word = response.failure or str(response.status)
            self._session.happen("request_failed", f"{request.url}: {word}", page, word=word)
        if len(response.body) > MOST_BODY:
            return Response(failure="InsufficientResources")
        if request.kind == "Other" and _is_script(response):
            return self._seeded(response)
        return response

    def _seeded(self, response: Response) -> Response:
        """The script of a worker with the prelude before it, also before what it imports."""
        prelude = self._prelude().encode()
        if STATIC_IMPORT in response.body and any(
            line.lstrip().startswith(STATIC_IMPORT) and not line.lstrip().startswith((b"importScripts", b"import("))
            for line in response.body.splitlines()
        ):
            packed = base64.b64encode(prelude).decode()
            prelude = f'import "data:text/javascript;base64,{packed}";'.encode()
        headers = {name: text for name, text in response.headers.items() if name.lower() != "content-length"}
        return Response(response.status, prelude + response.body, headers, response.delay_ms)

    def _give(self, page: Page, told: Told, response: Response) -> None:
        if response.failure:
            page.send("Fetch.failRequest", requestId=told["requestId"], errorReason=response.failure)
            return
        if told.get("resourceType") == "Document":
            response = self._session.time.document(response)
        elif "networkId" in told:
            self._arriving.add(told["networkId"])
        page.send(
            "Fetch.fulfillRequest",
            requestId=told["requestId"],
            responseCode=response.status,
            responseHeaders=[{"name": name, "value": text} for name, text in response.headers.items()],
            body=base64.b64encode(response.body).decode(),
        )


def _is_script(response: Response) -> bool:
    return any(name.lower() == "content-type" and "javascript" in text for name, text in response.headers.items())


def _request(told: Told) -> Request:
    asked = told["request"]
    parts = asked.get("postDataEntries") or ()
    body = b"".join(base64.b64decode(part.get("bytes", "")) for part in parts)
    return Request(asked["method"], asked["url"], asked["headers"], body, told.get("resourceType", "Other"))
