"""An admin chooses images and suites from lists, and changes tasks that are there, each with an undo."""

import re

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

ROWS = "id,instruction,gold\none,Do one,no\ntwo,Do two,no\nthree,Do three,yes\n"


async def test_names_that_nobody_has_cannot_be_chosen(sign_in: SignIn) -> None:
    page = await sign_in("admin", "/pools")
    await page.get_by_role("button", name="New pool").click(timeout=BOUND_MS)
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Name").fill("Chosen")
    image = dialog.get_by_role("combobox", name="Machine image")
    await image.fill("dekstop")
    await expect(page.get_by_role("option", name="dekstop")).to_have_count(0, timeout=BOUND_MS)
    await image.fill("desktop")
    await page.get_by_role("option", name="desktop", exact=True).click(timeout=BOUND_MS)
    await dialog.get_by_role("button", name="Make the pool").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)

    await page.get_by_role("button", name="Tasks of Chosen").click()
    await dialog.get_by_role("combobox", name="Add tasks from").click()
    await page.get_by_role("option", name="A suite of the bridge").click()
    await dialog.get_by_role("combobox", name="Suite", exact=True).click()
    await page.get_by_role("option", name="desktop", exact=True).click(timeout=BOUND_MS)
    await dialog.get_by_role("combobox", name="Tasks", exact=True).fill("hello")
    await page.get_by_role("option", name=re.compile("^say_hello")).click(timeout=BOUND_MS)
    await page.keyboard.press("Escape")
    await dialog.get_by_role("textbox", name="Seeds", exact=True).fill("2")
    await assert_accessible(page, "tasks of a suite")
    await dialog.get_by_role("button", name="Look at it first").click()
    await dialog.get_by_role("button", name="Add 2 tasks").click(timeout=BOUND_MS)
    await expect(dialog.get_by_text("2 tasks were added")).to_be_visible(timeout=BOUND_MS)


async def test_tasks_are_changed_together_and_taken_back(sign_in: SignIn) -> None:
    page = await sign_in("admin", "/pools")
    await page.get_by_role("button", name="New pool").click(timeout=BOUND_MS)
    dialog = page.get_by_role("dialog").first
    await dialog.get_by_role("textbox", name="Name").fill("Changed")
    await dialog.get_by_role("button", name="Make the pool").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await page.get_by_role("button", name="Tasks of Changed").click()
    await dialog.locator("input[type=file]").set_input_files(
        {"name": "tasks.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}
    )
    await dialog.get_by_role("button", name="Look at it first").click()
    await dialog.get_by_role("button", name="Add 3 tasks").click(timeout=BOUND_MS)
    row = dialog.get_by_role("row")
    await expect(row.filter(has_text="Do three").get_by_text("Becomes gold")).to_be_visible(timeout=BOUND_MS)

    await dialog.get_by_role("checkbox", name="Choose one").check()
    await dialog.get_by_role("checkbox", name="Choose two").check()
    together = dialog.get_by_role("group", name="2 tasks chosen")
    withdrawn = dialog.get_by_role("table").get_by_text("Withdrawn")
    await together.get_by_role("button", name="Withdraw", exact=True).click()
    await expect(withdrawn).to_have_count(2, timeout=BOUND_MS)
    undo = page.get_by_role("button", name=re.compile("^Undo"))
    await expect(undo).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Alt+z")
    await expect(undo).to_have_count(0, timeout=BOUND_MS)
    await expect(withdrawn).to_have_count(0, timeout=BOUND_MS)
    await together.get_by_role("button", name="Make gold", exact=True).click()
    await expect(dialog.get_by_role("table").get_by_text("Becomes gold")).to_have_count(3, timeout=BOUND_MS)
    await assert_accessible(page, "tasks chosen")
    await together.get_by_role("button", name="Delete", exact=True).click()
    await expect(row.filter(has_text="Do two")).to_have_count(0, timeout=BOUND_MS)
    await expect(page.get_by_text("2 tasks were deleted")).to_be_visible(timeout=BOUND_MS)
    await undo.last.click(timeout=BOUND_MS)
    await expect(row.filter(has_text="Do two")).to_have_count(1, timeout=BOUND_MS)

    await row.filter(has_text="Do three").get_by_role("button", name="Edit three").click()
    edit = page.get_by_role("dialog", name="Edit three")
    await edit.get_by_role("textbox", name="Instruction").fill("Do three well")
    await edit.get_by_role("button", name="Save").click()
    await expect(row.filter(has_text="Do three well")).to_be_visible(timeout=BOUND_MS)
