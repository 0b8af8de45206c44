"""The streams behind a reverse proxy that serves everything under one origin: a real nginx with few settings."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from tests.integration.bridge.conftest import RunningBridge
from tests.integration.streams.conftest import CHROMIUM, FLAGS, Proxy
from tests.integration.streams.test_stills import Parts, stills
from tests.integration.streams.test_webrtc import GREEN, Ticket, paint, shows, watch
from vm_bridge.simulators.fake.sandbox import FakeHost

WATCH = (Path(__file__).parent / "watch.js").read_text()


@pytest.fixture
async def visitor(bridge: RunningBridge, proxy: Proxy) -> AsyncIterator[Page]:
    """A page that knows only the proxy's origin."""
    proxy.start(bridge.url)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await browser.new_page()
        await page.goto(f"{proxy.url}/bridge/healthz")
        await page.evaluate(f"() => {{ {WATCH} }}")
        yield page
        await browser.close()


async def test_webrtc_is_agreed_on_through_the_proxy(visitor: Page, ticket: Ticket, fake_host: FakeHost) -> None:
    paint(fake_host.made[0].screen, GREEN)
    once = ticket("webrtc")
    assert await watch(visitor, once, base="/bridge") == {"watching": True}
    await shows(visitor, GREEN)
    assert (await watch(visitor, once, base="/bridge"))["code"] == "ticket_refused"


async def test_stills_are_passed_on_at_once(
    bridge: RunningBridge, proxy: Proxy, ticket: Ticket, fake_host: FakeHost
) -> None:
    proxy.start(bridge.url)
    async with stills(f"{proxy.url}/bridge", ticket("stills")) as response:
        parts = Parts(response)
        await parts.next()  # nothing more is sent while the screen rests: a proxy that hoards would keep the end of it
        paint(fake_host.made[0].screen, GREEN)
        await parts.next()
