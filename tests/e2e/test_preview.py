"""A machine's web programs at the desk: opened from the panel, shown in a frame, at work on the machine's files."""

import re

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import Drill, SignIn

START_MS = 90_000
"""A program starts when it is first asked for."""


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_jupyterlab_is_opened_from_the_workspace(sign_in: SignIn, drill: Drill) -> None:
    episode_page = await drill(await sign_in("annotator"))
    page = episode_page.page
    await page.keyboard.press("Escape")
    await page.keyboard.press("z")
    await expect(page.get_by_role("tab", name=re.compile("^Preview"))).to_have_attribute("aria-selected", "true")
    await page.get_by_role("button", name="JupyterLab", exact=True).click()
    frame = page.frame_locator("iframe[title=JupyterLab]")
    await expect(frame.locator(".jp-LauncherCard").first).to_be_visible(timeout=START_MS)
    await expect(frame.locator(".jp-DirListing-itemName", has_text="Desktop")).to_be_visible()
    cookies = {cookie["name"]: cookie for cookie in await page.context.cookies()}
    assert cookies["pilothouse-preview"]["httpOnly"]
    assert cookies["pilothouse-preview"]["path"].startswith("/sandboxes/")
