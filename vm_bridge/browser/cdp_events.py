"""Handles the CDP events of a session's pages."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from vm_bridge.browser.clocks import PageClock
from vm_bridge.browser.document_state import FRAME_BINDING, DocumentState
from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.files import FileChooserRequest
from vm_bridge.browser.interfaces import SessionInterface
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import CdpPayload
from vm_bridge.browser.request_interception import RequestInterceptor

MAX_PAGES = 12
"""Maximum pages per session; further pages are closed as they open."""
MAX_CONSOLE = 300
"""Console messages and script errors of one page after which later ones are ignored."""
CONSOLE_LEVELS = frozenset({"error", "warning", "assert"})
"""Levels of console messages that are reported."""


class CdpEventHandler:
    """The events of one session."""

    def __init__(self, session: SessionInterface, clock: PageClock, interceptor: RequestInterceptor) -> None:
        self._session, self._clock = session, clock
        self._console: dict[str, int] = {}
        self._handlers: dict[str, Callable[[Page, CdpPayload], None]] = {
            "Fetch.requestPaused": lambda page, payload: self.do(interceptor.answer(page, payload)),
            "Network.requestWillBeSent": lambda page, payload: interceptor.on_request_sent(payload),
            "Network.responseReceived": lambda page, payload: interceptor.on_response_received(payload["requestId"]),
            "Network.loadingFinished": lambda page, payload: interceptor.on_loading_finished(payload["requestId"]),
            "Network.loadingFailed": lambda page, payload: interceptor.on_loading_finished(payload["requestId"]),
            "Runtime.executionContextCreated": self._on_context_created,
            "Runtime.executionContextDestroyed": lambda page, payload: self._on_context_destroyed(page, payload),
            "Runtime.executionContextsCleared": lambda page, payload: page.contexts.clear(),
            "Runtime.bindingCalled": self._on_frame_binding,
            "Runtime.consoleAPICalled": self._on_console_message,
            "Runtime.exceptionThrown": self._on_exception,
            "Page.frameRequestedNavigation": self._on_navigation_requested,
            "Page.frameStartedNavigating": self._on_navigation_started,
            "Page.frameStartedLoading": self._on_loading_started,
            "Page.frameStoppedLoading": self._on_loading_stopped,
            "Page.frameNavigated": self._on_navigated,
            "Page.navigatedWithinDocument": self._on_same_document_navigation,
            "Page.javascriptDialogOpening": self._on_dialog,
            "Page.fileChooserOpened": self._on_file_chooser,
            "Inspector.targetCrashed": lambda page, payload: self.crashed(page),
        }
        self._tasks: set[asyncio.Task[None]] = set()

    def page(self, page: Page, event: str, payload: CdpPayload) -> None:
        """An event of a page."""
        if answer := self._handlers.get(event):
            answer(page, payload)
            self._session.page_changed.set()

    def clock_page(self, event: str) -> None:
        """Handle an event of the page that keeps time."""
        if event == "Emulation.virtualTimeBudgetExpired":
            self._clock.on_budget_expired()

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background. It ends with the session."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def close(self) -> None:
        """Cancel the background work."""
        for task in self._tasks:
            task.cancel()

    def crashed(self, page: Page) -> None:
        """Handle the crash of a page's renderer, which ends all the session's pages."""
        if page.crashed:
            return
        page.crashed = True
        self._session.report_event("crashed", page.url, page)
        self._clock.on_page_failed(BrowserFailed("the page has crashed"))

    def download(self, payload: CdpPayload) -> None:
        """Report a download, which is blocked."""
        page = self._session.page(payload["frameId"]) or self._session.active
        page.navigating = page.loading = False
        name = str(payload.get("suggestedFilename", ""))
        self._session.report_event("download", f"{name} from {payload.get('url', '')[:300]}", page, name=name[:200])

    def _on_task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, BrowserFailed):
            raise error

    def _on_context_created(self, page: Page, payload: CdpPayload) -> None:
        context = payload["context"]
        about = context.get("auxData", {})
        if about.get("isDefault"):
            page.contexts[context["id"]] = about["frameId"]

    def _on_context_destroyed(self, page: Page, payload: CdpPayload) -> None:
        page.contexts.pop(payload["executionContextId"], None)

    def _on_frame_binding(self, page: Page, payload: CdpPayload) -> None:
        if payload["name"] == FRAME_BINDING and (state := DocumentState.read(payload["payload"])):
            page.on_frame_drawn(state)
            self._clock.on_frame_drawn(page)

    def _on_console_message(self, page: Page, payload: CdpPayload) -> None:
        if not self._within_console_limit(page) or payload["type"] not in CONSOLE_LEVELS:
            return
        words = " ".join(str(each.get("value", each.get("description", ""))) for each in payload["args"][:8])
        self._session.report_event("console", words, page, level=payload["type"])

    def _on_exception(self, page: Page, payload: CdpPayload) -> None:
        if not self._within_console_limit(page):
            return
        details = payload["exceptionDetails"]
        words = details.get("exception", {}).get("description") or details.get("text", "")
        self._session.report_event("page_error", str(words), page)

    def _within_console_limit(self, page: Page) -> bool:
        count = self._console[page.id] = self._console.get(page.id, 0) + 1
        if count == MAX_CONSOLE:
            self._session.report_event("console", "it says too much and is not heard any longer", page, level="error")
            page.send("Runtime.disable")
        return count < MAX_CONSOLE

    def _on_navigation_requested(self, page: Page, payload: CdpPayload) -> None:
        if payload["frameId"] == page.id and payload.get("disposition", "currentTab") == "currentTab":
            page.navigating = True
            page.submitting = payload.get("reason", "").startswith("formSubmission")

    def _on_navigation_started(self, page: Page, payload: CdpPayload) -> None:
        if payload["frameId"] == page.id and "ameDocument" not in payload.get("navigationType", ""):
            page.navigating, page.submitting = True, False

    def _on_loading_started(self, page: Page, payload: CdpPayload) -> None:
        if payload["frameId"] == page.id:
            page.loading = True

    def _on_loading_stopped(self, page: Page, payload: CdpPayload) -> None:
        if payload["frameId"] == page.id:
            page.loading = page.navigating = False

    def _on_navigated(self, page: Page, payload: CdpPayload) -> None:
        frame = payload["frame"]
        if frame["id"] != page.id:
            return
        page.url = frame["url"] + frame.get("urlFragment", "")
        page.awaiting_first_frame, page.navigating, page.isolated_world, page.state = True, False, None, DocumentState()
        page.chooser = None
        self._session.report_event("navigated", page.url, page)

    def _on_same_document_navigation(self, page: Page, payload: CdpPayload) -> None:
        if payload["frameId"] == page.id:
            page.url = payload["url"]
            page.navigating = False

    def _on_dialog(self, page: Page, payload: CdpPayload) -> None:
        """Accept every dialog, because no one can see it."""
        answer = {"promptText": payload.get("defaultPrompt", "")} if payload["type"] == "prompt" else {}
        page.send("Page.handleJavaScriptDialog", accept=True, **answer)
        self._session.report_event("dialog", payload.get("message", ""), page, type=payload["type"])

    def _on_file_chooser(self, page: Page, payload: CdpPayload) -> None:
        field = int(payload.get("backendNodeId", 0))
        page.chooser = FileChooserRequest(field, payload.get("mode") == "selectMultiple") if field else None
        self._session.report_event("file_chooser", "the page asks for a file", page, mode=payload.get("mode", ""))
