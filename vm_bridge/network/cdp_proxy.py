"""Chromium's debugging protocol for who leased a browser: the pages of the leased session, and nothing that rules the
browser, its other sessions, or its time."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vm_bridge.api.wire import ProgramLog, ProgramMessage
from vm_bridge.browser import BrowserFailed, Session

CdpMessage = dict[str, Any]
ALLOWED_DOMAINS = frozenset(
    {
        *("Accessibility", "CSS", "Console", "DOM", "DOMSnapshot", "Debugger", "Emulation", "Input", "Log", "Network"),
        *("Overlay", "Page", "Performance", "Runtime"),
    }
)
"""Of what a page may be asked."""
DENIED_METHODS = frozenset(
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
IGNORED_METHODS = frozenset({"Browser.setDownloadBehavior", "Browser.close", "Target.setDiscoverTargets"})
"""Asked for by common clients, and answered as if done."""
IGNORED_PAGE_METHODS = frozenset({"Audits.enable", "WebMCP.enable"})
BROWSER_METHODS = frozenset(
    {"Browser.getVersion", "Target.getBrowserContexts", "Target.getTargets", "Target.setAutoAttach"}
)
"""Asked of the browser, and answered for the leased session alone."""
ALLOWED_SCHEMES = ("http", "https", "about")
NOT_ALLOWED, NOT_FOUND, FAILED = -32000, -32001, -32603
MAX_QUEUED_MESSAGES = 4_000
"""Maximum queued messages of a client; a slower client is disconnected."""
MAX_LOGGED_CHARACTERS = 4_000
"""Longest part of a message that is logged (characters)."""
MAX_LOG_BYTES = 32 * 2**20


class CdpLog:
    """What clients sent in one episode, one JSON object a line; it ends at its bound with a word about it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._size = file.stat().st_size if file.exists() else 0

    def note(self, time_ms: float, message: str, *, refused: bool) -> None:
        """Write one down, with the page's time."""
        if self._size > MAX_LOG_BYTES:
            return
        line = json.dumps({"time_ms": time_ms, "message": message[:MAX_LOGGED_CHARACTERS], "refused": refused})
        if self._size + len(line) > MAX_LOG_BYTES:
            line = json.dumps({"time_ms": time_ms, "message": "the log is full", "refused": False})
            self._size = MAX_LOG_BYTES
        with self._file.open("a", encoding="utf-8") as file:
            self._size += file.write(line + "\n")


def read_cdp_log(file: Path, *, after: int, most: int) -> ProgramLog:
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


