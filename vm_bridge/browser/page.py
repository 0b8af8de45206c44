"""One page of a session: what is known of it, and calls to it."""

import asyncio
from typing import Any

from vm_bridge.browser.errors import BrowserFailed, ScriptFailed
from vm_bridge.browser.pipe import Pipe, Told, bounded

SCRIPT_SECONDS = 5.0
MOST_SCRIPT = 4 * 1024 * 1024
"""Longest value a script may give (characters of JSON)."""


class Page:
    """A tab or a window."""

    def __init__(self, pipe: Pipe, target: str, session: str, opener: str) -> None:
        self.id = target
        """The name Chromium has for it; also that of its own frame."""
        self.url, self.title = "about:blank", ""
        self.opener = opener
        self.loading = False
        self.fresh = True
        """Whether its document has not been drawn yet; until then the browser drops input."""
        self.crashed = False
        self.ready = asyncio.Event()
        """Set when everything was told to it that must precede its first script."""
        self.closed = asyncio.Event()
        self.own_world: int | None = None
        """The context of scripts that pages cannot see."""
        self.session = session
        self._pipe = pipe

    def send(self, method: str, **parameters: Any) -> "asyncio.Future[Told]":
        return self._pipe.send(method, self.session, **parameters)

    async def call(self, method: str, *, seconds: float = 20.0, **parameters: Any) -> Told:
        """Raises BrowserFailed."""
        return await bounded(self.send(method, **parameters), method, seconds)

    async def evaluate(self, expression: str, *, world: str = "main", seconds: float = SCRIPT_SECONDS) -> Any:
        """The value of a script, or of the promise it gives. Raises ScriptFailed."""
        asked: Told = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": False}
        try:
            if world == "own":
                asked["contextId"] = await self._own()
            answer = await self.call("Runtime.evaluate", seconds=seconds, timeout=1000 * seconds, **asked)
        except BrowserFailed as failed:
            raise ScriptFailed(str(failed)) from failed
        return value(answer)

    async def _own(self) -> int:
        if self.own_world is None:
            made = await self.call("Page.createIsolatedWorld", frameId=self.id, worldName="pilothouse")
            self.own_world = int(made["executionContextId"])
        return self.own_world


def value(answer: Told) -> Any:
    """What an evaluation gave. Raises ScriptFailed."""
    if details := answer.get("exceptionDetails"):
        thrown = details.get("exception", {})
        raise ScriptFailed(str(thrown.get("description") or thrown.get("value") or details.get("text"))[:2000])
    return answer["result"].get("value")
