"""An admin makes a pool, fills it from a file, puts somebody into it, and that person does a task of it."""

import re

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import SignIn
from tests.e2e.desk import BOUND_MS, Desk
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

INSTRUCTION = "Type the line hello world into the open file hello.txt and save it."
ROWS = f"id,instruction,suite,name\none,{INSTRUCTION},desktop,say_hello\ntwo,{INSTRUCTION},desktop,say_hello\n"


async def test_a_pool_from_a_file_is_assigned_and_worked_on(sign_in: SignIn) -> None:
    page = await sign_in("admin")
    await page.goto("/pools")
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
    await terms.get_by_role("button", name="I agree").click()
    desk = Desk(person)
    await desk.opened()
    await desk.finish(success=False)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    row = page.get_by_role("row").filter(has_text="From a file")
    await expect(row.get_by_role("cell").nth(5)).to_have_text("1", timeout=BOUND_MS)
