"""A page in a real Chromium beside a bridge over fake machines."""

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from annotation_app.operations.runtime.ports import free_port
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
from tests.waiting import wait_until
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import StreamKind, TicketClaim, mint_ticket
from vm_bridge.machine import Lease

__all__ = ["bridge", "bridge_redis", "bridge_settings", "client", "fake_host", "private_redis"]

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


SITE = """
pid {folder}/pid; error_log {folder}/error.log; daemon off;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location /bridge/ {{ proxy_pass {upstream}/; }}
    location /vnc/ {{
      proxy_pass {upstream}/; proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
    }}
  }}
}}
"""
"""Everything under one origin, with as few settings as do."""


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
        return mint_ticket(SECRET, claim)

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


class Proxy:
    """nginx before one program."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, upstream: str) -> None:
        site = self._folder / "nginx.conf"
        site.write_text(SITE.format(folder=self._folder, port=self.port, upstream=upstream))
        self._process = subprocess.Popen(["nginx", "-e", f"{self._folder}/error.log", "-c", str(site)])
        wait_until(lambda: (self._folder / "pid").exists())

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path / "nginx"
    folder.mkdir()
    proxy = Proxy(folder)
    yield proxy
    proxy.stop()
