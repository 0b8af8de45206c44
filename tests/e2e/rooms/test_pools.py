"""An admin chooses images and suites from lists, is told of those that no host makes any more, and changes tasks that
are there, each with an undo."""

import re
from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, open_queue
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

UNKNOWN_SUITE = "id,instruction,suite,name\none,Do one,desktpo,say_hello\n"
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
    await dialog.locator("input[type=file]").set_input_files(
        {"name": "tasks.csv", "mimeType": "text/csv", "buffer": UNKNOWN_SUITE.encode()}
    )
    await dialog.get_by_role("button", name="Look at it first").click()
    await expect(dialog.get_by_text(re.compile("^Row 2: suite"))).to_be_visible(timeout=BOUND_MS)
    await dialog.get_by_role("combobox", name="Add tasks from").click()
    await page.get_by_role("option", name="A suite of the bridge").click()
    await dialog.get_by_role("combobox", name="Suite", exact=True).click()
    suites = page.get_by_role("option")
    reported = (await (await page.request.get("/api/pools/choices")).json())["suites"]
    await expect(suites).to_have_text([suite["name"] for suite in reported if suite["platform"] == "desktop"])
    await page.get_by_role("option", name="desktop", exact=True).click()
    names = dialog.get_by_role("combobox", name="Tasks", exact=True)
    await names.fill("say_helo")
    await expect(page.get_by_role("option")).to_have_count(0, timeout=BOUND_MS)
    await names.fill("hello")
    await page.get_by_role("option", name=re.compile("^say_hello")).click(timeout=BOUND_MS)
    await page.keyboard.press("Escape")
    await dialog.get_by_role("textbox", name="Seeds", exact=True).fill("2")
    await assert_accessible(page, "tasks of a suite")
    await dialog.get_by_role("button", name="Look at it first").click()
    await dialog.get_by_role("button", name="Add 2 tasks").click(timeout=BOUND_MS)
    await expect(dialog.get_by_text("2 tasks were added")).to_be_visible(timeout=BOUND_MS)


@pytest.fixture
def vanished(platform: TemporaryPlatform, drill_numbers: "count[int]") -> Iterator[str]:
    """The name of a pool whose image no host makes any more."""
    pool = f"Drill {next(drill_numbers)}"
    changed = "UPDATE tasks_pool SET image = %s WHERE name = %s"
    with psycopg.connect(platform.environment["PILOTHOUSE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(changed, ["vanished", pool])
        yield pool
        connection.execute(changed, ["desktop", pool])


async def test_an_image_that_no_host_makes_is_told_where_it_is_missed(sign_in: SignIn, vanished: str) -> None:
    annotator = await sign_in("annotator")
    desk = EpisodePage(annotator)
    await open_queue(annotator)
    await annotator.get_by_role("button", name=f"Take one from {vanished}", exact=True).click()
    await annotator.wait_for_url("**/desk/**", timeout=BOUND_MS)
    admin = await sign_in("admin", "/machines")
    told = f"No host makes the image vanished. Episodes of {vanished} cannot begin"
    await expect(admin.get_by_role("alert").filter(has_text=told)).to_be_visible(timeout=BOUND_MS)
    await admin.goto("/health")
    row = admin.get_by_role("listitem").filter(has_text="Machine image vanished")
    await expect(row.get_by_text("No host makes it, and tasks wait for it in:")).to_be_visible(timeout=BOUND_MS)
    await expect(row.get_by_text(vanished)).to_be_visible()
    waiting = annotator.get_by_role("status").filter(has_text="No machine is free yet")
    await expect(waiting).to_contain_text("vanished", timeout=BOUND_MS)
    await assert_accessible(annotator, "no host makes the image")
    await desk.leave()


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
    await expect(page.get_by_text("The task three is changed")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Alt+z")
    await expect(row.filter(has_text="Do three well")).to_have_count(0, timeout=BOUND_MS)
    await expect(row.filter(has_text="Do three")).to_be_visible()
