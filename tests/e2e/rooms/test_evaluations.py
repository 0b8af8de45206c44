"""A researcher starts an evaluation, follows it to its report, and cancels another one."""

import json

import pytest
from playwright.async_api import Page, expect

from annotation_app.demo.demo_data import BROWSER_FILE
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import WIDTHS, assert_accessible, assert_fits_in_width

pytestmark = pytest.mark.slow


async def _start(page: Page, *, attempts: int) -> None:
    """Start an evaluation of the scripts at one short task of a file, from the page of evaluations."""
    task = next(one for one in json.loads(BROWSER_FILE.read_bytes()) if one["name"] == "lights")
    await page.goto("/evaluations")
    await page.get_by_role("button", name="Start an evaluation…").click(timeout=BOUND_MS)
    dialog = page.get_by_role("dialog", name="Start an evaluation")
    await dialog.get_by_label("Tasks", exact=True).select_option(label="A file…", timeout=BOUND_MS)
    buffer = json.dumps(task).encode()
    await page.locator("input[type=file]").set_input_files(
        {"name": "lights.json", "mimeType": "application/json", "buffer": buffer}
    )
    await dialog.get_by_label("Policy").select_option(label="The tasks' own scripts")
    await dialog.get_by_label("Attempts").fill(str(attempts))
    await assert_accessible(page, "start an evaluation")
    await dialog.get_by_role("button", name="Start", exact=True).click()


async def test_an_evaluation_is_started_followed_and_cancelled(sign_in: SignIn) -> None:
    page = await sign_in("researcher", "/evaluations")
    title = page.get_by_role("heading", name="The tasks' own scripts on lights.json")
    await _start(page, attempts=200)
    await expect(title).to_be_visible(timeout=BOUND_MS)
    await expect(page.get_by_text("Running", exact=True)).to_be_visible(timeout=BOUND_MS)
    for size in WIDTHS:
        await page.set_viewport_size(size)
        await assert_fits_in_width(page)
        await assert_accessible(page, f"an evaluation in progress at {size}")
    await page.get_by_role("button", name="Cancel").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").last.click()
    await expect(page.get_by_text("Interrupted", exact=True)).to_be_visible(timeout=BOUND_MS)
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()

    await _start(page, attempts=1)
    await expect(page.get_by_text("1 task · 1 attempt")).to_be_visible(timeout=BOUND_MS)
    await expect(title).to_be_visible()
    await page.goto("/evaluations")
    unfinished = page.get_by_role("region", name="Not finished")
    await expect(unfinished.get_by_role("row")).to_have_count(2, timeout=BOUND_MS)
    await expect(unfinished.get_by_role("button", name="Start")).to_be_visible()
    await unfinished.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(unfinished).to_have_count(0, timeout=BOUND_MS)
