"""Uploads survive a pause, a lost connection, a reload and a killed server."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from annotation_app.client import Pilothouse, uploads
from annotation_app.client.errors import ImportFailed
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

PARTS = "**/api/imports/uploads/*"


async def parts_sent(page: Page, most: int) -> list[int]:
    """Where the parts begin that the page sends; those beyond `most` find no connection until the route is lifted."""
    offsets: list[int] = []

    async def pass_on(route: Route) -> None:
        if route.request.method != "PATCH":
            await route.continue_()
        elif len(offsets) < most:
            offsets.append(int(route.request.headers["upload-offset"]))
            await route.continue_()
        else:
            await route.abort("connectionfailed")

    await page.route(PARTS, pass_on)
    return offsets


async def test_an_upload_survives_a_lost_connection_and_a_reload(sign_in: SignIn, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = json.dumps({"format": "unknown", "filler": "x" * 1_000}) + "\n"
    file.write_text(row * 4_000)
    page = await sign_in("researcher", "/exports")
    assert await parts_sent(page, 1) == []
    await page.locator("input[type=file]").first.set_input_files(file)
    await page.get_by_role("button", name="Import", exact=True).click(timeout=BOUND_MS)
    upload = page.get_by_role("region", name="Upload of rows.jsonl")
    await expect(upload.get_by_text("The connection is lost")).to_be_visible(timeout=BOUND_MS)
    await upload.get_by_role("button", name="Pause").click()
    await expect(upload.get_by_text("Paused")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "a paused upload")

    await page.unroute(PARTS)
    await page.reload()
    await expect(upload.get_by_text("Unfinished")).to_be_visible(timeout=BOUND_MS)
    await upload.locator("input[type=file]").set_input_files(
        {"name": "rows.jsonl", "mimeType": "text/plain", "buffer": b"another file"}
    )
    await expect(upload.get_by_role("alert")).to_contain_text("another file", timeout=BOUND_MS)
    offsets = await parts_sent(page, 100)
    await upload.locator("input[type=file]").set_input_files(file)
    await expect(page.get_by_text("all_refused").or_(page.get_by_text("None of the 4000 rows")).first).to_be_visible(
        timeout=BOUND_MS
    )
    assert offsets[0] == 2**20, "it goes on behind the part that arrived"


async def test_a_killed_server_takes_the_upload_up_again(
    platform: TemporaryPlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The web process is killed between two parts; every byte arrives once."""
    monkeypatch.setattr(uploads, "PART_BYTES", 2**20)
    monkeypatch.setattr(uploads, "RETRY_PAUSES_SECONDS", (0.5,) * 120)
    token = platform.manage("make_token", "researcher", "uploads").split()[-1]
    file = tmp_path / "killed.jsonl"
    row = json.dumps({"format": "unknown", "filler": "x" * 2_000}) + "\n"
    file.write_text(row * 3_000)
    killed: list[int] = []

    def kill_at(received: int, size: int) -> None:
        if received >= 2 * 2**20 and not killed:
            killed.append(received)
            os.kill(platform.pid("web"), signal.SIGKILL)

    def run() -> int:
        with Pilothouse(platform.url, token) as client:
            begun = client.import_start(file, progress=kill_at)
            with pytest.raises(ImportFailed):
                client.import_wait(begun.id)
            return sum(1 for _ in client.import_refused(begun.id))

    assert await asyncio.to_thread(run) == 3_000, "the digest was right, and every row was read"
    assert killed == [2 * 2**20]
