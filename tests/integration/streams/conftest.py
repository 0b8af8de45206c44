"""A page in a real Chromium beside a bridge over fake machines."""

from collections.abc import AsyncIterator, Callable

import pytest
from playwright.async_api import Page, async_playwright

from tests.integration.bridge.conftest import (
    SECRET,
    RunningBridge,
    bridge,
    bridge_redis,
    bridge_settings,
    client,
    fake_host,
    private_redis,
)
from vm_bridge.client import BridgeClient
from vm_bridge.machine import Lease
from vm_bridge.tickets import StreamKind, TicketClaim, mint

__all__ = ["bridge", "bridge_redis", "bridge_settings", "client", "fake_host", "private_redis"]

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@pytest.fixture
async def lease(client: BridgeClient) -> Lease:
    """A lease on the machine the tests watch."""
    return await client.allocate(image="desktop", holder="tests")


@pytest.fixture
def ticket(lease: Lease) -> Callable[[StreamKind], str]:
    """Makes fresh tickets for that machine."""

    def fresh(kind: StreamKind) -> str:
        token = lease.fencing_token
        claim = TicketClaim(kind=kind, user="1", episode="e", machine_id=lease.machine_id, fencing_token=token)
        return mint(SECRET, claim)

    return fresh


@pytest.fixture
async def page(bridge: RunningBridge) -> AsyncIterator[Page]:
    """A page of an allowed origin: the bridge's own, which `bridge` names in its web origins."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await browser.new_page()
        await page.goto(f"{bridge.url}/healthz")
        yield page
        await browser.close()
