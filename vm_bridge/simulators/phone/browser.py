"""The browser that is the phone's screen: one page, driven over the pipe of Chromium's debugging protocol."""

import asyncio
import itertools
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

CALL_SECONDS = 10.0
LOAD_SECONDS = 5.0
START_SECONDS = 30.0
MAX_MESSAGE = 32 * 1024 * 1024
READ, WRITE = 3, 4
"""The descriptors on which the browser expects its pipe."""
WAIT_DRAWN_SCRIPT = """(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  while (!window.phone) await frame();
  await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
  await frame();
  await frame();
})()"""
"""Ends when an app's page has started and everything it shows is on the screen."""
REDIRECT_SCRIPT = f'in=$1; out=$2; shift 2; exec "$@" {READ}<&$in {WRITE}>&$out'
"""Puts the ends of a pipe where the browser expects them; only bash takes numbers of several digits. Its arguments are
data, never text."""

Message = dict[str, Any]


class BrowserError(Exception):
    """The browser refused a call, did not answer, or has ended."""


class Browser:
    """A running browser and its one page."""

    def __init__(self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, write: int) -> None:
        self._process, self._reader, self._write = process, reader, write
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._session: str | None = None
        self._frame = ""
        """The page's own frame; its name is the target's."""
        self._page: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._loaded = asyncio.Event()
        self.url = ""
        """The address the page shows."""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, command: Sequence[str]) -> "Browser":
        """Start it, and attach to its page once that is there. Raises BrowserError."""
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *("/bin/bash", "-c", REDIRECT_SCRIPT, "plumb", str(theirs_in), str(theirs_out)),
                *(*command, "--remote-debugging-pipe"),
                pass_fds=(theirs_in, theirs_out),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        reader = asyncio.StreamReader(limit=MAX_MESSAGE)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours_in, "rb", 0))
        browser = cls(process, reader, ours_out)
        await browser._attach()
        return browser

    async def call(self, method: str, *, seconds: float = CALL_SECONDS, **parameters: Any) -> Message:
        """One call to the page, or to the browser before a page is attached. Raises BrowserError."""
        number = next(self._numbers)
        message: Message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            os.write(self._write, json.dumps(message).encode() + b"\0")
            async with asyncio.timeout(seconds):
                return await answer
        except (OSError, TimeoutError) as error:
            raise BrowserError(f"{method}: {error or 'no answer'}") from error
        finally:
            self._waiting.pop(number, None)

    async def show(self, url: str) -> None:
        """Open an address and wait until its page is drawn. Raises BrowserError."""
        answer = await self.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise BrowserError(f"{url}: {answer['errorText']}")
        if "loaderId" in answer:  # else only the fragment of the address changed
            self._loaded.clear()
        await self.drawn()

    async def drawn(self) -> None:
        """Returns when the page has drawn what it was told; where that made it go elsewhere, when that is drawn."""
        left = True
        while left:
            with suppress(BrowserError):  # the page that was asked has gone
                await self.evaluate(WAIT_DRAWN_SCRIPT)
            left = not self._loaded.is_set()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOAD_SECONDS):
                    await self._loaded.wait()
            self._loaded.set()

    async def evaluate(self, expression: str) -> Any:
        """The value of some script in the page. Raises BrowserError."""
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"].get("text")))
        return answer["result"].get("value")

    async def ended(self) -> None:
        """Returns when the browser has ended."""
        await self._process.wait()

    async def _attach(self) -> None:
        await self.call("Target.setDiscoverTargets", discover=True, seconds=START_SECONDS)
        try:
            async with asyncio.timeout(START_SECONDS):
                page = await self._page
        except TimeoutError as error:
            raise BrowserError("the browser opened no page") from error
        attached = await self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = str(attached["sessionId"])
        await self.call("Page.enable")

    async def _listen(self) -> None:
        try:
            while True:
                self._take(json.loads((await self._reader.readuntil(b"\0"))[:-1]))
        except asyncio.IncompleteReadError:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(BrowserError("the browser has ended"))

    def _take(self, message: Message) -> None:
        answer = self._waiting.get(message.get("id", 0))
        if answer is not None and not answer.done():
            if "error" in message:
                answer.set_exception(BrowserError(str(message["error"].get("message"))))
            else:
                answer.set_result(message["result"])
        self._note(message.get("method", ""), message.get("params", {}))

    def _note(self, event: str, told: Message) -> None:
        match event:
            case "Target.targetCreated" if told["targetInfo"]["type"] == "page" and not self._page.done():
                self._frame = told["targetInfo"]["targetId"]
                self._page.set_result(self._frame)
            case "Page.frameRequestedNavigation" | "Page.frameStartedLoading" if told["frameId"] == self._frame:
                self._loaded.clear()
            case "Page.loadEventFired":
                self._loaded.set()
            case "Page.frameNavigated" if "parentId" not in told["frame"]:
                self.url = told["frame"]["url"] + told["frame"].get("urlFragment", "")
            case "Page.navigatedWithinDocument":
                self.url = told["url"]
