"""A web process whose disk fills: it says so on its page and to whoever asks, works on, and its log stays short."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.stack import LOOPBACK, ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.log_lines import REPEATS
from tests.e2e.conftest import Sessions, open_signed_in
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible
from tests.small_disks import Mount, small_disks
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

FLOOD = 8 * REPEATS
PART = bytes(64 * 1024)


@pytest.fixture
def mount() -> Iterator[Mount]:
    with small_disks() as mount_at:
        yield mount_at


@contextmanager
def another_web(platform: TemporaryPlatform, data: Path, log: Path) -> Iterator[str]:
    """The address of one more web process of a platform, whose pictures and uploads are kept in `data`."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "daphne", "-b", LOOPBACK, "-p", str(port)]
    environment = {**os.environ, **platform.environment, "PILOTHOUSE_DATA": str(data), "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "annotation_app.asgi_server:application"], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
    try:
        wait_until(lambda: _answers(f"http://{LOOPBACK}:{port}/api/health"))
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).is_success
    except httpx.TransportError:
        return False


async def _has_room(page: Page) -> tuple[int, bool, bool]:
    """What the process tells whoever asks: the status, whether all is well, and whether the disk has room."""
    answer = await page.request.get("/api/health")
    told = await answer.json()
    return answer.status, told["ok"], told["checks"]["disk"]


async def test_a_disk_that_fills_is_told_and_floods_no_log(
    browser: Browser, platform: TemporaryPlatform, sessions: Sessions, mount: Mount, tmp_path: Path
) -> None:
    disk, log = tmp_path / "disk", tmp_path / "web.log"
    mount(disk, "4g")
    with another_web(platform, disk, log) as url:
        page = await open_signed_in(browser, url, sessions, "admin", "/health")
        row = page.get_by_role("listitem").filter(has_text="Disk")
        await expect(row.get_by_text("Works", exact=True)).to_be_visible(timeout=BOUND_MS)
        assert await _has_room(page) == (200, True, True)
        csrf = (await (await page.request.get("/api/session")).json())["csrf"]
        headers = {"X-CSRFToken": csrf, "Tus-Resumable": "1.0.0"}
        announced = {**headers, "Upload-Length": str(len(PART))}
        upload = (await page.request.post("/api/imports/uploads", headers=announced)).headers["location"]

        mount(disk, "600m")
        await page.reload()
        await expect(row.get_by_text("Room is getting short.")).to_be_visible(timeout=BOUND_MS)
        await assert_accessible(page, "a disk that fills")
        assert await _has_room(page) == (200, True, True), "it is told before it is full"

        mount(disk, "32k")
        await page.reload()
        await expect(row.get_by_text("There is hardly room left.")).to_be_visible(timeout=BOUND_MS)
        assert await _has_room(page) == (200, False, False)

        before = len(log.read_text().splitlines())
        part = {**headers, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
        statuses = {(await page.request.patch(upload, headers=part, data=PART)).status for _ in range(FLOOD)}
        assert statuses == {507}
        failures = [line for line in log.read_text().splitlines()[before:] if " PATCH " not in line]
        assert 0 < len(failures) <= 2 * REPEATS, failures
        await page.request.delete(upload, headers=headers)
