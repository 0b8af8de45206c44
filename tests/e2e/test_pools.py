"""An admin makes a pool, fills it from a file, puts somebody into it, and that person does a task of it; people are
dragged on the board or put into pools by keys, several pools are changed together, and all of it is taken back."""

import re

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

INSTRUCTION = "Type the line hello world into the open file hello.txt and save it."
ROWS = f"id,instruction,suite,name\none,{INSTRUCTION},desktop,say_hello\ntwo,{INSTRUCTION},desktop,say_hello\n"


async def test_a_pool_from_a_file_is_assigned_and_worked_on(sign_in: SignIn) -> None:
    page = await sign_in("admin", "/pools")
    await page.get_by_role("button", name="New pool").click(timeout=BOUND_MS)
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Name").fill("From a file")
    await dialog.get_by_role("combobox", name="Who proposes").click()
    await page.get_by_role("option", name="scripted 1", exact=True).click()
    await dialog.get_by_role("textbox", name=re.compile("Terms people agree to")).fill("The screen is **recorded**.")
    await assert_accessible(page, "settings of a pool")
    await dialog.get_by_role("button", name="Make the pool").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)

    await page.get_by_role("button", name="Tasks of From a file").click()
    await dialog.locator("input[type=file]").set_input_files(
        {"name": "tasks.csv", "mimeType": "text/csv", "buffer": f"{ROWS}three,\n".encode()}
    )
    await dialog.get_by_role("button", name="Look at it first").click()
    await expect(dialog.get_by_text(re.compile("^Row 4:"))).to_be_visible(timeout=BOUND_MS)
    await dialog.locator("input[type=file]").set_input_files(
        {"name": "tasks.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}
    )
    await dialog.get_by_role("button", name="Look at it first").click()
    await dialog.get_by_role("button", name="Add 2 tasks").click(timeout=BOUND_MS)
    await expect(dialog.get_by_text("2 tasks were added")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Escape")

    await page.get_by_role("button", name="Pools of Ada Annotator").click()
    await page.get_by_role("menuitemcheckbox", name="From a file").click()
    column = page.get_by_role("region", name="From a file")
    await expect(column.get_by_text("Ada Annotator")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Escape")
    await assert_accessible(page, "pools")

    person = await sign_in("annotator", dark=True)
    await person.get_by_role("button", name="Take one from From a file", exact=True).click(timeout=BOUND_MS)
    terms = person.get_by_role("dialog")
    await expect(terms.get_by_text("recorded", exact=True)).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(person, "terms, dark", within=terms)
    await terms.get_by_role("button", name="I agree").click()
    episode_page = EpisodePage(person)
    await episode_page.opened()
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    row = page.get_by_role("row").filter(has_text="From a file")
    await expect(row.get_by_role("cell").nth(5)).to_have_text("1", timeout=BOUND_MS)


async def test_people_are_dragged_and_pools_changed_together(sign_in: SignIn, platform: TemporaryPlatform) -> None:
    names = ("1st board", "2nd board")  # first in the order: nothing scrolls while somebody is dragged
    pools = tuple((name, "say_hello") for name in names)
    platform.manage("shell", "-c", f"from tests.e2e.drills import drills_load; drills_load(*{pools!r})")
    page = await sign_in("admin", "/pools")
    one, two = (page.get_by_role("region", name=name) for name in names)
    ada = page.get_by_role("listitem").and_(page.locator("[draggable=true]")).filter(has_text="Ada Annotator")
    undo = page.get_by_role("button", name=re.compile("^Undo"))

    await one.get_by_role("button", name="Take Ada Annotator out of 1st board").click(timeout=BOUND_MS)
    await expect(one.get_by_text("Ada Annotator")).to_have_count(0, timeout=BOUND_MS)
    await undo.click(timeout=BOUND_MS)
    await expect(one.get_by_text("Ada Annotator")).to_be_visible(timeout=BOUND_MS)
    await one.get_by_role("button", name="Take Ada Annotator out of 1st board").click()
    await expect(one.get_by_text("Ada Annotator")).to_have_count(0, timeout=BOUND_MS)
    await ada.drag_to(one, target_position={"x": 40, "y": 12})
    await expect(one.get_by_text("Ada Annotator")).to_be_visible(timeout=BOUND_MS)

    await ada.get_by_role("button", name="Pools of Ada Annotator").focus()
    await page.keyboard.press("Enter")
    item = page.get_by_role("menuitemcheckbox", name="2nd board")
    await expect(item).to_have_attribute("aria-checked", "true", timeout=BOUND_MS)
    for _ in range(await page.get_by_role("menuitemcheckbox").count()):
        await page.keyboard.press("ArrowDown")
        if await item.evaluate("item => item === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await expect(two.get_by_text("Ada Annotator")).to_have_count(0, timeout=BOUND_MS)
    await page.keyboard.press("Enter")
    await expect(two.get_by_text("Ada Annotator")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Escape")

    paused = [page.get_by_role("row").filter(has_text=name).get_by_text("paused") for name in names]
    for name in names:
        await page.get_by_role("checkbox", name=f"Choose {name}").check()
    together = page.get_by_role("group", name="2 pools chosen")
    await together.get_by_role("button", name="Pause", exact=True).click()
    for badge in paused:
        await expect(badge).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Alt+z")
    for badge in paused:
        await expect(badge).to_have_count(0, timeout=BOUND_MS)

    await together.get_by_role("button", name="Settings…").click()
    dialog = page.get_by_role("dialog", name="Settings of 2 pools")
    await dialog.get_by_role("textbox", name="Most steps").fill("55")
    await assert_accessible(page, "settings of several pools")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    for name in names:
        await page.get_by_role("button", name=f"Edit {name}").click()
        settings = page.get_by_role("dialog", name=f"Settings of {name}")
        await expect(settings.get_by_role("textbox", name="Most steps")).to_have_value("55", timeout=BOUND_MS)
        await page.keyboard.press("Escape")
        await expect(settings).to_have_count(0, timeout=BOUND_MS)
