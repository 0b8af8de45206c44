"""An admin has a pool judged by its verifiers and sees how far they agree with who did the tasks, in light and dark."""

from itertools import count

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow


async def test_a_pool_is_judged_and_held_against_its_annotator(sign_in: SignIn, drill_numbers: "count[int]") -> None:
    pool = f"Drill {next(drill_numbers)}"
    episode_page = EpisodePage(await sign_in("annotator"))
    await episode_page.take(pool)
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    page = await sign_in("admin")
    await page.keyboard.press("Alt+J")
    await expect(page.get_by_role("heading", name="Assign a judge to a pool")).to_be_visible(timeout=BOUND_MS)
    for field, choice in (("Judge", "verifier 1"), ("Pool", pool)):
        await page.get_by_role("combobox", name=field).click()
        await page.get_by_role("option", name=choice, exact=True).click()
    await page.get_by_role("button", name="Assign").click()
    row = page.get_by_role("row").filter(has_text=pool)
    await expect(row.get_by_text("No human outcomes yet")).to_be_visible(timeout=BOUND_MS)
    await row.get_by_role("button", name=f"Judge {pool} with verifier", exact=True).click()
    await expect(row.get_by_text("1 of 1")).to_be_visible(timeout=BOUND_MS)
    await expect(row.get_by_text("0 done, 1 not")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "judges")

    await row.get_by_role("button", name=f"0.50: threshold of verifier in {pool}").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Use 0.00")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "threshold", within=dialog)
    await dialog.get_by_role("button", name="Use 0.00").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await expect(row.get_by_text("0.00", exact=True).first).to_be_visible(timeout=BOUND_MS)

    dark = await sign_in("admin", "/judges", dark=True)
    await expect(dark.get_by_role("row").filter(has_text=pool)).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(dark, "judges in the dark")
