"""Chromium's debugging protocol for who leased a browser: the pages of the leased session, and nothing that rules the
browser, its other sessions, or its time."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vm_bridge.browser import BrowserFailed, Session
from vm_bridge.wire import ProgramLog, ProgramMessage

Told = dict[str, Any]
DOMAINS = frozenset(
    {
        *("Accessibility", "CSS", "Console", "DOM", "DOMSnapshot", "Debugger", "Emulation", "Input", "Log", "Network"),
        *("Overlay", "Page", "Performance", "Runtime"),
    }
)
"""Of what a page may be asked."""
REFUSED = frozenset(
    {
        *(
            "Emulation.setVirtualTimePolicy",
            "Emulation.setDeviceMetricsOverride",
            "Emulation.clearDeviceMetricsOverride",
        ),
        *("Page.setDownloadBehavior", "Page.crash", "DOM.setFileInputFiles", "Page.handleFileChooser"),
    }
)
"""What would take hold of time, of the screen's size, or of files."""
EMPTY = frozenset({"Browser.setDownloadBehavior", "Browser.close", "Target.setDiscoverTargets"})
"""Asked for by common clients, and answered as if done."""
EMPTY_OF_PAGES = frozenset({"Audits.enable", "WebMCP.enable"})
OWN = frozenset({"Browser.getVersion", "Target.getBrowserContexts", "Target.getTargets", "Target.setAutoAttach"})
"""Asked of the browser, and answered for the leased session alone."""
SCHEMES = ("http", "https", "about")
NOT_ALLOWED, NOT_FOUND, FAILED = -32000, -32001, -32603
MOST_WAITING = 4_000
"""Messages on their way to a client; one that reads slower is let go."""
MOST_LOGGED = 4_000
"""Longest part of a message that is logged (characters)."""
MOST_LOG = 32 * 2**20


class CdpLog:
    """What clients sent in one episode, one JSON object a line; it ends at its bound with a word about it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._size = file.stat().st_size if file.exists() else 0

    def note(self, time_ms: float, message: str, *, refused: bool) -> None:
        """Write one down, with the page's time."""
        if self._size > MOST_LOG:
            return
        line = json.dumps({"time_ms": time_ms, "message": message[:MOST_LOGGED], "refused": refused})
        if self._size + len(line) > MOST_LOG:
            line = json.dumps({"time_ms": time_ms, "message": "the log is full", "refused": False})
            self._size = MOST_LOG
        with self._file.open("a", encoding="utf-8") as file:
            self._size += file.write(line + "\n")


def cdp_messages(file: Path, *, after: int, most: int) -> ProgramLog:
    """So many messages of a log from the one with this number; a line that is being written is none. An episode to
    whose browser no program spoke has no log, and no messages."""
    messages: list[ProgramMessage] = []
    total = 0
    with suppress(FileNotFoundError), file.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break
            if after <= total < after + most:
                messages.append(ProgramMessage.model_validate_json(line))
            total += 1
    return ProgramLog(messages=tuple(messages), total=total)


