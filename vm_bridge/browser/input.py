"""Sends a person's input to a page over CDP."""

import asyncio
import base64
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

from vm_bridge.browser.clocks import PageClock
from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, PageHung
from vm_bridge.browser.files import FilePayload
from vm_bridge.browser.frame_stream import FrameStream
from vm_bridge.browser.page import Page, evaluation_value
from vm_bridge.browser.pipe import CdpPayload, within_timeout

SET_FILES_SCRIPT = """function (files) {
  if (files.length === 0) return void this.dispatchEvent(new Event("cancel", { bubbles: true }));
  const given = new DataTransfer();
  for (const [name, type, data] of files) {
    given.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name, { type }));
  }
  this.files = given.files;
  for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true }));
}"""
"""Puts files into the field it is called on, as if a person had chosen them, or had closed the chooser."""
REFRAME_SECONDS = 0.05
"""Real time after which one more frame is drawn for input that the last frame missed."""
MOUSE = "Input.dispatchMouseEvent"
Button = Literal["none", "left", "middle", "right", "back", "forward"]


class InputDispatcher(ABC):
    """The input half of a session; input goes to the active page."""

    frame_stream: FrameStream
    time: PageClock
    _buttons = 0
    """Pressed mouse buttons, as the browser's bit mask."""

    @property
    @abstractmethod
    def active(self) -> Page:
        """The page that is displayed and receives input."""

    @abstractmethod
    async def refresh(self) -> None:
        """Draw changes without advancing time."""

    @abstractmethod
    async def ensure_page(self) -> None:
        """Make sure that there is a page."""

    async def mouse(
        self, kind: str, x: float, y: float, button: Button = "none", clicks: int = 0, modifiers: int = 0
    ) -> None:
        """`kind` is moved, pressed or released; a move is drawn at once. Raises BrowserFailed."""
        await self._input(MOUSE, self._mouse(kind, x, y, button, clicks, modifiers), framed=kind == "moved")

    async def click(self, x: float, y: float, button: Button, times: int = 1, modifiers: int = 0) -> None:
        """Move there and click in one batch: the browser sends the page the move before the press. Raises
        BrowserFailed.
        """
        payload = [self._mouse("moved", x, y, "none", 0, modifiers)]
        for count in range(1, times + 1):
            payload += [self._mouse(kind, x, y, button, count, modifiers) for kind in ("pressed", "released")]
        await self._input(MOUSE, *payload)

    def _mouse(self, kind: str, x: float, y: float, button: Button, clicks: int, modifiers: int) -> CdpPayload:
        bit = {"left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}.get(button, 0)
        self._buttons = (
            self._buttons | bit if kind == "pressed" else self._buttons & ~bit if kind == "released" else self._buttons
        )
        if kind == "moved" and self._buttons & 1:
            button = "left"  # a drag selection follows the pointer only if the move names the held button
        word = {"moved": "mouseMoved", "pressed": "mousePressed", "released": "mouseReleased"}[kind]
        at = {"x": x, "y": y, "modifiers": modifiers}
        return {"type": word, "button": button, "buttons": self._buttons, "clickCount": clicks, **at}

    async def wheel(self, x: float, y: float, dx: float, dy: float, modifiers: int = 0) -> None:
        """Turn the wheel over a point; positive is right and down (CSS pixels)."""
        turned = {"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy, "modifiers": modifiers}
        await self._input(MOUSE, {**turned, "pointerType": "mouse"}, framed=True)
        await self.refresh()  # draw the scrolled content before scripts see it

    async def key(self, kind: Literal["down", "up"], key: CdpPayload, modifiers: int = 0) -> None:
        """Press or release a key with its CDP fields: key, code, windowsVirtualKeyCode, text, location."""
        word = "keyUp" if kind == "up" else "keyDown" if key.get("text") else "rawKeyDown"
        payload = {name: value for name, value in key.items() if kind == "down" or name not in ("text", "commands")}
        await self._input("Input.dispatchKeyEvent", {**payload, "type": word, "modifiers": modifiers})

    async def insert_text(self, text: str) -> None:
        """Insert text at the caret, as an input method does."""
        await self._input("Input.insertText", {"text": text})

    async def set_input_files(self, files: Sequence[FilePayload]) -> bool:
        """Answer the active page's last file chooser request. Returns False if there was none. Raises ScriptFailed."""
        page = self.active
        if page.chooser is None:
            return False
        # The browser sees none of this machine's files.
        packed = [[file.name, file.media_type, base64.b64encode(file.data).decode()] for file in files]
        field = (await page.call("DOM.resolveNode", backendNodeId=page.chooser.field))["object"]["objectId"]
        page.chooser = None
        payload = await page.call(
            "Runtime.callFunctionOn",
            objectId=field,
            functionDeclaration=SET_FILES_SCRIPT,
            arguments=[{"value": packed}],
        )
        evaluation_value(payload)
        return True

    async def _input(self, method: str, *payload: CdpPayload, framed: bool = False) -> None:
        """Send these events to the active page in order. `framed` means that the browser holds them for the next
        frame."""
        if self.active.awaiting_first_frame:
            await self.refresh()
        page = self.active
        self.time.on_input()
        sent = asyncio.gather(*(page.send(method, **one) for one in payload))
        if framed:
            await self.refresh()
        answer = asyncio.ensure_future(within_timeout(sent, method, self.time.frame_timeout))
        gone = asyncio.ensure_future(page.closed.wait())
        try:
            while framed and not await self._either(answer, gone, within=REFRAME_SECONDS):
                # It came too late for the drawn frame; one more frame advances neither time nor a game.
                await self.refresh()
            await self._either(answer, gone)
            if answer.done():
                answer.result()
        except BrowserEnded:
            raise
        except BrowserFailed as failed:
            if "no answer" in str(failed):
                raise PageHung(str(failed)) from failed
            if not page.closed.is_set():
                raise
        finally:
            answer.cancel()
            gone.cancel()
        self.frame_stream.touch()
        await self.ensure_page()

    @staticmethod
    async def _either(*these: "asyncio.Future[Any]", within: float | None = None) -> bool:
        """Whether one of these is done, in time."""
        done, _ = await asyncio.wait(these, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
