"""A browser at the desk: games and sites in their own time, from the queue to the exported record."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import ChooseFiles, Click, PressKeys
from protocol.messages.events import EpisodeState
from protocol.trajectory.observations import BrowserPage
from protocol.trajectory.trajectories import Trajectory
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, open_queue
from tests.e2e.test_pages import (
    SCHEMES,
    SIZES,
    assert_accessible,
    assert_accessible_in_both,
    assert_no_scrolling,
    show_in,
)
from trainer.data.trajectories import open_folder

GAME, SITE, MOVING, SMALL, CLASSIC = "Game drill", "Site drill", "Moving drill", "Small drill", "Classic drill"
FILES = "File drill"
DRILLS = (
    (GAME, "games/2048"),
    (SITE, "sites/wiki"),
    (MOVING, "games/snake"),
    (SMALL, "games/lights-s5-320x240"),
    (CLASSIC, "miniwob/click-test-2"),
    (FILES, "sites/mail-l4"),
)
START_MS = 90_000
"""The first session starts a browser process; seconds, but not on a busy machine."""
MOST_STEPS = 30
pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def pools(platform: TemporaryPlatform) -> None:
    """Pools with copies of one task each."""
    platform.manage("shell", "-c", f"from tests.e2e.drills import drills_load; drills_load(*{DRILLS!r})")


async def take(page: Page, pool: str, size: ViewportSize = SIZES[1]) -> EpisodePage:
    """Claim a task, and wait until the page is up and a candidate is offered."""
    await page.set_viewport_size(size)
    episode_page = EpisodePage(page)
    await open_queue(page)
    await page.get_by_role("button", name=f"Take one from {pool}", exact=True).click()
    await expect(episode_page.cards.first).to_be_visible(timeout=START_MS)
    return episode_page


def bar(episode_page: EpisodePage) -> Locator:
    """The browser's address, pages and time."""
    return episode_page.page.get_by_role("region", name="The browser's address, pages and time")


async def page_of(episode_page: EpisodePage) -> BrowserPage:
    """How the page stands, as the server has it."""
    observation = (await episode_page.state()).observation
    assert observation is not None
    assert observation.page is not None
    return observation.page


async def until(episode_page: EpisodePage, holds: Callable[[EpisodeState], bool]) -> EpisodeState:
    """The state once it holds; bounded."""
    async with asyncio.timeout(BOUND_MS / 1000):
        while not holds(state := await episode_page.state()):
            await episode_page.page.wait_for_timeout(100)
    return state


async def stepped(episode_page: EpisodePage, act: Awaitable[None]) -> None:
    """Do something that is a step, and wait for the next one."""
    before = await episode_page.step()
    await act
    await episode_page.stepped(before)


async def accept_to_the_end(episode_page: EpisodePage) -> None:
    """Accept what the expert offers until the task is finished."""
    for _ in range(MOST_STEPS):
        before = await episode_page.step()
        finishing = await episode_page.cards.first.get_by_text(re.compile(r"^finished\(")).count() > 0
        await episode_page.page.keyboard.press("1")
        if finishing:
            break
        await episode_page.stepped(before)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    assert await episode_page.ended.get_by_role("alert").count() == 0, "verifier and annotator disagree"


@pytest.mark.usefixtures("pools")
async def test_a_game_is_accepted_overridden_undone_and_exported(
    sign_in: SignIn, platform: TemporaryPlatform, tmp_path: Path
) -> None:
    episode_page = await take(await sign_in("annotator"), GAME)
    began = await page_of(episode_page)
    assert (began.clock in ("exact", "script"), began.pace, began.done) == (True, 0, False)
    await stepped(episode_page, episode_page.page.keyboard.press("1"))
    await stepped(
        episode_page, episode_page.override(PressKeys(keys=("left",)), "The left side is where the large tiles go.")
    )
    first = await episode_page.state()
    await stepped(episode_page, episode_page.override(PressKeys(keys=("right",)), "To the right, which was a mistake."))
    await episode_page.page.keyboard.press("u")
    back = await until(episode_page, lambda state: bool(state.steps) and state.steps[-1].undone)
    assert first.observation is not None
    assert back.observation is not None
    assert back.observation.page is not None
    assert first.observation.page is not None
    assert back.observation.screenshot == first.observation.screenshot, "undone, it looks as it did before"
    assert back.observation.page.time_ms == first.observation.page.time_ms
    await expect(episode_page.cards.first).to_be_visible(timeout=BOUND_MS)
    await episode_page.think("Nothing moves by itself here; I look again.")
    await stepped(episode_page, episode_page.page.keyboard.press("."))
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    reviewer = await sign_in("reviewer", f"/episodes/{episode_page.episode}")
    await expect(reviewer.get_by_text(f"seed {began.seed}")).to_be_visible(timeout=BOUND_MS)
    accept = reviewer.get_by_role("button", name=re.compile("^Accept Shift"))
    await accept.click()
    await expect(accept).to_have_count(0, timeout=BOUND_MS)
    platform.manage("export_trajectories", str(tmp_path / "export"))
    exported = {one.id: one for one in open_folder(tmp_path / "export").trajectories()}[episode_page.episode]
    assert [step.decision for step in exported.steps][:2] == ["accept", "override"]
    assert {step.before.page and step.before.page.clock for step in exported.steps} == {began.clock}
    assert {step.before.page and step.before.page.seed for step in exported.steps} == {exported.task.seed}