class Visitor:
    """One client's end. What it is to be told is taken from `told`; `full` is set when it reads too slowly."""

    def __init__(self, session: Session, log: CdpLog) -> None:
        self.told: asyncio.Queue[Told] = asyncio.Queue(MOST_WAITING)
        self.full = asyncio.Event()
        self._session, self._log = session, log
        self._pipe = session.engine.pipe
        self._root = ""
        self._open: dict[str, str] = {}
        """Targets by the sessions in which the client speaks to them."""
        self._attached: set[str] = set()
        self._wanted = False

    async def begin(self) -> None:
        """A browser session of its own, through which only its own targets are seen. Raises BrowserFailed."""
        self._root = str((await self._pipe.call("Target.attachToBrowserTarget"))["sessionId"])
        self._pipe.listen(self._root, self._of_browser)
        await self._pipe.call("Target.setDiscoverTargets", self._root, discover=True)

    async def end(self) -> None:
        """Let go of everything. Idempotent."""
        for session in (*self._open, self._root):
            self._pipe.forget(session)
        self._open.clear()
        root, self._root = self._root, ""
        if root:
            self._pipe.send("Target.detachFromTarget", sessionId=root)

    async def ask(self, text: str) -> None:
        """Do what a message asks, if it may be done; the answer is among what is told."""
        try:
            message = json.loads(text)
            number, method, session = int(message["id"]), str(message["method"]), str(message.get("sessionId", ""))
            given = dict(message.get("params") or {})
        except (ValueError, TypeError, KeyError):
            self._log.note(self._session.now_ms, text, refused=True)
            return self._tell({"error": {"code": NOT_ALLOWED, "message": "this is no message of the protocol"}})
        why = self._why_not(method, session, given)
        self._log.note(self._session.now_ms, text, refused=bool(why))
        about: Told = {"id": number, **({"sessionId": session} if session else {})}
        if why:
            code = NOT_FOUND if session and session not in self._open else NOT_ALLOWED
            return self._tell({**about, "error": {"code": code, "message": f"{method}: {why}"}})
        try:
            result = await (self._page(method, session, given) if session else self._browser(method, given))
        except BrowserFailed as failure:
            return self._tell({**about, "error": {"code": FAILED, "message": str(failure)}})
        self._tell({**about, "result": result})

    # --- what is asked

    def _why_not(self, method: str, session: str, given: Mapping[str, Any]) -> str:
        """Empty where it may be done."""
        if session:
            return self._why_not_page(method, session, given)
        if method in EMPTY or method in OWN:
            return ""
        if method in ("Target.getTargetInfo", "Target.attachToTarget", "Target.activateTarget", "Target.closeTarget"):
            target = given.get("targetId")
            own = target is None if method == "Target.getTargetInfo" else False
            return "" if own or target in self._targets() else "there is no such target"
        if method == "Target.createTarget":
            return _why_not_address(given.get("url"))
        return "not for who leases a session"

    def _why_not_page(self, method: str, session: str, given: Mapping[str, Any]) -> str:
        if session not in self._open:
            return "there is no such session"
        if {"method", "session"} & given.keys() or method in REFUSED:
            return "not for who leases a session"
        if method in EMPTY_OF_PAGES or method in ("Target.setAutoAttach", "Target.detachFromTarget"):
            return ""
        if method == "Page.navigate":
            return _why_not_address(given.get("url"))
        return "" if method.partition(".")[0] in DOMAINS else "not for who leases a session"

    async def _browser(self, method: str, given: Told) -> Told:
        """Raises BrowserFailed."""
        if method in EMPTY:
            return {}
        if method == "Target.getBrowserContexts":
            return {"browserContextIds": [self._session.context]}
        if method == "Target.setAutoAttach":
            self._wanted = bool(given.get("autoAttach"))
            for page in self._session.pages if self._wanted else ():
                await self._attach(page.id)
            return {}
        if method == "Target.attachToTarget":
            return await self._pipe.call(method, self._root, targetId=given["targetId"], flatten=True)
        if method == "Target.createTarget":
            exact = self._session.clock == "exact"
            told: Told = {"url": given["url"], "browserContextId": self._session.context}
            return await self._pipe.call(method, self._root, enableBeginFrameControl=exact, **told)
        result = await self._pipe.call(method, self._root, **given)
        if method == "Target.getTargets":
            result["targetInfos"] = [info for info in result["targetInfos"] if info["targetId"] in self._targets()]
        return result

    async def _page(self, method: str, session: str, given: Told) -> Told:
        """Raises BrowserFailed."""
        if method in EMPTY_OF_PAGES:
            return {}
        if method == "Target.setAutoAttach" and given.get("autoAttach"):
            given |= {"flatten": True}
        return await self._pipe.call(method, session, **given)

    async def _attach(self, target: str) -> None:
        if target not in self._attached:
            self._attached.add(target)
            await self._pipe.call("Target.attachToTarget", self._root, targetId=target, flatten=True)

    # --- what is told

    def _of_browser(self, event: str, told: Told) -> None:
        if event == "Target.attachedToTarget":
            self._enter("", told)
        elif event == "Target.detachedFromTarget":
            self._leave("", told)
        elif event == "Target.targetCreated" and self._wanted and self._ours(told["targetInfo"]):
            target = told["targetInfo"]["targetId"]
            if told["targetInfo"]["type"] == "page" and target not in self._attached:
                self._attached.add(target)
                self._pipe.send("Target.attachToTarget", self._root, targetId=target, flatten=True)

    def _of_page(self, session: str, event: str, told: Told) -> None:
        if event == "Target.attachedToTarget":
            self._enter(session, told)
        elif event == "Target.detachedFromTarget":
            self._leave(session, told)
        else:
            self._happened({"method": event, "params": told, "sessionId": session})

    def _enter(self, above: str, told: Told) -> None:
        session = str(told["sessionId"])
        self._open[session] = str(told["targetInfo"]["targetId"])
        self._pipe.listen(session, lambda event, more: self._of_page(session, event, more))
        self._happened({"method": "Target.attachedToTarget", "params": told, **_by(above)})

    def _leave(self, above: str, told: Told) -> None:
        session = str(told["sessionId"])
        self._attached.discard(self._open.pop(session, ""))
        self._pipe.forget(session)
        self._happened({"method": "Target.detachedFromTarget", "params": told, **_by(above)})

    def _ours(self, info: Mapping[str, Any]) -> bool:
        return info.get("browserContextId") == self._session.context

    def _targets(self) -> set[str]:
        return {page.id for page in self._session.pages} | set(self._open.values())

    def _happened(self, event: Told) -> None:
        """An answer that came before it is on its way through the loop, and must not be overtaken."""
        asyncio.get_running_loop().call_soon(self._tell, event)

    def _tell(self, message: Told) -> None:
        try:
            self.told.put_nowait(message)
        except asyncio.QueueFull:
            self.full.set()


def _by(session: str) -> Told:
    return {"sessionId": session} if session else {}


def _why_not_address(address: object) -> str:
    return "" if urlsplit(str(address or "about:blank")).scheme in SCHEMES else "an address is http, https or about"
