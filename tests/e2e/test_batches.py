"""A reply with several actions at the desk: accepted in part by keys, done in order, shown as one reply."""

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import Click, PressKeys, TypeText
from protocol.trajectory.steps import BatchPosition
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage

POOL = "Several actions"
pytestmark = pytest.mark.slow


async def test_some_actions_of_a_reply_are_accepted_by_keys(
    sign_in: SignIn, platform: TemporaryPlatform, model_url: str
) -> None:
    platform.manage(
        "shell", "-c", f"from tests.e2e.drills import batching_load; batching_load({POOL!r}, {model_url!r})"
    )
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(POOL)
    await expect(page.get_by_text("3 actions, one after another")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("-")
    await expect(page.get_by_text("Only the first 2 of 3 actions")).to_be_visible()
    await page.keyboard.press("1")
    await expect(page.get_by_role("button", name="Action 2 of 2")).to_be_visible(timeout=BOUND_MS)
    await episode_page.stepped(2)
    first, second = await episode_page.steps()
    assert (first.action, second.action) == (Click(x=640, y=360), TypeText(text="hello"))
    assert (first.batch, second.batch) == (BatchPosition(index=1, size=2), BatchPosition(index=2, size=2))
    assert (first.proposal_id, first.decision) == (second.proposal_id, "edit")
    await page.keyboard.press("1")
    await episode_page.stepped(5)
    steps = await episode_page.steps()
    assert [step.decision for step in steps] == ["edit"] * 2 + ["accept"] * 3
    assert steps[-1].action == PressKeys(keys=("enter",))
