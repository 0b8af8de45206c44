"""A researcher narrows a search, exports what it found, keeps the query and freezes the file; an admin makes a task
gold by a finished episode."""

import pytest
from playwright.async_api import Page, expect

from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow


async def _finished(page: Page, desk: EpisodePage) -> str:
    """The name of the pool of a desk whose task was finished after one step."""
    await page.keyboard.press("1")
    await desk.stepped(1)
    pool = (await desk.state()).pool
    await desk.finish(success=False)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    return pool


async def test_what_was_found_is_exported_kept_and_frozen(sign_in: SignIn, drill: Drill) -> None:
    annotator = await sign_in("annotator")
    pool = await _finished(annotator, await drill(annotator))

    page = await sign_in("researcher", "/exports")
    await page.get_by_role("combobox", name="Pool", exact=True).click()
    await page.get_by_role("option", name=pool, exact=True).click(timeout=BOUND_MS)
    found = page.get_by_role("main").get_by_text("1 trajectory", exact=True)
    await expect(found).to_be_visible(timeout=BOUND_MS)
    await page.get_by_role("combobox", name="Action", exact=True).click()
    await page.get_by_role("option").first.click(timeout=BOUND_MS)
    await expect(found).to_be_visible(timeout=BOUND_MS)
    await page.get_by_role("textbox", name="Name", exact=True).fill("One drill")
    await page.get_by_role("button", name="Keep this query").click()
    await expect(page.get_by_role("button", name="One drill", exact=True)).to_be_visible(timeout=BOUND_MS)

    await page.get_by_role("button", name="Export these…").click()
    dialog = page.get_by_role("dialog", name="Export these…")
    await expect(dialog.get_by_text("0 trajectories match.")).to_be_visible(timeout=BOUND_MS)
    await dialog.get_by_role("checkbox", name="Only what reviewers accepted (0 of 1)").uncheck()
    await expect(dialog.get_by_text("1 trajectory matches.")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "export what was found")
    await dialog.get_by_role("button", name="Start export").click()
    row = page.get_by_role("row").filter(has_text=f"pool {pool}")
    await expect(row.get_by_role("link", name="Download")).to_be_visible(timeout=BOUND_MS)

    await row.get_by_role("button", name="Freeze…").click()
    freeze = page.get_by_role("dialog", name="Freeze as a dataset version")
    await freeze.get_by_role("textbox", name="Name").fill("one-drill")
    await freeze.get_by_role("button", name="Freeze", exact=True).click()
    await expect(page.get_by_role("row").filter(has_text="one-drill")).to_be_visible(timeout=BOUND_MS)

    await page.goto("/exports")
    await page.get_by_role("button", name="One drill", exact=True).click(timeout=BOUND_MS)
    await expect(found).to_be_visible(timeout=BOUND_MS)


async def test_a_finished_episode_makes_its_task_gold(sign_in: SignIn, drill: Drill) -> None:
    annotator = await sign_in("annotator")
    pool = await _finished(annotator, await drill(annotator))

    page = await sign_in("admin", "/pools")
    await page.get_by_role("button", name=f"Tasks of {pool}", exact=True).click(timeout=BOUND_MS)
    tasks = page.get_by_role("dialog", name=pool)
    done = tasks.get_by_role("row").filter(has_text="Done")
    await done.get_by_role("button", name="Reference of").click(timeout=BOUND_MS)
    references = page.get_by_role("dialog", name="Reference of")
    await references.get_by_role("button", name="Use the episode of Ada Annotator as reference").click(timeout=BOUND_MS)
    await expect(references).to_have_count(0, timeout=BOUND_MS)
    await expect(done.get_by_text("Gold", exact=True)).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "tasks with gold")
