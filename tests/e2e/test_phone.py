"""A phone at the desk: taps, a swipe, a long press and the phone's buttons, from the queue to the exported record."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from agent_backend.scripted_policy.__main__ import PHONE
from agent_backend.scripted_policy.script import Script, load_scripts
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import Click, Drag, LongPress, OpenApp, Point, PressHome, Swipe
from protocol.dialects.families import get_dialect
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, open_queue
from tests.e2e.test_pages import SCHEMES, SIZES, assert_accessible, assert_no_scrolling, show_in
from trainer.data.trajectories import open_folder

TASK = "delete_conversation"
POOL = "Phone drill"
START_MS = 90_000
"""A phone starts twice, for the pool and for the task, and with it a browser: seconds, but not on a busy machine."""
DIALECT = get_dialect("ui_tars_1_5")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("adb") is None, reason="needs adb")]


@pytest.fixture
def script(platform: TemporaryPlatform) -> Script:
    """The script of the task, of which a pool of its own holds copies."""
    platform.manage("shell", "-c", f"from tests.e2e.drills import drills_load; drills_load({(POOL, TASK)!r})")
    return next(script for script in load_scripts(PHONE) if script.task == TASK)


async def take(page: Page, size: ViewportSize) -> EpisodePage:
    """Claim a task, and wait until the phone is up and candidates are offered."""
    await page.set_viewport_size(size)
    episode_page = EpisodePage(page)
    await open_queue(page)
    await page.get_by_role("button", name=f"Take one from {POOL}", exact=True).click()
    await expect(episode_page.cards.first).to_be_visible(timeout=START_MS)
    return episode_page


async def accept_right(episode_page: EpisodePage, script: Script, stage: int) -> None:
    """Accept what the script says is right at a stage, and wait for the next step."""
    line, before = script.stages[stage].lines[0], await episode_page.step()
    said = DIALECT.write(line.thought, line.action, script.screen).split("Action: ", 1)[1]
    await episode_page.accept(episode_page.card(said))
    if stage < len(script.stages) - 1:
        await episode_page.stepped(before)


async def override(episode_page: EpisodePage, *keys: str) -> None:
    """Do what these keys mean, and wait for the next step."""
    before = await episode_page.step()
    for key in keys:
        await episode_page.page.keyboard.press(key)
    await episode_page.stepped(before)


async def hold(episode_page: EpisodePage, at: Point) -> None:
    """Press until the desk takes it for a long press."""
    await episode_page.page.mouse.move(*await episode_page.place(at.x, at.y))
    await episode_page.page.mouse.down()
    await expect(episode_page.line).to_have_text(re.compile("^long_press"), timeout=BOUND_MS)
    await episode_page.page.mouse.up()


async def slide(episode_page: EpisodePage, start: Point, end: Point) -> None:
    """Press at one place and let go at the other. The first move follows the press at once, since a pause makes it a
    long press."""
    mouse = episode_page.page.mouse
    begin, finish = await episode_page.place(start.x, start.y), await episode_page.place(end.x, end.y)
    await mouse.move(*begin)
    await asyncio.gather(mouse.down(), mouse.move((begin[0] + finish[0]) / 2, (begin[1] + finish[1]) / 2))
    await mouse.move(*finish, steps=3)
    await mouse.up()
    await expect(episode_page.line).to_have_text(re.compile("^swipe"), timeout=BOUND_MS)


async def test_a_task_by_accepting_and_overriding_reaches_the_export(
    sign_in: SignIn, platform: TemporaryPlatform, script: Script, tmp_path: Path
) -> None:
    episode_page = await take(await sign_in("annotator"), SIZES[1])
    swipe = script.stages[1].lines[0].action
    assert isinstance(swipe, Drag)
    elsewhere = Point(x=206, y=swipe.start.y + 63 if swipe.start.y < 300 else swipe.start.y - 63)

    await accept_right(episode_page, script, 0)
    await episode_page.think("Pressing a row long shows what can be done with it.")
    await hold(episode_page, elsewhere)
    await override(episode_page, "Enter")
    await episode_page.think("That is somebody else. I go back.")
    await override(episode_page, "Backspace")
    await episode_page.think("This is the conversation. I move it aside.")
    await slide(episode_page, swipe.start, swipe.end)
    await override(episode_page, "Enter")
    await accept_right(episode_page, script, 2)
    await accept_right(episode_page, script, 3)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    await expect(episode_page.ended).to_contain_text("100", timeout=BOUND_MS)
    assert await episode_page.ended.get_by_role("alert").count() == 0, "verifier and annotator disagree"

    reviewer = await sign_in("reviewer", f"/episodes/{episode_page.episode}")
    accept = reviewer.get_by_role("button", name=re.compile("^Accept Shift"))
    await accept.click()
    await expect(accept).to_have_count(0, timeout=BOUND_MS)
    platform.manage("export_trajectories", str(tmp_path / "export"))
    exported = {one.id: one for one in open_folder(tmp_path / "export").trajectories()}[episode_page.episode]
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
    episode_page = await take(page, SIZES[1])
    await page.keyboard.down("Control")
    await page.mouse.click(*await episode_page.place(157, 807))
    await page.keyboard.up("Control")
    refused = page.get_by_role("alert").filter(has_text="This machine cannot hold Ctrl")
    await expect(refused).to_be_visible(timeout=BOUND_MS)
    await expect(episode_page.line).not_to_have_text(re.compile(r"^\w+\("))
    await page.keyboard.press("q")
    await expect(page.get_by_role("textbox", name="Open an app")).to_be_focused(timeout=BOUND_MS)
    await page.keyboard.type("clo")
    await expect(page.get_by_role("button", name="Clock", exact=True)).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Enter")
    await episode_page.think_when_asked("I look at the clock.")
    await episode_page.stepped(1)
    await episode_page.think("And home again.")
    await page.keyboard.press("Home")
    await episode_page.stepped(2)
    await episode_page.think("A tap on the dock.")
    await page.mouse.move(*await episode_page.place(157, 807))
    await asyncio.gather(page.mouse.down(), page.mouse.up())
    await override(episode_page, "Enter")
    assert [step.action for step in await episode_page.steps()] == [
        OpenApp(name="Clock"),
        PressHome(),
        Click(x=157, y=807),
    ]
    await assert_accessible(page, "desk of a phone")
    await episode_page.leave()


async def test_a_phone_fits_a_small_screen(sign_in: SignIn, script: Script) -> None:
    page = await sign_in("annotator")
    episode_page = await take(page, SIZES[0])
    for scheme in SCHEMES:
        await show_in(page, scheme)
        await assert_no_scrolling(page)
        await assert_accessible(page, f"desk of a phone, {scheme}")
        box = await episode_page.picture.bounding_box()
        assert box is not None
        assert box["height"] > 0.85 * SIZES[0]["height"]
    await episode_page.leave()
