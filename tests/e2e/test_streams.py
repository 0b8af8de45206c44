"""How the live picture reaches a page, what it falls back to, and who may act when several look at one episode."""

import re

import pytest
from playwright.async_api import Page, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage

FALLBACK_MS = 40_000
"""A way without a picture is given up after six seconds, and there are three ways."""
NO_WEBRTC = "delete window.RTCPeerConnection;"
pytestmark = pytest.mark.slow


async def open_as_viewer(page: Page, episode: str) -> EpisodePage:
    """The desk of somebody else's page."""
    await page.goto(f"/desk/{episode}")
    episode_page = EpisodePage(page)
    await expect(episode_page.picture).to_be_visible(timeout=BOUND_MS)
    return episode_page


async def streams_by(page: Page, name: str, shown: str) -> None:
    """The top bar names the stream, and its picture is there."""
    live = re.compile(rf"^{name}(, at rest|\s\d+ fps)")
    await expect(page.get_by_role("banner").get_by_text(live)).to_be_visible(timeout=FALLBACK_MS)
    await expect(page.get_by_role("region", name="Live picture").locator(shown).last).to_be_visible(timeout=BOUND_MS)


async def test_the_picture_falls_back_by_itself(sign_in: SignIn, drill: Drill, platform: TemporaryPlatform) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    await streams_by(page, "WebRTC", "video")
    assert await page.locator("video").evaluate("video => [video.videoWidth, video.videoHeight]") == [1280, 720]

    without = await sign_in("annotator", script=NO_WEBRTC)
    await open_as_viewer(without, episode_page.episode)
    await streams_by(without, "VNC", "canvas")

    neither = await sign_in("annotator", script=NO_WEBRTC)
    port = platform.environment["PILOTHOUSE_VNC_BIND"].rsplit(":", 1)[1]
    await neither.route_web_socket(re.compile(rf"^ws://[^/]+:{port}/"), lambda socket: socket.close(code=4000))
    await open_as_viewer(neither, episode_page.episode)
    await streams_by(neither, "Stills", "canvas, img")
    await episode_page.leave()


async def test_one_acts_and_the_others_look(sign_in: SignIn, drill: Drill) -> None:
    first = await drill(await sign_in("annotator"))
    view_only = re.compile("^View only: ")

    second = await open_as_viewer(await sign_in("annotator"), first.episode)
    await expect(second.banners.get_by_text(view_only)).to_be_visible(timeout=BOUND_MS)
    await expect(second.page.get_by_role("button", name="Accept candidate 1")).to_be_disabled(timeout=BOUND_MS)
    await second.page.get_by_role("button", name="Take control").click()
    await expect(first.banners.get_by_text(view_only)).to_be_visible(timeout=BOUND_MS)
    await expect(second.banners.get_by_text(view_only)).to_have_count(0, timeout=BOUND_MS)
    await second.page.keyboard.press("1")
    await second.stepped(1)
    await first.stepped(1)

    admin = await open_as_viewer(await sign_in("admin"), first.episode)
    await expect(admin.banners.get_by_text(view_only)).to_be_visible(timeout=BOUND_MS)
    await admin.page.keyboard.press("g")
    await expect(admin.page.get_by_role("alert")).to_contain_text("Not done", timeout=BOUND_MS)
    await second.page.keyboard.press("1")
    await admin.stepped(2)
    assert [step.decision for step in await second.steps()] == ["accept", "accept"]
    await second.leave()
