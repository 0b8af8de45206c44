"""A program of one's own at a leased browser: real Playwright over the ticketed WebSocket, and what it may not do."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.async_api import async_playwright
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.waiting import eventually
from vm_bridge.api.tickets import TicketClaim
from vm_bridge.errors import CannotRestore, TicketRefused
from vm_bridge.hosts.browser.host import BrowserHost, BrowserSandbox
from vm_bridge.sandbox import Sandbox
from vm_bridge.streams.cdp_routes import cdp_log_routes, cdp_routes
from vm_bridge.suites.miniwob import MiniWob

FENCE = 3


@dataclass
class CdpEndpoint:
    """A bridge's way in, two leased browsers behind it, and what ends the first one's lease."""

    url: str
    mine: BrowserSandbox
    other: BrowserSandbox
    over: asyncio.Event
    logs: Path

    @property
    def address(self) -> str:
        return f"{self.url}/cdp?token=good"

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.logs / "episode-1.jsonl").read_text().splitlines()]


@pytest.fixture
async def cdp_endpoint(tmp_path: Path) -> AsyncIterator[CdpEndpoint]:
    host, over, logs = BrowserHost(tmp_path / "host", {"miniwob": MiniWob()}), asyncio.Event(), tmp_path / "logs"
    mine, other = [await host.create("browser") for _ in range(2)]
    assert isinstance(mine, BrowserSandbox)
    assert isinstance(other, BrowserSandbox)
    for sandbox in (mine, other):
        await sandbox.bind(FENCE).prepare(MiniWob().make("click-test", seed=1))

    async def admit(text: str) -> tuple[Sandbox, asyncio.Event, TicketClaim]:
        if text != "good":
            raise TicketRefused("forged")
        claim = TicketClaim(kind="cdp", user="ada", episode="episode-1", machine_id=mine.id, fencing_token=FENCE)
        return mine, over, claim

    app = FastAPI()
    app.include_router(cdp_routes(admit, logs))
    app.include_router(cdp_log_routes(logs))
    config = uvicorn.Config(app, port=0, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1)
    server, listener = uvicorn.Server(config), config.bind_socket()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started)
    yield CdpEndpoint(f"ws://127.0.0.1:{listener.getsockname()[1]}", mine, other, over, logs)
    server.should_exit = True
    await serving
    listener.close()
    await host.close()


async def send_command(socket: ClientConnection, method: str, **given: object) -> dict[str, Any]:
    """The answer to one message; events in between are not looked at."""
    await socket.send(json.dumps({"id": 7, "method": method, "params": given}))
    async with asyncio.timeout(30):
        while (told := json.loads(await socket.recv())).get("id") != 7:
            pass
    answer: dict[str, Any] = told
    return answer


async def test_playwright_plays_the_leased_page(cdp_endpoint: CdpEndpoint) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(cdp_endpoint.address, timeout=60_000)
        (page,) = browser.contexts[0].pages
        assert await page.title() == "Click Test Task"
        await page.click("#subbtn", timeout=60_000)
        assert await page.evaluate("WOB_RAW_REWARD_GLOBAL") == 1
        assert (await page.screenshot(timeout=60_000)).startswith(b"\x89PNG")
        await browser.close()
    machine = cdp_endpoint.mine.bind(FENCE)
    assert (await machine.evaluate()).success
    with pytest.raises(CannotRestore, match="somebody else"):
        await machine.snapshot()
    assert not (await cdp_endpoint.other.bind(FENCE).evaluate()).success
    assert any("WOB_RAW_REWARD_GLOBAL" in line["message"] for line in cdp_endpoint.logged())


async def test_a_client_that_begins_as_puppeteer_does_is_let_in(cdp_endpoint: CdpEndpoint) -> None:
    """What puppeteer-core 24 sends before it has its pages; it does not go on where one of these is refused."""
    async with connect(cdp_endpoint.address, proxy=None) as socket:
        contexts = (await send_command(socket, "Target.getBrowserContexts"))["result"]["browserContextIds"]
        assert contexts == [cdp_endpoint.mine.session.context if cdp_endpoint.mine.session else ""]
        tabs = [{"type": "page", "exclude": True}, {}]
        watch = {"waitForDebuggerOnStart": True, "flatten": True, "autoAttach": True}
        await socket.send(json.dumps({"id": 1, "method": "Target.setDiscoverTargets", "params": {"discover": True}}))
        await socket.send(json.dumps({"id": 2, "method": "Target.setAutoAttach", "params": watch | {"filter": tabs}}))
        session = ""
        async with asyncio.timeout(30):
            while not session:
                told = json.loads(await socket.recv())
                if told.get("method") == "Target.attachedToTarget":
                    session = told["params"]["sessionId"]
        greeting: tuple[tuple[str, dict[str, object]], ...] = (
            ("Target.setAutoAttach", watch | {"filter": [{}]}),
            ("Runtime.runIfWaitingForDebugger", {}),
            ("Network.enable", {}),
            ("Page.enable", {}),
            ("Page.getFrameTree", {}),
            ("Runtime.enable", {}),
            ("Audits.enable", {}),
            ("WebMCP.enable", {}),
            ("Log.enable", {}),
        )
        for method, given in greeting:
            await socket.send(json.dumps({"id": 9, "method": method, "params": given, "sessionId": session}))
            async with asyncio.timeout(30):
                while (told := json.loads(await socket.recv())).get("id") != 9:
                    pass
            assert "result" in told, method


async def test_others_are_not_seen_and_the_browser_is_not_ruled(cdp_endpoint: CdpEndpoint) -> None:
    async with connect(cdp_endpoint.address, proxy=None) as socket:
        targets = (await send_command(socket, "Target.getTargets"))["result"]["targetInfos"]
        assert len(targets) == 1
        (foreign,) = [page.id for page in (await cdp_endpoint.other.browser.borrow_session(FENCE)).pages]
        for method, given in (
            ("Target.attachToTarget", {"targetId": foreign}),
            ("Target.closeTarget", {"targetId": foreign}),
            ("Target.createTarget", {"url": "file:///etc/passwd"}),
            ("Target.attachToBrowserTarget", {}),
            ("Target.createBrowserContext", {}),
            ("Browser.crash", {}),
            ("SystemInfo.getInfo", {}),
        ):
            assert "error" in await send_command(socket, method, **given), method
        assert "result" in await send_command(socket, "Browser.close")
        assert "result" in await send_command(socket, "Browser.getVersion")
        mine = targets[0]["targetId"]
        session = (await send_command(socket, "Target.attachToTarget", targetId=mine))["result"]["sessionId"]
        for method, given in (
            ("Emulation.setVirtualTimePolicy", {"policy": "advance"}),
            ("Page.navigate", {"url": "file:///etc/passwd"}),
            ("HeadlessExperimental.beginFrame", {}),
            ("Fetch.enable", {}),
        ):
            await socket.send(json.dumps({"id": 8, "method": method, "params": given, "sessionId": session}))
            async with asyncio.timeout(30):
                while (told := json.loads(await socket.recv())).get("id") != 8:
                    pass
            assert "error" in told, method
    refused = [json.loads(line["message"])["method"] for line in cdp_endpoint.logged() if line["refused"]]
    assert {"Browser.crash", "Fetch.enable", "Target.closeTarget"} <= set(refused)


async def test_a_ticket_is_needed_and_there_is_room_for_one(cdp_endpoint: CdpEndpoint) -> None:
    with pytest.raises(InvalidStatus):
        await connect(f"{cdp_endpoint.url}/cdp?token=forged", proxy=None)
    with pytest.raises(InvalidStatus):
        await connect(cdp_endpoint.address, origin="http://evil.example", proxy=None)  # type: ignore[arg-type]
    async with connect(cdp_endpoint.address, proxy=None) as socket:
        with pytest.raises(InvalidStatus):
            await connect(cdp_endpoint.address, proxy=None)
        cdp_endpoint.over.set()
        async with asyncio.timeout(30):
            await socket.wait_closed()
        assert socket.close_code == 1001


async def test_time_stands_again_when_the_program_has_left(cdp_endpoint: CdpEndpoint) -> None:
    async with connect(cdp_endpoint.address, proxy=None) as socket:
        assert "result" in await send_command(socket, "Browser.getVersion")
        assert (await _page(cdp_endpoint)).pace == 1
    await eventually(lambda: not cdp_endpoint.mine.browser._episode_manager.rate)
    assert (await _page(cdp_endpoint)).pace == 0


async def _page(cdp_endpoint: CdpEndpoint) -> Any:
    return (await cdp_endpoint.mine.bind(FENCE).observe()).page
