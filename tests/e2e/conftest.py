"""People in a real Chromium before the whole platform with the demo's contents."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from annotation_app.operations.running import Running

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
BOUND_MS = 20_000
SignIn = Callable[..., Awaitable[Page]]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest.fixture
def sign_in(browser: Browser, platform: Running) -> SignIn:
    """Opens a page of one's own, signed in as a demo user; a script given runs in it before the page's own."""

    async def open_as(user: str, *, script: str = "", locale: str = "en-GB", dark: bool = False) -> Page:
        context = await browser.new_context(
            viewport={"width": 1280, "height": 800},
            locale=locale,
            color_scheme="dark" if dark else "light",
            base_url=platform.url,
        )
        page = await context.new_page()
        if script:
            await page.add_init_script(script)
        await page.goto("/queue")
        await page.locator("input[autocomplete=username]").fill(user)
        await page.locator("input[type=password]").fill(f"{user}-demo")
        await page.keyboard.press("Enter")
        await expect(page.locator("input[type=password]")).to_have_count(0, timeout=BOUND_MS)
        return page

    return open_as
