"""One page of a session: its state, and calls to it."""

import asyncio
import json
from typing import Any

from vm_bridge.browser.document_state import DocumentState
from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, ScriptFailed
from vm_bridge.browser.files import FileChooserRequest
from vm_bridge.browser.pipe import CALL_SECONDS, CdpPayload, Pipe, within_timeout

SCRIPT_SECONDS = 10.0
MAX_SCRIPT_RESULT = 4 * 1024 * 1024
"""Longest text that a script may return."""
TO_JSON = f"""function () {{
  const text = JSON.stringify(this) ?? "null";
  if (text.length > {MAX_SCRIPT_RESULT}) throw new RangeError("a script gave more than {MAX_SCRIPT_RESULT} characters");
  return text;
}}"""


class Page:
    """A tab or a window."""

    def __init__(self, pipe: Pipe, target: str, session: str, opener: str, *, window: bool = False) -> None:
        self.id = target
        """Chromium's target id; also the id of its main frame."""
        self.url, self.title = "about:blank", ""
        self.opener, self.session = opener, session
        self.window = window
        """Whether another page opened it; the opener is not always reported."""
        self.loading = False
        """Whether it is loading. The browser reports this at an arbitrary real time."""
        self.navigating = False
        """Whether a navigation was requested and has not begun."""
        self.submitting = False
        """Whether the navigation is a form submission, which the browser sends only when time passes."""
        self.awaiting_first_frame = True
        """Whether its document has not been drawn yet; until then the browser drops input."""
        self.state = DocumentState()
        """Its document's state at the last drawn frame."""
        self.drawn = False
        """Whether it has drawn a frame since this was reset to False."""
        self.crashed = False
        self.ready = asyncio.Event()
        """Set when everything that must precede its first script was sent."""
        self.closed = asyncio.Event()
        self.contexts: dict[int, str] = {}
        """Execution contexts of its frames' own scripts: the frame of each context."""
        self.chooser: FileChooserRequest | None = None
        """Its unanswered file chooser request."""
        self.isolated_world: int | None = None
        """The context of scripts that pages cannot see."""
        self._pipe = pipe

    @property
    def busy(self) -> bool:
        """Whether it is navigating, or has not loaded its document. The document reports loading with each frame, so
        that waiting takes the same time in every run.
        """
        loading = not self.state.loaded if self.state.frame_count else self.loading
        return loading or self.navigating or self.awaiting_first_frame

    def on_frame_drawn(self, state: DocumentState) -> None:
        """Store the state that its document reports, with a frame or on request."""
        if state.frame_count > self.state.frame_count:
            self.drawn, self.awaiting_first_frame = True, False
        self.state, self.title = state, state.title

    def send(self, method: str, **parameters: Any) -> "asyncio.Future[CdpPayload]":
        return self._pipe.send(method, self.session, **parameters)

    async def call(self, method: str, *, seconds: float = CALL_SECONDS, **parameters: Any) -> CdpPayload:
        """Raises BrowserFailed."""
        return await within_timeout(self.send(method, **parameters), method, seconds)

    def ask(self, expression: str, context: int | None = None) -> "asyncio.Future[CdpPayload]":
        """Evaluate an expression in a context, by default its main frame's; `evaluation_value` reads the answer."""
        more = {} if context is None else {"contextId": context}
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, **more)

    async def evaluate(self, expression: str, *, world: str = "main", seconds: float = SCRIPT_SECONDS) -> Any:
        """The value of a script, or of the promise it returns. Raises ScriptFailed, and BrowserEnded, which is not the
        script's fault.
        """
        try:
            context = await self._own() if world == "own" else None
            more = {} if context is None else {"contextId": context}
            options = {"expression": expression, "awaitPromise": True, "timeout": 1000 * seconds} | more
            payload = await self.call("Runtime.evaluate", **options, seconds=seconds + 1)
            evaluation_value(payload)
            if "objectId" not in payload["result"]:
                return payload["result"].get("value")
            return await self._read(payload["result"]["objectId"])
        except (BrowserEnded, ScriptFailed):
            raise
        except BrowserFailed as failed:
            raise ScriptFailed(str(failed)) from failed

    async def _read(self, thing: str) -> Any:
        """The JSON value of an object, if it is not too long. Raises BrowserFailed."""
        payload = await self.call(
            "Runtime.callFunctionOn", objectId=thing, functionDeclaration=TO_JSON, returnByValue=True
        )
        self.send("Runtime.releaseObject", objectId=thing)
        try:
            return json.loads(evaluation_value(payload))
        except (ValueError, TypeError, RecursionError) as error:  # pages may replace `JSON.stringify`
            raise BrowserFailed(f"a script gave no JSON: {type(error).__name__}") from error

    async def _own(self) -> int:
        if self.isolated_world is None:
            made = await self.call("Page.createIsolatedWorld", frameId=self.id, worldName="pilothouse")
            self.isolated_world = int(made["executionContextId"])
        return self.isolated_world


def evaluation_value(answer: CdpPayload) -> Any:
    """The value of an evaluation. Raises ScriptFailed."""
    if details := answer.get("exceptionDetails"):
        thrown = details.get("exception", {})
        raise ScriptFailed(str(thrown.get("description") or thrown.get("value") or details.get("text"))[:2000])
    return answer["result"].get("value")