class CdpProxyClient:
    """One client's end. What it is to be told is taken from `told`; `full` is set when it reads too slowly."""

    def __init__(self, session: Session, log: CdpLog) -> None:
        self.messages: asyncio.Queue[CdpMessage] = asyncio.Queue(MAX_QUEUED_MESSAGES)
        self.overflowed = asyncio.Event()
        self._session, self._log = session, log
        self._pipe = session.engine.pipe
        self._root = ""
        self._open: dict[str, str] = {}
        """Targets by the sessions in which the client speaks to them."""
        self._attached: set[str] = set()
        self._auto_attach = False

    async def begin(self) -> None:
        """A browser session of its own, through which only its own targets are seen. Raises BrowserFailed."""
        self._root = str((await self._pipe.call("Target.attachToBrowserTarget"))["sessionId"])
        self._pipe.listen(self._root, self._on_browser_event)
        await self._pipe.call("Target.setDiscoverTargets", self._root, discover=True)

    async def end(self) -> None:
        """Let go of everything. Idempotent."""
        for session in (*self._open, self._root):
            self._pipe.forget(session)
        self._open.clear()
        root, self._root = self._root, ""
        if root:
            self._pipe.send("Target.detachFromTarget", sessionId=root)

    async def handle_message(self, text: str) -> None:
        """Execute a message's command if it is allowed. The answer is queued with the other messages."""
        try:
            message = json.loads(text)
            number, method, session = int(message["id"]), str(message["method"]), str(message.get("sessionId", ""))
            given = dict(message.get("params") or {})
        except (ValueError, TypeError, KeyError):
            self._log.note(self._session.now_ms, text, refused=True)
            return self._send({"error": {"code": NOT_ALLOWED, "message": "this is no message of the protocol"}})
        why = self._denial_reason(method, session, given)
        self._log.note(self._session.now_ms, text, refused=bool(why))
        about: CdpMessage = {"id": number, **({"sessionId": session} if session else {})}
        if why:
            code = NOT_FOUND if session and session not in self._open else NOT_ALLOWED
            return self._send({**about, "error": {"code": code, "message": f"{method}: {why}"}})
        try:
            result = await (self._page(method, session, given) if session else self._browser(method, given))
        except BrowserFailed as failure:
            return self._send({**about, "error": {"code": FAILED, "message": str(failure)}})
        self._send({**about, "result": result})

    # --- what is asked

    def _denial_reason(self, method: str, session: str, given: Mapping[str, Any]) -> str:
        """Empty where it may be done."""
        if session:
            return self._page_denial_reason(method, session, given)
        if method in IGNORED_METHODS or method in BROWSER_METHODS:
            return ""
        if method in ("Target.getTargetInfo", "Target.attachToTarget", "Target.activateTarget", "Target.closeTarget"):
            target = given.get("targetId")
            own = target is None if method == "Target.getTargetInfo" else False
            return "" if own or target in self._targets() else "there is no such target"
        if method == "Target.createTarget":
            return _address_error(given.get("url"))
        return "not for who leases a session"

    def _page_denial_reason(self, method: str, session: str, given: Mapping[str, Any]) -> str:
        if session not in self._open:
            return "there is no such session"
        if {"method", "session"} & given.keys() or method in DENIED_METHODS:
            return "not for who leases a session"
        if method in IGNORED_PAGE_METHODS or method in ("Target.setAutoAttach", "Target.detachFromTarget"):
            return ""
        if method == "Page.navigate":
            return _address_error(given.get("url"))
        return "" if method.partition(".")[0] in ALLOWED_DOMAINS else "not for who leases a session"

    async def _browser(self, method: str, given: CdpMessage) -> CdpMessage:
        """Raises BrowserFailed."""
        if method in IGNORED_METHODS:
            return {}
        if method == "Target.getBrowserContexts":
            return {"browserContextIds": [self._session.context]}
        if method == "Target.setAutoAttach":
            self._auto_attach = bool(given.get("autoAttach"))
            for page in self._session.pages if self._auto_attach else ():
                await self._attach(page.id)
            return {}
        if method == "Target.attachToTarget":
            return await self._pipe.call(method, self._root, targetId=given["targetId"], flatten=True)
        if method == "Target.createTarget":
            exact = self._session.clock == "exact"
            messages: CdpMessage = {"url": given["url"], "browserContextId": self._session.context}
            return await self._pipe.call(method, self._root, enableBeginFrameControl=exact, **messages)
        result = await self._pipe.call(method, self._root, **given)
        if method == "Target.getTargets":
            result["targetInfos"] = [info for info in result["targetInfos"] if info["targetId"] in self._targets()]
        return result

    async def _page(self, method: str, session: str, given: CdpMessage) -> CdpMessage:
        """Raises BrowserFailed."""
        if method in IGNORED_PAGE_METHODS:
            return {}
        if method == "Target.setAutoAttach" and given.get("autoAttach"):
            given |= {"flatten": True}
        return await self._pipe.call(method, session, **given)

    async def _attach(self, target: str) -> None:
        if target not in self._attached:
            self._attached.add(target)
            await self._pipe.call("Target.attachToTarget", self._root, targetId=target, flatten=True)

    # --- what is told

    def _on_browser_event(self, event: str, messages: CdpMessage) -> None:
        if event == "Target.attachedToTarget":
            self._on_attached("", messages)
        elif event == "Target.detachedFromTarget":
            self._on_detached("", messages)
        elif event == "Target.targetCreated" and self._auto_attach and self._is_own_target(messages["targetInfo"]):
            target = messages["targetInfo"]["targetId"]
            if messages["targetInfo"]["type"] == "page" and target not in self._attached:
                self._attached.add(target)
                self._pipe.send("Target.attachToTarget", self._root, targetId=target, flatten=True)

    def _on_page_event(self, session: str, event: str, messages: CdpMessage) -> None:
        if event == "Target.attachedToTarget":
            self._on_attached(session, messages)
        elif event == "Target.detachedFromTarget":
            self._on_detached(session, messages)
        else:
            self._send_soon({"method": event, "params": messages, "sessionId": session})

    def _on_attached(self, above: str, messages: CdpMessage) -> None:
        session = str(messages["sessionId"])
        self._open[session] = str(messages["targetInfo"]["targetId"])
        self._pipe.listen(session, lambda event, more: self._on_page_event(session, event, more))
        self._send_soon({"method": "Target.attachedToTarget", "params": messages, **_session_field(above)})

    def _on_detached(self, above: str, messages: CdpMessage) -> None:
        session = str(messages["sessionId"])
        self._attached.discard(self._open.pop(session, ""))
        self._pipe.forget(session)
        self._send_soon({"method": "Target.detachedFromTarget", "params": messages, **_session_field(above)})

    def _is_own_target(self, info: Mapping[str, Any]) -> bool:
        return info.get("browserContextId") == self._session.context

    def _targets(self) -> set[str]:
        return {page.id for page in self._session.pages} | set(self._open.values())

    def _send_soon(self, event: CdpMessage) -> None:
        """An answer that came before it is on its way through the loop, and must not be overtaken."""
        asyncio.get_running_loop().call_soon(self._send, event)

    def _send(self, message: CdpMessage) -> None:
        try:
            self.messages.put_nowait(message)
        except asyncio.QueueFull:
            self.overflowed.set()


def _session_field(session: str) -> CdpMessage:
    return {"sessionId": session} if session else {}


def _address_error(address: object) -> str:
    return (
        ""
        if urlsplit(str(address or "about:blank")).scheme in ALLOWED_SCHEMES
        else "an address is http, https or about"
    )