@pytest.mark.usefixtures("pools")
async def test_a_web_task_leads_over_several_pages(sign_in: SignIn) -> None:
    episode_page = await take(await sign_in("annotator"), SITE)
    address = bar(episode_page).get_by_role("textbox", name="Address")
    home = await address.input_value()
    await stepped(episode_page, episode_page.page.keyboard.press("1"))
    assert await address.input_value() != home
    await episode_page.think("I look at where I came from.")
    await stepped(episode_page, episode_page.page.keyboard.press(","))
    assert await address.input_value() == home
    await episode_page.think("The address is known; I go there.")
    await episode_page.page.keyboard.press(";")
    await expect(address).to_be_focused(timeout=BOUND_MS)
    await episode_page.page.keyboard.insert_text(home)
    await stepped(episode_page, episode_page.page.keyboard.press("Enter"))
    await accept_to_the_end(episode_page)
    steps = await episode_page.steps()
    assert [step.action.kind for step in steps[1:3]] == ["navigate_back", "navigate"]
    assert len({step.before.url for step in steps}) >= 3


@pytest.mark.usefixtures("pools")
async def test_a_game_goes_on_in_real_time_and_stops(sign_in: SignIn) -> None:
    episode_page = await take(await sign_in("annotator"), MOVING)
    stood = (await page_of(episode_page)).time_ms
    await episode_page.page.keyboard.press("=")
    await expect(bar(episode_page).get_by_text("running")).to_be_visible(timeout=BOUND_MS)
    await episode_page.page.keyboard.press("=")
    await expect(bar(episode_page).get_by_text("paused between steps")).to_be_visible(timeout=BOUND_MS)
    went = (await page_of(episode_page)).time_ms
    assert went > stood, "nobody acted, and its time went on"
    await episode_page.page.wait_for_timeout(300)
    assert (await page_of(episode_page)).time_ms == went, "stopped, it stands"
    assert await episode_page.steps() == (), "a pace is no step"
    await episode_page.leave()


@pytest.mark.usefixtures("pools")
async def test_a_small_picture_is_large_and_exact(sign_in: SignIn) -> None:
    page = await sign_in("annotator")
    episode_page = await take(page, SMALL, SIZES[0])
    for scheme in SCHEMES:
        await show_in(page, scheme)
        await assert_no_scrolling(page)
        await assert_accessible(page, f"desk of a browser, {scheme}")
        box = await episode_page.picture.bounding_box()
        assert box is not None
        assert (box["width"] % 320, box["width"] >= 640) == (0, True), "whole pixels, enlarged"
    await episode_page.think("This lamp is to be switched.")
    await page.mouse.click(*await episode_page.place(160, 120))
    await expect(episode_page.line).to_have_text("click(160, 120)", timeout=BOUND_MS)
    await stepped(episode_page, page.keyboard.press("Enter"))
    assert [step.action for step in await episode_page.steps()] == [Click(x=160, y=120)]
    await episode_page.leave()


@pytest.mark.usefixtures("pools")
async def test_a_classic_task_is_scored_by_its_own_reward(sign_in: SignIn) -> None:
    """On a page that has ended Enter finishes the task and opens the next one; it does no candidate."""
    page = await sign_in("annotator")
    episode_page = await take(page, CLASSIC)
    while not (await page_of(episode_page)).done:
        await stepped(episode_page, page.keyboard.press("1"))
    finished, steps = episode_page.episode, await episode_page.steps()
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda url: "/desk/" in url and finished not in url, timeout=BOUND_MS)
    ended = Trajectory.model_validate_json(
        await (await page.request.get(f"/api/episodes/{finished}/trajectory")).body()
    )
    assert ended.verdict is not None
    assert ended.verdict.success
    assert (ended.outcome, ended.steps) == ("success", steps)
    await episode_page.opened()
    await episode_page.leave()


@pytest.mark.usefixtures("pools")
async def test_a_page_that_asks_for_a_file_is_given_the_one_that_is_chosen(sign_in: SignIn) -> None:
    page = await sign_in("annotator")
    episode_page = await take(page, FILES)
    sheet = page.get_by_role("region", name="The page asks for files")
    for _ in range(MOST_STEPS):
        if await sheet.is_visible():
            break
        await stepped(episode_page, page.keyboard.press("1"))
    chooser, instruction = (await page_of(episode_page)).chooser, (await episode_page.state()).task.instruction
    assert chooser is not None
    (wanted,) = (file.name for file in chooser.files if file.name in instruction)
    await assert_accessible_in_both(page, "desk of a page that asks for a file")
    await episode_page.think("This is the file that belongs to the answer.")
    await sheet.get_by_role("checkbox", name=wanted).press("Space")
    await stepped(episode_page, sheet.get_by_role("button", name="Choose", exact=True).press("Enter"))
    await expect(sheet).to_be_hidden()
    last = (await episode_page.steps())[-1]
    assert (last.action, last.decision) == (ChooseFiles(files=(wanted,)), "override")
    await accept_to_the_end(episode_page)
    verdict = (await episode_page.state()).verdict
    assert verdict is not None
    assert verdict.success
