"""What the browser tells of a session's pages, and what becomes of it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.files import Chooser
from vm_bridge.browser.look import DREW, Look
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import Told

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

MOST_PAGES = 12
"""Pages a session may have; more are closed as they open."""
MOST_CONSOLE = 300
"""Messages of one page that are heard; a page that says more is not listened to any longer."""
LEVELS = frozenset({"error", "warning", "assert"})
"""Console messages that are reported."""


class News:
    """The events of one session."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._console: dict[str, int] = {}
        self._answers: dict[str, Callable[[Page, Told], None]] = {
            "Fetch.requestPaused": lambda page, told: self.do(session.answers.answer(page, told)),
            "Network.loadingFinished": lambda page, told: session.answers.finished(told["requestId"]),
            "Network.loadingFailed": lambda page, told: session.answers.finished(told["requestId"]),
            "Runtime.executionContextCreated": self._context,
            "Runtime.executionContextDestroyed": lambda page, told: self._context_gone(page, told),
            "Runtime.executionContextsCleared": lambda page, told: page.contexts.clear(),
            "Runtime.bindingCalled": self._drew,
            "Runtime.consoleAPICalled": self._said,
            "Runtime.exceptionThrown": self._threw,
            "Page.frameRequestedNavigation": self._leaves,
            "Page.frameStartedNavigating": self._goes,
            "Page.frameStartedLoading": self._loads,
            "Page.frameStoppedLoading": self._loaded,
            "Page.frameNavigated": self._navigated,
            "Page.navigatedWithinDocument": self._moved,
            "Page.javascriptDialogOpening": self._dialog,
            "Page.fileChooserOpened": self._chooser,
            "Inspector.targetCrashed": lambda page, told: self.crashed(page),
        }
        self._tasks: set[asyncio.Task[None]] = set()

    def page(self, page: Page, event: str, told: Told) -> None:
        """An event of a page."""
        if answer := self._answers.get(event):
            answer(page, told)
            self._session.news.set()

    def keeper(self, event: str) -> None:
        """An event of the page that keeps time."""
        if event == "Emulation.virtualTimeBudgetExpired":
            self._session.time.expired()

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done beside; it ends with the session."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def close(self) -> None:
        """End what is being done."""
        for task in self._tasks:
            task.cancel()

    def crashed(self, page: Page) -> None:
        """A page's renderer has died, and with it those of all the session's pages."""
        if page.crashed:
            return
        page.crashed = True
        self._session.happen("crashed", page.url, page)
        self._session.time.broke(BrowserFailed("the page has crashed"))

    def download(self, told: Told) -> None:
        """A page wanted to save a file; it was not let."""
        page = self._session.page(told["frameId"]) or self._session.active
        page.leaving = page.loading = False
        name = str(told.get("suggestedFilename", ""))
        self._session.happen("download", f"{name} from {told.get('url', '')[:300]}", page, name=name[:200])

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, BrowserFailed):
            raise error

    def _context(self, page: Page, told: Told) -> None:
        context = told["context"]
        about = context.get("auxData", {})
        if about.get("isDefault"):
            page.contexts[context["id"]] = about["frameId"]

    def _context_gone(self, page: Page, told: Told) -> None:
        page.contexts.pop(told["executionContextId"], None)

    def _drew(self, page: Page, told: Told) -> None:
        if told["name"] == DREW and (look := Look.read(told["payload"])):
            page.drew(look)
            self._session.time.drew(page)

    def _said(self, page: Page, told: Told) -> None:
        if not self._heard(page) or told["type"] not in LEVELS:
            return
        words = " ".join(str(each.get("value", each.get("description", ""))) for each in told["args"][:8])
        self._session.happen("console", words, page, level=told["type"])

    def _threw(self, page: Page, told: Told) -> None:
        if not self._heard(page):
            return
        details = told["exceptionDetails"]
        words = details.get("exception", {}).get("description") or details.get("text", "")
        self._session.happen("page_error", str(words), page)

    def _heard(self, page: Page) -> bool:
        count = self._console[page.id] = self._console.get(page.id, 0) + 1
        if count == MOST_CONSOLE:
            self._session.happen("console", "it says too much and is not heard any longer", page, level="error")
            page.send("Runtime.disable")
        return count < MOST_CONSOLE

    def _leaves(self, page: Page, told: Told) -> None:
        if told["frameId"] == page.id and told.get("disposition", "currentTab") == "currentTab":
            page.leaving = True

    def _goes(self, page: Page, told: Told) -> None:
        if told["frameId"] == page.id and "ameDocument" not in told.get("navigationType", ""):
            page.leaving = True

    def _loads(self, page: Page, told: Told) -> None:
        if told["frameId"] == page.id:
            page.loading = True

    def _loaded(self, page: Page, told: Told) -> None:
        if told["frameId"] == page.id:
            page.loading = page.leaving = False

    def _navigated(self, page: Page, told: Told) -> None:
        frame = told["frame"]
        if frame["id"] != page.id:
            return
        page.url = frame["url"] + frame.get("urlFragment", "")
        page.fresh, page.leaving, page.own_world, page.look = True, False, None, Look()
        page.chooser = None
        self._session.happen("navigated", page.url, page)

    def _moved(self, page: Page, told: Told) -> None:
        if told["frameId"] == page.id:
            page.url = told["url"]
            page.leaving = False

    def _dialog(self, page: Page, told: Told) -> None:
        """Every question is answered yes, as the eager do: nobody can see it."""
        answer = {"promptText": told.get("defaultPrompt", "")} if told["type"] == "prompt" else {}
        page.send("Page.handleJavaScriptDialog", accept=True, **answer)
        self._session.happen("dialog", told.get("message", ""), page, type=told["type"])

    def _chooser(self, page: Page, told: Told) -> None:
        field = int(told.get("backendNodeId", 0))
        page.chooser = Chooser(field, told.get("mode") == "selectMultiple") if field else None
        self._session.happen("file_chooser", "the page asks for a file", page, mode=told.get("mode", ""))
