"""What a person does to a page, as the browser is told it."""

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
"""Real time after which one more frame is drawn for an input that the last one did not take along."""
MOUSE = "Input.dispatchMouseEvent"
Button = Literal["none", "left", "middle", "right", "back", "forward"]


class InputDispatcher(ABC):
    """The part of a session that takes input; it goes to the active page."""

    frame_stream: FrameStream
    time: PageClock
    _buttons = 0
    """Mouse buttons that are down, as the browser counts them."""

    @property
    @abstractmethod
    def active(self) -> Page:
        """The page that is seen and acted on."""

    @abstractmethod
    async def refresh(self) -> None:
        """Have drawn what changed, without letting time pass."""

    @abstractmethod
    async def ensure_page(self) -> None:
        """See to it that there is a page."""

    async def mouse(
        self, kind: str, x: float, y: float, button: Button = "none", clicks: int = 0, modifiers: int = 0
    ) -> None:
        """`kind` is moved, pressed or released; a move is drawn at once. Raises BrowserFailed."""
        await self._input(MOUSE, self._mouse(kind, x, y, button, clicks, modifiers), framed=kind == "moved")

    async def click(self, x: float, y: float, button: Button, times: int = 1, modifiers: int = 0) -> None:
        """Move there and click, in one go: the browser tells a page of the move before the press. Raises
        BrowserFailed."""
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
            button = "left"  # what is selected follows the pointer only where the move names the button that is held
        word = {"moved": "mouseMoved", "pressed": "mousePressed", "released": "mouseReleased"}[kind]
        at = {"x": x, "y": y, "modifiers": modifiers}
        return {"type": word, "button": button, "buttons": self._buttons, "clickCount": clicks, **at}

    async def wheel(self, x: float, y: float, dx: float, dy: float, modifiers: int = 0) -> None:
        """Turn the wheel over a point; positive is right and down (CSS pixels)."""
        turned = {"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy, "modifiers": modifiers}
        await self._input(MOUSE, {**turned, "pointerType": "mouse"}, framed=True)
        await self.refresh()  # what has scrolled is drawn before scripts know of it

    async def key(self, kind: Literal["down", "up"], key: CdpPayload, modifiers: int = 0) -> None:
        """Press or release a key, told as the protocol tells it: key, code, windowsVirtualKeyCode, text, location."""
        word = "keyUp" if kind == "up" else "keyDown" if key.get("text") else "rawKeyDown"
        payload = {name: value for name, value in key.items() if kind == "down" or name not in ("text", "commands")}
        await self._input("Input.dispatchKeyEvent", {**payload, "type": word, "modifiers": modifiers})

    async def insert_text(self, text: str) -> None:
        """Put text where the caret is, as an input method does."""
        await self._input("Input.insertText", {"text": text})

    async def set_input_files(self, files: Sequence[FilePayload]) -> bool:
        """Answer the active page's last question for files; false when it asked for none. Raises ScriptFailed."""
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
        """Tell the active page these, one after another; `framed` where the browser keeps it for the next frame."""
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
                # It came too late for the frame that was drawn; one more moves neither time nor a game.
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
