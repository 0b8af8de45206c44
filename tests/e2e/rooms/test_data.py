"""A researcher narrows a search by each of its filters, exports what it found, keeps the query and freezes the file;
tasks that an admin marks become gold by the episode that a reviewer accepts, or that an admin chooses."""

import io
import re
import zipfile
from datetime import date, timedelta

import psycopg
import pytest
from playwright.async_api import Locator, Page, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import Action, PressKeys, TypeText
from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, open_queue
from tests.e2e.test_pages import assert_accessible
from tests.waiting import eventually

pytestmark = pytest.mark.slow

FACETS = {
    "Policy": "scripted 1",
    "Action": "press_keys",
    "Decisions": "Overridden",
    "Outcome": "Success",
    "Review": "Accepted",
}
"""Values that one of the two trajectories has."""
FIELDS = {
    "Search instructions, thoughts and actions": ("zebra", 1),
    "Steps from": ("2", 1),
    "Steps up to": ("1", 1),
    "Reward from": ("0.5", 0),
    "Reward up to": ("-1", 0),
    "Started on or after": (str(date.today() + timedelta(days=2)), 0),
    "Started before": (str(date.today() - timedelta(days=2)), 0),
}
"""What is written into each field, and how many of the two that leaves."""


async def _finished(page: Page, desk: EpisodePage) -> str:
    """The name of the pool of a desk whose task was finished after one step."""
    await page.keyboard.press("1")
    await desk.stepped(1)
    pool = (await desk.state()).pool
    await desk.finish(success=False)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    return pool


async def _overridden(desk: EpisodePage, pool: str) -> str:
    """An episode of two overrides, in a pool where nobody proposes."""
    await open_queue(desk.page)
    await desk.page.get_by_role("button", name=f"Take one from {pool}", exact=True).click(timeout=BOUND_MS)
    await expect(desk.picture).to_be_visible(timeout=BOUND_MS)
    actions: tuple[Action, ...] = (TypeText(text="zebra"), PressKeys(keys=("ctrl", "s")))
    for step, action in enumerate(actions, 1):
        await desk.override(action, "The word zebra is missing.")
        await expect(desk.steps_shown).to_have_text(re.compile(f"^Step {step + 1} of"), timeout=BOUND_MS)
    await desk.finish(success=True)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    return desk.episode


async def _accept(reviewer: Page, episode: str) -> None:
    """Accept an episode by its key."""
    await reviewer.goto(f"/episodes/{episode}")
    review = reviewer.get_by_role("region", name="Review", exact=True)
    await expect(review).to_be_visible(timeout=BOUND_MS)
    await reviewer.keyboard.press("Shift+Enter")
    await expect(review.get_by_role("heading", name="Accepted")).to_be_visible(timeout=BOUND_MS)


def _found(page: Page, count: int) -> Locator:
    """The count of what was found."""
    return page.get_by_role("main").get_by_text("1 trajectory" if count == 1 else f"{count} trajectories", exact=True)


async def _choose(page: Page, name: str, option: str) -> None:
    """Choose an option of a filter, or what was chosen once more, which clears it."""
    await page.get_by_role("combobox", name=name, exact=True).click()
    await page.get_by_role("option", name=re.compile(rf"^{re.escape(option)}( \(\d+\))?$")).click(timeout=BOUND_MS)


async def _narrow_by_each(page: Page) -> None:
    """Set each filter and take it back; two trajectories are found without it."""
    for name, value in FACETS.items():
        for left in (1, 2):
            await _choose(page, name, value)
            await expect(_found(page, left)).to_be_visible(timeout=BOUND_MS)
    await page.get_by_role("button", name="More filters").click()
    for left in (0, 2):
        await _choose(page, "Difficulty", "Level 5")
        await expect(_found(page, left)).to_be_visible(timeout=BOUND_MS)
    for left in (1, 2):
        await page.get_by_role("combobox", name="Annotator", exact=True).click()
        await page.get_by_role("option", name=re.compile(r"\badmin\b")).click(timeout=BOUND_MS)
        await expect(_found(page, left)).to_be_visible(timeout=BOUND_MS)
    for label, (value, count) in FIELDS.items():
        for written, left in ((value, count), ("", 2)):
            field = page.get_by_label(label, exact=True)
            await field.fill(written)
            await field.press("Enter")
            await expect(_found(page, left)).to_be_visible(timeout=BOUND_MS)


