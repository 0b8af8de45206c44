"""What an OSWorld task file asks of the guest before an episode, through the guest's own API."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from vm_bridge.drivers.failures import WireRefused
from vm_bridge.drivers.osworld_task import Step
from vm_bridge.drivers.osworld_wire import ASK_SECONDS, Guest
from vm_bridge.errors import MachineGone

MOST_SLEEP = 120.0
UNTIL_SECONDS = 120.0
UNTIL_POLL = 0.3
BROWSER_SECONDS = 75.0
BROWSER_POLL = 0.5
BLANK = ("about:blank", "chrome://newtab/", "chrome://new-tab-page/")


async def guest_set_up(guest: Guest, steps: Sequence[Step]) -> None:
    """Do them in order. Raises MachineGone where one cannot be done: nobody knows then how the guest stands."""
    for number, step in enumerate(steps, start=1):
        try:
            await _do(guest, step.type, step.parameters)
        except (WireRefused, httpx.HTTPError, KeyError, TypeError, ValueError) as error:
            raise MachineGone(f"step {number} of the task's config, {step.type}: {error}") from error


async def _do(guest: Guest, kind: str, given: dict[str, Any]) -> None:
    match kind:
        case "download":
            for file in given["files"]:
                await guest.download(file["url"], file["path"])
        case "launch":
            await _launch(guest, given["command"], shell=bool(given.get("shell", False)))
        case "execute" | "command":
            await _execute(guest, given)
        case "open":
            await guest.setup("open_file", {"path": given["path"]})
        case "sleep":
            await asyncio.sleep(min(float(given["seconds"]), MOST_SLEEP))
        case "chrome_open_tabs":
            await _open_tabs(guest, given["urls_to_open"])
        case "chrome_close_tabs":
            await _close_tabs(guest, given["urls_to_close"])
        case _:
            await guest.setup(kind, given)


async def _launch(guest: Guest, command: Any, *, shell: bool) -> None:
    """Their own controller splits a command of several words at its blanks where no shell is asked for."""
    words = command.split() if isinstance(command, str) and not shell else command
    await guest.setup("launch", {"command": words, "shell": shell})


async def _execute(guest: Guest, given: dict[str, Any]) -> None:
    """Once, or again and again until its output or exit status is what the file waits for."""
    until = given.get("until") or {}
    command = _filled(given["command"], await guest.screen_size())
    ends = time.monotonic() + UNTIL_SECONDS
    while True:
        ran = await guest.execute(command, shell=bool(given.get("shell", False)))
        met = (
            ("returncode" in until and ran.code == until["returncode"])
            or ("stdout" in until and until["stdout"] in ran.output)
            or ("stderr" in until and until["stderr"] in ran.errors)
        )
        if not until or met:
            return
        if time.monotonic() > ends:
            raise WireRefused(f"what it waits for did not come within {UNTIL_SECONDS:g} s")
        await asyncio.sleep(UNTIL_POLL)


def _filled(command: Any, size: tuple[int, int]) -> Any:
    """A command with the sizes put in that files leave open."""
    width, height = size
    values = {"SCREEN_WIDTH_HALF": width // 2, "SCREEN_HEIGHT_HALF": height // 2}
    values |= {"SCREEN_WIDTH": width, "SCREEN_HEIGHT": height}

    def put_in(text: str) -> str:
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    return put_in(command) if isinstance(command, str) else [put_in(str(word)) for word in command]


async def _open_tabs(guest: Guest, urls: Sequence[str]) -> None:
    """Each in a page of its own, over the HTTP part of Chrome's debugging port; the blank first page goes."""
    async with _browser(guest) as browser:
        blank = [page["id"] for page in await _pages(browser) if page.get("url") in BLANK]
        for url in urls:
            (await browser.put(f"/json/new?{quote(url, safe=':/?&=#%+@!$,;~*()')}")).raise_for_status()
        for page in blank:
            await browser.get(f"/json/close/{page}")


async def _close_tabs(guest: Guest, urls: Sequence[str]) -> None:
    wanted = {_address(url) for url in urls}
    async with _browser(guest) as browser:
        for page in await _pages(browser):
            if _address(str(page.get("url", ""))) in wanted:
                await browser.get(f"/json/close/{page['id']}")


async def _pages(browser: httpx.AsyncClient) -> list[dict[str, Any]]:
    """Every page; waits for a browser that is on its way. Raises WireRefused."""
    ends = time.monotonic() + BROWSER_SECONDS
    while True:
        try:
            answer = await browser.get("/json/list")
            return [page for page in answer.raise_for_status().json() if page.get("type") == "page"]
        except httpx.HTTPError as error:
            if time.monotonic() > ends:
                raise WireRefused(f"no browser can be driven at {browser.base_url}: {error}") from error
        await asyncio.sleep(BROWSER_POLL)


def _browser(guest: Guest) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://{guest.browser}", timeout=ASK_SECONDS, trust_env=False)


def _address(url: str) -> tuple[str, str, str]:
    """What two addresses of the same page have in common."""
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query
