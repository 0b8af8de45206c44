"""An attempt of 500 steps is opened, gone through, and begun again at step 480."""

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import RunCommand
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage

POOL, STEPS, BRANCH_STEP = "Long drill", 500, 480
COMMAND = RunCommand(command="echo again")
pytestmark = pytest.mark.slow


async def test_a_long_attempt_is_gone_through_and_begun_again_far_into_it(
    sign_in: SignIn, platform: TemporaryPlatform
) -> None:
    platform.manage("shell", "-c", f"from tests.e2e.drills import *; long_load({POOL!r})")
    page = await sign_in("annotator")
    desk = EpisodePage(page)
    await desk.take(POOL)
    for number in (1, 2):
        await desk.think("I look once more.")
        await desk.write("o", desk.line, f'run_command("{COMMAND.command}")')
        await page.keyboard.press("Enter")
        await desk.stepped(number)
    await desk.finish(success=False)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    episode = desk.episode
    platform.manage("shell", "-c", f"from tests.e2e.drills import *; lengthen({episode!r}, {STEPS})")

    await page.goto(f"/episodes/{episode}")
    tiles = page.get_by_role("list", name="Steps").get_by_role("button")
    await expect(tiles).to_have_count(STEPS, timeout=BOUND_MS)
    await tiles.nth(BRANCH_STEP - 1).click()
    place = page.get_by_role("toolbar").get_by_text(f"Step {BRANCH_STEP} of {STEPS}")
    await expect(place).to_be_visible(timeout=BOUND_MS)
    await page.wait_for_url(f"**/episodes/{episode}?step={BRANCH_STEP}", timeout=BOUND_MS)
    await page.keyboard.press("ArrowLeft")
    await expect(place).to_have_count(0, timeout=BOUND_MS)
    await expect(tiles.nth(BRANCH_STEP - 2)).to_have_attribute("aria-current", "step")
    await expect(tiles.nth(BRANCH_STEP - 2)).to_be_in_viewport()

    admin = await sign_in("admin")
    csrf = (await (await admin.request.get("/api/session")).json())["csrf"]
    answer = await admin.request.post(
        f"/api/episodes/{episode}/branch", data={"step": BRANCH_STEP - 1}, headers={"X-CSRFToken": csrf}
    )
    assert answer.status == 204

    await desk.take(POOL)
    state = await desk.state()
    assert state.branch_of is not None
    assert (state.branch_of.episode, state.branch_of.state) == (episode, "reached"), state.branch_of.reason
    assert [step.action for step in state.steps] == [COMMAND] * (BRANCH_STEP - 1)
    assert await desk.step() == BRANCH_STEP
    await expect(tiles).to_have_count(BRANCH_STEP - 1)
    await desk.leave()
