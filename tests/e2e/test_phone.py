"""A phone at the desk: taps, a swipe, a long press and the phone's buttons, from the queue to the exported record."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from agent_backend.scripted.__main__ import PHONE
from agent_backend.scripted.script import Script, scripts_load
from annotation_app.operations.running import Running
from tests.e2e.conftest import SignIn
from tests.e2e.desk import BOUND_MS, Desk, open_queue
from tests.e2e.test_pages import SCHEMES, SIZES, assert_accessible, assert_no_scrolling, show_in
from trainer.data.trajectories import open_folder
from vocabulary.actions import Click, Drag, LongPress, OpenApp, Point, PressHome, Swipe
from vocabulary.dialects import dialect_named

TASK = "delete_conversation"
POOL = "Phone drill"
START_MS = 90_000
"""A phone starts twice, for the pool and for the task, and with it a browser: seconds, but not on a busy machine."""
DIALECT = dialect_named("ui_tars_1_5")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("adb") is None, reason="needs adb")]


@pytest.fixture
def script(platform: Running) -> Script:
    """The script of the task, of which a pool of its own holds copies."""
    platform.manage("shell", "-c", f"from tests.e2e.drills import drills_load; drills_load({(POOL, TASK)!r})")
    return next(script for script in scripts_load(PHONE) if script.task == TASK)


async def take(page: Page, size: ViewportSize) -> Desk:
    """Claim a task, and wait until the phone is up and candidates are offered."""
    await page.set_viewport_size(size)
    desk = Desk(page)
    await open_queue(page)
    await page.get_by_role("button", name=f"Take one from {POOL}", exact=True).click()
    await expect(desk.cards.first).to_be_visible(timeout=START_MS)
    return desk


async def accept_right(desk: Desk, script: Script, stage: int) -> None:
    """Accept what the script says is right at a stage, and wait for the next step."""
    line, before = script.stages[stage].lines[0], await desk.step()
    said = DIALECT.write(line.thought, line.action, script.screen).split("Action: ", 1)[1]
    await desk.accept(desk.card(said))
    if stage < len(script.stages) - 1:
        await desk.stepped(before)


async def override(desk: Desk, *keys: str) -> None:
    """Do what these keys mean, and wait for the next step."""
    before = await desk.step()
    for key in keys:
        await desk.page.keyboard.press(key)
    await desk.stepped(before)


async def hold(desk: Desk, at: Point) -> None:
    """Press until the desk takes it for a long press."""
    await desk.page.mouse.move(*await desk.place(at.x, at.y))
    await desk.page.mouse.down()
    await expect(desk.line).to_have_text(re.compile("^long_press"), timeout=BOUND_MS)
    await desk.page.mouse.up()


async def slide(desk: Desk, start: Point, end: Point) -> None:
    """Press at one place and let go at the other."""
    mouse = desk.page.mouse
    await mouse.move(*await desk.place(start.x, start.y))
    await mouse.down()
    await mouse.move(*await desk.place(end.x, end.y), steps=6)
    await mouse.up()
    await expect(desk.line).to_have_text(re.compile("^swipe"), timeout=BOUND_MS)


async def test_a_task_by_accepting_and_overriding_reaches_the_export(
    sign_in: SignIn, platform: Running, script: Script, tmp_path: Path
) -> None:
    desk = await take(await sign_in("annotator"), SIZES[1])
    swipe = script.stages[1].lines[0].action
    assert isinstance(swipe, Drag)
    elsewhere = Point(x=206, y=swipe.start.y + 63 if swipe.start.y < 300 else swipe.start.y - 63)

    await accept_right(desk, script, 0)
    await desk.think("Pressing a row long shows what can be done with it.")
    await hold(desk, elsewhere)
    await override(desk, "Enter")
    await desk.think("That is somebody else. I go back.")
    await override(desk, "Backspace")
    await desk.think("This is the conversation. I move it aside.")
    await slide(desk, swipe.start, swipe.end)
    await override(desk, "Enter")
    await accept_right(desk, script, 2)
    await accept_right(desk, script, 3)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    await expect(desk.ended).to_contain_text("100", timeout=BOUND_MS)
    assert await desk.ended.get_by_role("alert").count() == 0, "verifier and annotator disagree"

    reviewer = await sign_in("reviewer", f"/episodes/{desk.episode}")
    accept = reviewer.get_by_role("button", name=re.compile("^Accept Shift"))
    await accept.click()
    await expect(accept).to_have_count(0, timeout=BOUND_MS)
    platform.manage("export_trajectories", str(tmp_path / "export"))
    exported = {one.id: one for one in open_folder(tmp_path / "export").trajectories()}[desk.episode]
    assert [(step.decision, step.action.kind) for step in exported.steps][:5] == [
        ("accept", "click"),
        ("override", "long_press"),
        ("override", "press_back"),
        ("override", "swipe"),
        ("accept", "click"),
    ]
    assert exported.steps[1].action == LongPress(x=elsewhere.x, y=elsewhere.y)
    assert exported.steps[3].action == Swipe(start=swipe.start, end=swipe.end)
    assert exported.verdict is not None
    assert exported.verdict.success


async def test_apps_and_buttons_of_the_phone_are_a_key_away(sign_in: SignIn, script: Script) -> None:
    page = await sign_in("annotator")
    desk = await take(page, SIZES[1])
    await desk.think("I look at the clock.")
    await page.keyboard.press("q")
    await expect(page.get_by_role("textbox", name="Open an app")).to_be_focused(timeout=BOUND_MS)
    await page.keyboard.type("clo")
    await expect(page.get_by_role("button", name="Clock", exact=True)).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Enter")
    await desk.stepped(1)
    await desk.think("And home again.")
    await page.keyboard.press("Home")
    await desk.stepped(2)
    await desk.think("A tap on the dock.")
    await page.mouse.click(*await desk.place(157, 807))
    await override(desk, "Enter")
    assert [step.action for step in await desk.steps()] == [OpenApp(name="Clock"), PressHome(), Click(x=157, y=807)]
    await assert_accessible(page, "desk of a phone")
    await desk.leave()


async def test_a_phone_fits_a_small_screen(sign_in: SignIn, script: Script) -> None:
    page = await sign_in("annotator")
    desk = await take(page, SIZES[0])
    for scheme in SCHEMES:
        await show_in(page, scheme)
        await assert_no_scrolling(page)
        await assert_accessible(page, f"desk of a phone, {scheme}")
        box = await desk.picture.bounding_box()
        assert box is not None
        assert box["height"] > 0.85 * SIZES[0]["height"]
    await desk.leave()