async def test_what_was_found_is_exported_kept_and_frozen(
    sign_in: SignIn, drill: Drill, platform: TemporaryPlatform
) -> None:
    annotator = await sign_in("annotator")
    first = await drill(annotator)
    pool = await _finished(annotator, first)
    admin = await sign_in("admin")
    with psycopg.connect(platform.environment["PILOTHOUSE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("UPDATE tasks_pool SET policy_id = NULL WHERE name = %s", [pool])
        exported = await _overridden(EpisodePage(admin), pool)
        await _accept(admin, first.episode)
        entry = "SELECT 1 FROM catalogue_entry WHERE episode_id = %s"
        await eventually(lambda: connection.execute(entry, [exported]).fetchone())

    page = await sign_in("researcher", "/exports")
    await _choose(page, "Pool", pool)
    await expect(_found(page, 2)).to_be_visible(timeout=BOUND_MS)
    await _narrow_by_each(page)
    words = page.get_by_role("textbox", name="Search instructions, thoughts and actions")
    await words.fill("zebra")
    await words.press("Enter")
    await expect(_found(page, 1)).to_be_visible(timeout=BOUND_MS)
    await page.get_by_role("textbox", name="Name", exact=True).fill("One drill")
    await page.get_by_role("button", name="Keep this query").click()
    await expect(page.get_by_role("button", name="One drill", exact=True)).to_be_visible(timeout=BOUND_MS)

    dialog = page.get_by_role("dialog", name="Export these…")
    rows = page.get_by_role("row").filter(has_text=f"pool {pool} · “zebra”")
    await page.get_by_role("button", name="Export these…").click()
    await expect(dialog.get_by_text("0 trajectories match.")).to_be_visible(timeout=BOUND_MS)
    await dialog.get_by_role("button", name="Start export").click()
    empty = rows.filter(has_text="Accepted")
    await expect(empty.get_by_text("Empty", exact=True)).to_be_visible(timeout=BOUND_MS)
    await expect(empty.get_by_text("Done", exact=True)).to_have_count(0)

    await page.get_by_role("button", name="Export these…").click()
    await dialog.get_by_role("checkbox", name="Only what reviewers accepted (0 of 1)").uncheck()
    await expect(dialog.get_by_text("1 trajectory matches.")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(page, "export what was found")
    await dialog.get_by_role("button", name="Start export").click()
    row = rows.filter(has_not_text="Accepted")
    await expect(row.get_by_text("Done", exact=True)).to_be_visible(timeout=BOUND_MS)
    address = await row.get_by_role("link", name="Download").get_attribute("href")
    assert address is not None
    data = await (await page.request.get(address)).body()
    with zipfile.ZipFile(io.BytesIO(data)) as folder:
        texts = "".join(folder.read(name).decode() for name in folder.namelist() if name.endswith(".jsonl"))
    assert exported in texts, "just what was found"
    assert first.episode not in texts

    await row.get_by_role("button", name="Freeze…").click()
    freeze = page.get_by_role("dialog", name="Freeze as a dataset version")
    await freeze.get_by_role("textbox", name="Name").fill("one-drill")
    await assert_accessible(page, "freeze", within=freeze)
    await freeze.get_by_role("button", name="Freeze", exact=True).click()
    await expect(page.get_by_role("row").filter(has_text="one-drill")).to_be_visible(timeout=BOUND_MS)

    await page.goto("/exports")
    await page.get_by_role("button", name="One drill", exact=True).click(timeout=BOUND_MS)
    await expect(words).to_have_value("zebra", timeout=BOUND_MS)
    await expect(_found(page, 1)).to_be_visible(timeout=BOUND_MS)


async def test_tasks_become_gold_by_what_a_reviewer_accepts_and_an_admin_chooses(sign_in: SignIn, drill: Drill) -> None:
    annotator = await sign_in("annotator")
    desk = await drill(annotator)
    page = await sign_in("admin", "/pools")
    pool = (await desk.state()).pool
    await page.get_by_role("button", name=f"Tasks of {pool}", exact=True).click(timeout=BOUND_MS)
    tasks = page.get_by_role("dialog", name=pool)
    boxes = tasks.get_by_role("checkbox", name=re.compile("^Choose "))
    await expect(boxes).to_have_count(4, timeout=BOUND_MS)
    for box in await boxes.all():
        await box.check()
    await tasks.get_by_role("button", name="Make gold", exact=True).click()
    wanted = tasks.get_by_role("table").get_by_text("Becomes gold")
    await expect(wanted).to_have_count(4, timeout=BOUND_MS)

    await _finished(annotator, desk)
    await _accept(await sign_in("reviewer"), desk.episode)
    await page.reload()
    await page.get_by_role("button", name=f"Tasks of {pool}", exact=True).click(timeout=BOUND_MS)
    done = tasks.get_by_role("row").filter(has_text="Done")
    gold = done.get_by_text("Gold", exact=True)
    await expect(gold).to_be_visible(timeout=BOUND_MS)
    await expect(wanted).to_have_count(3)
    await assert_accessible(page, "tasks with gold")

    references = page.get_by_role("dialog", name="Reference of")
    await done.get_by_role("button", name="Reference of").click()
    await expect(references.get_by_role("row").filter(has_text="Ada Annotator").get_by_text("Reference")).to_be_visible(
        timeout=BOUND_MS
    )
    await references.get_by_role("button", name="No reference").click()
    await expect(gold).to_have_count(0, timeout=BOUND_MS)
    await done.get_by_role("button", name="Reference of").click()
    await references.get_by_role("button", name="Use the episode of Ada Annotator as reference").click(timeout=BOUND_MS)
    await expect(references).to_have_count(0, timeout=BOUND_MS)
    await expect(gold).to_be_visible(timeout=BOUND_MS)
