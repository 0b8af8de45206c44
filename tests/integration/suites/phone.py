"""The phone's apps in a Chromium with a touch screen, and somebody who does what an errand's moves say."""

import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from playwright.async_api import CDPSession, Page, ViewportSize, async_playwright

from protocol.actions.types import (
    Action,
    Click,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Point,
    PressBack,
    PressHome,
    TypeText,
)
from vm_bridge.images.build import IMAGES
from vm_bridge.suites.phone.task import TaskAction, Touch
from vm_bridge.suites.phone.world import World

APPS = IMAGES / "phone" / "apps"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SCREEN = ViewportSize(width=412, height=915)
BOUND_MS = 10_000
FIND = """label => {
  const root = document.querySelector(".cover") ?? document;
  const text = (element) => (element.firstElementChild ? "" : element.textContent);
  const said = (element) => element.getAttribute("aria-label") ?? text(element);
  const all = [...root.querySelectorAll("[aria-label], button, label, b, span")];
  const found = all.find((element) => said(element).trim() === label);
  const box = (found?.closest("button") ?? found)?.getBoundingClientRect();
  return box && [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)];
}"""
"""In the page: the middle of what carries this label; of an open dialog alone where there is one."""


class Phone:
    """One page with the apps, driven by deeds."""

    def __init__(self, page: Page, touch: CDPSession, address: str, state: Path) -> None:
        self.page, self._touch, self.address, self._state = page, touch, address, state

    def world(self) -> World:
        """What the phone holds now."""
        return dict(json.loads(self._state.read_bytes()))

    async def load(self, world: World) -> None:
        """Begin anew with this state, at the home screen."""
        await self.page.wait_for_selector(".screen")
        async with self.page.expect_navigation(timeout=BOUND_MS):
            reply = await self.page.request.put(f"{self.address}/api/state", data=json.dumps(world))
            assert reply.status == 204, await reply.text()
        await self.page.wait_for_selector(".app")

    async def action_of(self, action: TaskAction) -> Action:
        """The deed as an action at the place where the screen has it now."""
        if not isinstance(action, Touch):
            return action
        verifier_result = await self.page.wait_for_function(FIND, arg=action.label, timeout=BOUND_MS)
        x, y = await verifier_result.json_value()
        if action.how == "hold":
            return LongPress(x=x, y=y)
        if action.how == "swipe":
            return Drag(start=Point(x=x + 120, y=y), end=Point(x=x - 120, y=y))
        return Click(x=x, y=y)

    async def perform(self, action: Action) -> None:
        """What the driver of a phone does, in so far as errands need it."""
        match action:
            case Click(x=x, y=y):
                await self.page.touchscreen.tap(x, y)
            case LongPress(x=x, y=y):
                await self._slide((x, y))
                await self.page.wait_for_selector(".cover", timeout=BOUND_MS)
                await self._lift()
            case Drag(start=start, end=end):
                await self._slide((start.x, start.y), ((start.x + end.x) // 2, end.y), (end.x, end.y))
                await self._lift()
            case TypeText(text=text):
                await self.page.wait_for_function("document.activeElement?.matches('input, textarea')")
                await self.page.keyboard.insert_text(text)
            case OpenApp(name=name):
                await self._go(f"phone.open({json.dumps(name.lower())})")
            case PressHome():
                await self._go("phone.home()")
            case PressBack():
                await self.page.evaluate("phone.back()")
            case Finish():
                pass
            case _:
                raise ValueError(f"no errand does {action.kind}")

    async def _go(self, script: str) -> None:
        async with self.page.expect_navigation(timeout=BOUND_MS):
            await self.page.evaluate(script)
        await self.page.wait_for_selector(".screen")

    async def _slide(self, *places: tuple[int, int]) -> None:
        for index, (x, y) in enumerate(places):
            kind = "touchMove" if index else "touchStart"
            await self._touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})

    async def _lift(self) -> None:
        await self._touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@contextmanager
def apps_served(state: Path) -> Iterator[str]:
    """The apps' server with its state in this file; its address."""
    command = ["/usr/bin/python3", str(APPS / "server.py"), "--state", str(state), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            listening = re.search(r":(\d+)$", server.stdout.readline().strip())
            assert listening is not None
            yield f"http://127.0.0.1:{listening[1]}"
        finally:
            server.terminate()


@asynccontextmanager
async def phone_opened(folder: Path) -> AsyncIterator[Phone]:
    """The apps with their state in `folder`, and a browser at the home screen. Both end with the block."""
    state = folder / "state.json"
    with apps_served(state) as address:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = await browser.new_context(viewport=SCREEN, is_mobile=True, has_touch=True)
            page = await context.new_page()
            page.set_default_timeout(BOUND_MS)
            await page.goto(f"{address}/launcher/")
            await page.wait_for_selector(".app")
            yield Phone(page, await context.new_cdp_session(page), address, state)
            await browser.close()
