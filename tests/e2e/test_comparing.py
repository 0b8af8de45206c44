"""Attempts side by side: two policies at one task, by keys, and a reviewer's word on which attempt counts."""

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def history(platform: TemporaryPlatform) -> None:
    """Some invented work, with attempts at one task under two revisions."""
    platform.manage("shell", "-c", "from tests.e2e.history import twins_load; twins_load()")


async def test_two_policies_are_compared_and_one_attempt_is_chosen(history: None, sign_in: SignIn) -> None:
    researcher = await sign_in("researcher", "/compare?left=harbour+step-1200")
    await researcher.get_by_role("combobox", name="Right policy").press_sequentially("step-2400", timeout=BOUND_MS)
    await expect(researcher.get_by_role("option", name="step-2400")).to_be_visible(timeout=BOUND_MS)
    await researcher.keyboard.press("ArrowDown")
    await researcher.keyboard.press("Enter")
    met = researcher.get_by_role("table").get_by_role("link").first
    await expect(met).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(researcher, "two policies")
    await met.press("Enter")
    rows = researcher.get_by_role("navigation", name="Steps side by side")
    await expect(rows).to_be_visible(timeout=BOUND_MS)
    assert researcher.url.count("=") == 2, "the address names both attempts"
    await expect(researcher.get_by_role("button", name="Choose the left one")).to_have_count(0)

    reviewer = await sign_in("reviewer", researcher.url, dark=True)
    await expect(rows_of := reviewer.get_by_role("navigation", name="Steps side by side")).to_be_visible(
        timeout=BOUND_MS
    )
    await assert_accessible(reviewer, "comparison")
    at = rows_of.locator("[aria-current=step]")
    await expect(at).to_contain_text("≠", timeout=BOUND_MS)
    await assert_accessible(reviewer, "comparison")
    await reviewer.keyboard.press("j")
    await expect(at).not_to_contain_text("≠", timeout=BOUND_MS)
    await reviewer.keyboard.press("d")
    await expect(at).to_contain_text("≠", timeout=BOUND_MS)
    await reviewer.keyboard.press("2")
    left, right = (
        reviewer.get_by_role("region", name=f"{side}:").get_by_text("chose this one") for side in ("Left", "Right")
    )
    await expect(right).to_be_visible(timeout=BOUND_MS)
    await reviewer.keyboard.press("c")
    await expect(reviewer.get_by_role("textbox", name="Why it counts")).to_be_focused(timeout=BOUND_MS)
    await reviewer.keyboard.insert_text("1 step less is no gain here.")
    await reviewer.keyboard.press("Enter")
    await reviewer.keyboard.press("1")
    await expect(left).to_be_visible(timeout=BOUND_MS)
    await expect(left).to_have_attribute("title", "1 step less is no gain here.")
    await expect(right).to_have_count(0)
