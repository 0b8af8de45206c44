"""The video of an episode in the replay: it goes where the timeline goes, and the timeline goes with it."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import TypeText
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage

pytestmark = pytest.mark.slow
POOL = "Recorded drill"
STORED_MS = 60_000
"""A recording is fetched by a job that runs every ten seconds."""
READY = "video => video.readyState > 1 || new Promise((done) => (video.oncanplay = done))"
SOUGHT = "video => !video.seeking || new Promise((done) => (video.onseeked = done))"
LOAD = f"""
from annotation_app.tasks.models import Pool
from tests.e2e.drills import drills_load
drills_load(({POOL!r}, "say_hello"))
Pool.objects.filter(name={POOL!r}).update(record=True)
"""


@pytest_asyncio.fixture(loop_scope="session")
async def replay(sign_in: SignIn, platform: TemporaryPlatform) -> Page:
    """The replay of a recorded episode of two steps, its video shown."""
    platform.manage("shell", "-c", LOAD)
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(POOL)
    for text in ("Hello", "?"):
        before = await episode_page.step()
        await episode_page.override(TypeText(text=text), "It is typed.")
        await episode_page.stepped(before)
    episode = episode_page.episode
    await episode_page.finish(success=False)
    await expect(episode_page.ended).to_be_visible(timeout=BOUND_MS)
    await page.goto(f"/episodes/{episode}")
    await expect(page.get_by_role("button", name=re.compile("^Video"))).to_be_visible(timeout=STORED_MS)
    await page.keyboard.press("v")
    await expect(page.locator("video")).to_be_visible(timeout=BOUND_MS)
    await page.locator("video").evaluate(
        "video => video.readyState > 1 || new Promise((done) => (video.oncanplay = done))"
    )
    return page


async def time_of(page: Page) -> float:
    """Where the video is (seconds), once it has got there."""
    await page.locator("video").evaluate(SOUGHT)
    return float(await page.locator("video").evaluate("video => video.currentTime"))


async def test_the_video_and_the_steps_follow_each_other(replay: Page) -> None:
    episode = replay.url.split("/episodes/")[1].split("?")[0]
    (part,) = (await (await replay.request.get(f"/api/episodes/{episode}/recording")).json())["parts"]
    first, second = part["steps"]
    video = replay.locator("video")
    assert await video.evaluate("video => [video.videoWidth, video.videoHeight]") == [1280, 720]
    assert await video.evaluate("video => video.duration") == pytest.approx(part["seconds"], abs=0.2)

    await replay.keyboard.press("j")
    await expect(replay.get_by_text("Step 2 of 2", exact=True)).to_be_visible(timeout=BOUND_MS)
    assert await time_of(replay) == pytest.approx(second["begins"], abs=0.1)
    await replay.keyboard.press("k")
    assert await time_of(replay) == pytest.approx(first["begins"], abs=0.1)
    await replay.keyboard.press("a")
    assert await time_of(replay) == pytest.approx(first["ends"], abs=0.1)

    await replay.keyboard.press("]")
    await replay.keyboard.press("]")
    await replay.keyboard.press("Space")
    await expect(replay.get_by_text("Step 2 of 2", exact=True)).to_be_visible(timeout=BOUND_MS)
    assert await video.evaluate("video => video.playbackRate") == 4

    await replay.keyboard.press("v")
    await expect(replay.get_by_role("img", name=re.compile("^The screen"))).to_be_visible(timeout=BOUND_MS)
    await expect(video).to_have_count(0)
