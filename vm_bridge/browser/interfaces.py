"""Interfaces between the components of a session, so that none of them imports the session."""

import asyncio
from typing import Any, Literal, Protocol

from vm_bridge.browser.clocks import Clock
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import CdpPayload, Pipe


class SessionInterface(Protocol):
    """What clocks, requests and events need from their session: its pages, its time, and event reports."""

    start_time: float
    popup_blocked: bool
    page_changed: asyncio.Event

    @property
    def active(self) -> Page:
        """See `Session.active`."""
        ...

    @property
    def pages(self) -> tuple[Page, ...]: ...

    @property
    def now_ms(self) -> float:
        """Game time since the start."""
        ...

    def page(self, page_id: str) -> Page | None: ...

    def check(self) -> Page:
        """See `Session.check`. Raises BrowserFailed."""
        ...

    def report_event(self, kind: str, text: str, page: Page, **more: str) -> None:
        """See `Session.report_event`."""
        ...

    async def wait_for_navigations(self, *, submissions: bool = True) -> None:
        """See `Session.wait_for_navigations`."""
        ...

    async def await_script_result(self, page: Page, answer: "asyncio.Future[CdpPayload]") -> Any:
        """See `Session.await_script_result`. Raises PageHung, BrowserEnded."""
        ...

    async def close(self) -> None:
        """End the session. Idempotent."""
        ...


class PendingRequests(Protocol):
    """What a clock needs from a session's requests."""

    count: int
    """Number of requests so far."""

    @property
    def requested(self) -> bool:
        """Whether a script waits for a response that is due now."""
        ...

    @property
    def delayed(self) -> bool:
        """Whether responses wait for their game time."""
        ...

    @property
    def pending(self) -> bool:
        """Whether anything is in flight to a page."""
        ...

    def release(self, now: float) -> None:
        """Deliver the responses whose time has come."""
        ...

    async def wait_for_requested(self) -> None:
        """Wait until scripts have got the responses that are due now, with a time limit."""
        ...

    async def wait_for_deliveries(self) -> None:
        """Wait until pages have got the delivered responses, with a time limit."""
        ...


class ScreenshotSource(Protocol):
    """What a frame stream needs: pictures of the active page."""

    async def picture(self, kind: Literal["jpeg", "png"], quality: int, *, passive: bool) -> bytes:
        """See `Session.picture`. Raises BrowserFailed."""
        ...


class EngineInterface(Protocol):
    """What a session needs from its browser."""

    clock: Clock
    drawing: asyncio.Lock
    """Held while a frame is drawn."""

    @property
    def died(self) -> asyncio.Event:
        """Set when the process has ended."""
        ...

    @property
    def pid(self) -> int: ...

    @property
    def sessions(self) -> int:
        """Number of sessions."""
        ...

    @property
    def pipe(self) -> Pipe: ...

    async def dispose_session(self, context: str) -> None:
        """See `Engine.dispose_session`. Idempotent."""
        ...
