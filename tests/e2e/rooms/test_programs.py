"""A program of the annotator's own reaches the browser of an episode at the address that its page gives out."""

import pytest
from playwright.async_api import Error, async_playwright, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_browser import START_MS, take
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

POOL = "Program drill"


async def test_a_program_connects_once_at_the_address_it_is_given(sign_in: SignIn, platform: TemporaryPlatform) -> None:
    loaded = f"from tests.e2e.drills import drills_load; drills_load(({POOL!r}, 'games/2048'))"
    platform.manage("shell", "-c", loaded)
    desk = await take(await sign_in("annotator"), POOL)
    page = desk.page
    await page.keyboard.press("Shift+B")
    dialog = page.get_by_role("dialog", name="Connect a program")
    await dialog.get_by_role("button", name="Make an address").click(timeout=BOUND_MS)
    await expect(dialog.get_by_text("The address works once and expires in 5 minutes.")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "connect a program")
    address = await dialog.locator("pre").first.inner_text()
    async with async_playwright() as playwright:
        program = await playwright.chromium.connect_over_cdp(address, timeout=START_MS)
        assert "2048" in await program.contexts[0].pages[0].title()
        await program.close()
        with pytest.raises(Error, match=r"4\d\d"):
            await playwright.chromium.connect_over_cdp(address, timeout=START_MS)
    await page.keyboard.press("Escape")
    await desk.leave()
