"""Intercepts the requests of a session's pages, and answers each at its game time."""

import asyncio
import base64
import heapq
import itertools
from collections.abc import Callable

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.interfaces import SessionInterface
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import CdpPayload
from vm_bridge.browser.site import Request, Response, Site

ANSWER_SECONDS = 30.0
DELIVERY_SECONDS = 2.0
BODY_SECONDS = 0.1
"""How long to wait for the rest of a response: a response that no script reads never ends."""
MAX_PENDING = 200
"""Maximum waiting requests of one session; further requests fail."""
MAX_BODY = 32 * 1024 * 1024
STATIC_IMPORT = b"import"
SCRIPTED = frozenset({"Fetch", "XHR"})
"""Request types whose responses resume a script."""


class RequestInterceptor:
    """Passes requests to a site, and delivers each response at its game time."""

    def __init__(
        self,
        session: SessionInterface,
        site: Site,
        prelude: Callable[[], str],
        *,
        on_delayed: Callable[[], None],
        prepare_document: Callable[[Response], Response],
    ) -> None:
        """Connects the session's site and its clock.

        Args:
            session: What the requests belong to.
            site: What answers them.
            prelude: The script that workers begin with; documents get it from the browser.
            on_delayed: Called when an answer must wait for its game time.
            prepare_document: Gives a document as a page gets it now.
        """
        self._session, self._site, self._prelude = session, site, prelude
        self._on_delayed, self._prepare_document = on_delayed, prepare_document
        self.count = 0
        """Number of requests so far."""
        self._unanswered = 0
        """Requests the site has not answered yet."""
        self._delayed: list[tuple[float, int, Page, CdpPayload, Response]] = []
        """Responses whose game time has not come, soonest first."""
        self._numbers = itertools.count()
        self._delivering: set[str] = set()
        """Delivered responses that the page has not received completely."""
        self._delivered = asyncio.Event()
        self._requested: set[str] = set()
        """Script requests that are neither delayed nor answered, including requests that have not arrived here yet."""
        self._receiving: set[str] = set()
        """Script requests whose response has begun to arrive."""

    @property
    def requested(self) -> bool:
        """Whether a script waits for a response that is due now."""
        return bool(self._requested or self._receiving)

    @property
    def delayed(self) -> bool:
        """Whether responses wait for their game time."""
        return bool(self._delayed)

    @property
    def pending(self) -> bool:
        """Whether anything is in flight to a page."""
        return bool(self._unanswered or self._delayed or self.requested)

    def delays_document(self, page: Page) -> bool:
        """Whether a page's next document is delayed."""
        return any(each[2] is page and each[3].get("frameId") == page.id for each in self._delayed)

    def release(self, now: float) -> None:
        """Deliver the responses whose time has come."""
        while self._delayed and self._delayed[0][0] <= now:
            _, _, page, payload, response = heapq.heappop(self._delayed)
            self._fulfill(page, payload, response)

    async def wait_for_deliveries(self) -> None:
        """Wait until pages have got the delivered responses, with a time limit."""
        try:
            async with asyncio.timeout(DELIVERY_SECONDS):
                while self._delivering or self._unanswered:
                    self._delivered.clear()
                    await self._delivered.wait()
        except TimeoutError:
            self._delivering.clear()

    async def wait_for_requested(self) -> None:
        """Wait until scripts have got the responses that are due now, with a time limit."""
        for waited, seconds in ((self._requested, DELIVERY_SECONDS), (self._receiving, BODY_SECONDS)):
            try:
                async with asyncio.timeout(seconds):
                    while waited:
                        self._delivered.clear()
                        await self._delivered.wait()
            except TimeoutError:
                waited.clear()

    def on_request_sent(self, payload: CdpPayload) -> None:
        """A page sent a request. The renderer reports this in order with its frames, before the request arrives
        here."""
        if payload.get("type") in SCRIPTED:
            self._requested.add(payload["requestId"])

    def on_response_received(self, request: str) -> None:
        """A page has received the start of a response, at which `fetch` resolves."""
        if request in self._requested:
            self._requested.discard(request)
            self._receiving.add(request)
            self._delivered.set()

    def on_loading_finished(self, request: str) -> None:
        """A page has received a complete response, or cancelled it."""
        for waited in (self._delivering, self._requested, self._receiving):
            waited.discard(request)
        self._delivered.set()

    def forget(self, page: Page) -> None:
        """Drop all requests of a closed page."""
        self._delayed = [each for each in self._delayed if each[2] is not page]
        heapq.heapify(self._delayed)
        for waited in (self._delivering, self._requested, self._receiving):
            waited.clear()
        self._delivered.set()

    async def answer(self, page: Page, payload: CdpPayload) -> None:
        """Answer one request."""
        self.count += 1
        self._unanswered += 1
        try:
            response = await self._response(page, _request(payload))
            if response.delay_ms > 0:
                self._requested.discard(payload.get("networkId", ""))
                due = self._session.now_ms + response.delay_ms
                heapq.heappush(self._delayed, (due, next(self._numbers), page, payload, response))
                self._on_delayed()
                self._session.page_changed.set()
            else:
                self._fulfill(page, payload, response)
        except BrowserFailed:
            return  # the page was closed
        finally:
            self._unanswered -= 1
            self._delivered.set()

    async def _response(self, page: Page, request: Request) -> Response:
        if self._unanswered + len(self._delayed) > MAX_PENDING:
            self._session.report_event("request_refused", f"{request.url}: too many requests wait", page)
            return Response(failure="InsufficientResources")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                response = await self._site.answer(request)
        except Exception as error:  # noqa: BLE001 - a site's mistake is a failed request, not the session's end
            self._session.report_event("request_failed", f"{request.url}: {type(error).__name__}: {error}", page)
            return Response(failure="Failed")
        if response.failure or response.status >= 400:
            word = response.failure or str(response.status)
            self._session.report_event("request_failed", f"{request.url}: {word}", page, word=word)
        if len(response.body) > MAX_BODY:
            return Response(failure="InsufficientResources")
        if request.kind == "Other" and _is_script(response):
            return self._with_prelude(response)
        return response

    def _with_prelude(self, response: Response) -> Response:
        """A worker's script with the prelude in front, also before its imports."""
        prelude = self._prelude().encode()
        if STATIC_IMPORT in response.body and any(
            line.lstrip().startswith(STATIC_IMPORT) and not line.lstrip().startswith((b"importScripts", b"import("))
            for line in response.body.splitlines()
        ):
            packed = base64.b64encode(prelude).decode()
            prelude = f'import "data:text/javascript;base64,{packed}";'.encode()
        headers = {name: text for name, text in response.headers.items() if name.lower() != "content-length"}
        return Response(response.status, prelude + response.body, headers, response.delay_ms)

    def _fulfill(self, page: Page, payload: CdpPayload, response: Response) -> None:
        if response.failure:
            page.send("Fetch.failRequest", requestId=payload["requestId"], errorReason=response.failure)
            return
        if payload.get("resourceType") == "Document":
            response = self._prepare_document(response)
        elif "networkId" in payload:
            self._delivering.add(payload["networkId"])
        page.send(
            "Fetch.fulfillRequest",
            requestId=payload["requestId"],
            responseCode=response.status,
            responseHeaders=[{"name": name, "value": text} for name, text in response.headers.items()],
            body=base64.b64encode(response.body).decode(),
        )


def _is_script(response: Response) -> bool:
    return any(name.lower() == "content-type" and "javascript" in text for name, text in response.headers.items())


def _request(payload: CdpPayload) -> Request:
    request = payload["request"]
    parts = request.get("postDataEntries") or ()
    body = b"".join(base64.b64decode(part.get("bytes", "")) for part in parts)
    return Request(request["method"], request["url"], request["headers"], body, payload.get("resourceType", "Other"))
