"""The phone itself: which app is in front, what a finger and the keys do, how it lies."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any
from urllib.request import Request, urlopen

from vm_bridge.simulators.phone.apps import App, Apps
from vm_bridge.simulators.phone.browser import Browser
from vm_bridge.simulators.phone.hierarchy import NODES_SCRIPT, Node, parse_nodes
from vm_bridge.simulators.phone.keycodes import Key
from vm_bridge.simulators.phone.screen import Screen

FRAME_SECONDS = 1 / 60
"""A moving finger is told this often (seconds)."""
HOLD_SECONDS = 0.5
"""From when on a finger that rests is a long press (seconds)."""
REQUEST_SECONDS = 5.0
ORIENTATIONS = ("portraitPrimary", "landscapePrimary", "portraitSecondary", "landscapeSecondary")
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

Point = tuple[float, float]


class Handset:
    """One phone. Touches and keys come one after another."""

    def __init__(self, apps: Apps, browser: Browser, screen: Screen) -> None:
        self.apps, self.screen = apps, screen
        self._browser = browser
        self._left: dict[str, str] = {}
        """The address at which each app that runs was left."""
        self._one_finger = asyncio.Lock()

    @property
    def front(self) -> App:
        """The app that is shown."""
        return self.apps.find_by_url(self._browser.url)

    async def switch_on(self) -> None:
        """Show the home screen, as a touch screen of the display's size. Raises BrowserError."""
        await self._browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        await self._browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.turn(0)
        await self.home()

    async def turn(self, quarters: int) -> None:
        """Lay the phone so many quarter turns from upright. Raises BrowserError."""
        self.screen.turn(quarters)
        await self._browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=self.screen.width,
            height=self.screen.height,
            deviceScaleFactor=1,
            mobile=True,
            screenOrientation={"type": ORIENTATIONS[quarters % 4], "angle": quarters % 4 * 90},
        )
        await self._browser.drawn()

    async def open(self, app: App) -> None:
        """Bring an app to the front, where it was left. Raises BrowserError."""
        if app is self.front and self._browser.url.startswith(self.apps.address("")):
            return
        self._leave()
        await self._browser.show(self._left.get(app.package, self.apps.address(app.path)))

    async def home(self) -> None:
        """Raises BrowserError."""
        self._leave()
        await self._browser.show(self.apps.address(self.apps.launcher.path))

    async def back(self) -> None:
        """Raises BrowserError."""
        await self._browser.evaluate("window.phone?.back()")
        await self._browser.drawn()

    async def stop(self, app: App) -> None:
        """End an app: the next start begins at its first screen. Raises BrowserError."""
        in_front = app is self.front
        if in_front and app is not self.apps.launcher:
            await self.home()
        self._left.pop(app.package, None)
        name = app.path.strip("/")
        await self._browser.evaluate(f"sessionStorage.removeItem('screens:{name}')")

    async def clear(self, app: App) -> None:
        """Put an app's data back to what it was loaded with. Raises BrowserError, OSError."""
        await self.stop(app)
        request = Request(self.apps.address(f"/api/state/{app.path.strip('/')}"), method="DELETE")  # noqa: S310 - the bridge's own address
        await asyncio.to_thread(_send, request)

    async def touch(self, start: Point, end: Point, seconds: float) -> None:
        """Put a finger down, move it for so long, and lift it. Raises BrowserError."""
        async with self._one_finger:
            await self._finger("touchStart", start)
            began, moves = time.monotonic(), start != end
            while (share := (time.monotonic() - began) / seconds if seconds else 1.0) < 1.0:
                if moves:
                    await self._finger("touchMove", _between(start, end, share))
                await asyncio.sleep(FRAME_SECONDS)
            if moves:
                await self._finger("touchMove", end)
            # A page hears of a long press while the finger is down; lifting it then is no tap.
            held = not moves and seconds >= HOLD_SECONDS
            await self._finger("touchCancel" if held else "touchEnd")
            await self._browser.drawn()

    async def write(self, text: str) -> None:
        """Enter text where the focus is. Raises BrowserError."""
        await self._browser.call("Input.insertText", text=text)
        await self._browser.drawn()

    async def press(self, keys: Sequence[Key], *, seconds: float = 0.0) -> None:
        """Press keys together, hold them so long, and release them in reverse. Raises BrowserError."""
        held = 0
        for key in keys:
            held |= MODIFIERS.get(key.name, 0)
            await self._key("keyDown", key, held)
        await asyncio.sleep(seconds)
        for key in reversed(keys):
            held &= ~MODIFIERS.get(key.name, 0)
            await self._key("keyUp", key, held)
        await self._browser.drawn()

    async def nodes(self) -> list[Node]:
        """What the screen shows, from back to front. Raises BrowserError."""
        return parse_nodes(await self._browser.evaluate(f"(() => {{{NODES_SCRIPT}}})()"))

    async def _finger(self, kind: str, *places: Point) -> None:
        points = [{"x": x, "y": y} for x, y in places]
        await self._browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    async def _key(self, kind: str, key: Key, modifiers: int) -> None:
        event: dict[str, Any] = {"type": kind, "key": key.name, "code": key.code, "modifiers": modifiers}
        event["windowsVirtualKeyCode"] = key.number
        if kind == "keyDown" and key.text and modifiers in (0, MODIFIERS["Shift"]):
            event["text"] = key.text
        if kind == "keyDown" and key.name == "a" and modifiers == MODIFIERS["Control"]:
            event["commands"] = ["selectAll"]
        await self._browser.call("Input.dispatchKeyEvent", **event)

    def _leave(self) -> None:
        if self.front is not self.apps.launcher:
            self._left[self.front.package] = self._browser.url


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _send(request: Request) -> None:
    urlopen(request, timeout=REQUEST_SECONDS).close()  # noqa: S310 - the bridge's own address
