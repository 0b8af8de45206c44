"""What goes wrong around a person at work: nothing typed or recorded is lost, and the desk says what is the matter."""

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import WebSocketRoute, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import PressKeys, TypeText
from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible

RESTART_MS = 90_000
"""A program that was killed is started again after a pause that grows with each time."""
THOUGHT = "The cursor is in the empty file, so I can type."
LINE = 'type_text("hello world")'
LOOK_SECONDS = 0.02
pytestmark = pytest.mark.slow


def kill(platform: TemporaryPlatform, program: str) -> None:
    os.kill(platform.pid(program), signal.SIGKILL)


@contextlib.asynccontextmanager
async def keep_down(platform: TemporaryPlatform, program: str) -> AsyncIterator[None]:
    """A program that dies as often as it is started."""

    async def keep() -> None:
        while True:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
                kill(platform, program)
            await asyncio.sleep(LOOK_SECONDS)

    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.wait({keeping})


async def test_a_draft_outlives_a_reload_and_an_expired_sign_in(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    sockets: list[WebSocketRoute] = []

    def through(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    await page.route_web_socket(re.compile("/ws/episodes/"), through)
    await page.reload()  # only a page that is opened afterwards has its sockets routed
    episode_page = await drill(page)
    await episode_page.think(THOUGHT)
    await episode_page.write("o", episode_page.line, LINE)
    await expect(episode_page.line).to_have_text(LINE)

    await page.reload()
    await episode_page.opened()
    await expect(episode_page.thought).to_have_value(THOUGHT)
    await expect(episode_page.line).to_have_text(LINE)

    offline = episode_page.banners.get_by_text("You are offline.")
    await page.context.set_offline(True)
    await expect(offline).to_be_visible(timeout=BOUND_MS)
    await page.context.set_offline(False)
    await expect(offline).to_have_count(0, timeout=BOUND_MS)

    await page.context.clear_cookies(name=re.compile("sessionid$"))
    await sockets[-1].close(code=4000)
    dialog = page.get_by_role("dialog", name="Sign in again")
    await dialog.locator("input[type=password]").fill("annotator-demo")
    await assert_accessible(page, "sign in again", within=dialog)
    await page.keyboard.press("Enter")
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await expect(episode_page.thought).to_have_value(THOUGHT)
    await page.get_by_role("button", name="Do it").click(timeout=BOUND_MS)
    await episode_page.stepped(1)
    (step,) = await episode_page.steps()
    assert step.action == TypeText(text="hello world")
    assert step.thought == THOUGHT
    await episode_page.leave()


async def test_a_killed_web_process_loses_and_doubles_nothing(
    sign_in: SignIn, drill: Drill, platform: TemporaryPlatform
) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    await page.keyboard.press("1")
    await episode_page.stepped(1)

    kill(platform, "web")
    lost = episode_page.banners.get_by_text("Connection lost. Reconnecting.")
    await expect(lost).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("1")
    await expect(episode_page.banners.get_by_text("1 command waits to be sent.")).to_be_visible(timeout=BOUND_MS)
    await expect(page.get_by_role("button", name="Sending…")).to_be_visible()
    await page.keyboard.press("Enter")  # does nothing before that one is answered

    await expect(lost).to_have_count(0, timeout=RESTART_MS)
    await episode_page.stepped(2)
    await episode_page.override(PressKeys(keys=("end",)), "I go to the end of the line.")
    await episode_page.stepped(3)
    assert [step.decision for step in await episode_page.steps()] == ["accept", "accept", "override"]
    await episode_page.leave()


async def test_a_dead_model_stops_nobody(sign_in: SignIn, drill: Drill, platform: TemporaryPlatform) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    async with keep_down(platform, "model"):
        await page.keyboard.press("r")
        failed = page.get_by_role("alert").filter(has_text="The model does not answer")
        await expect(failed).to_be_visible(timeout=RESTART_MS)
        await episode_page.override(TypeText(text="by hand"), THOUGHT)
        await expect(episode_page.steps_shown).to_have_text(re.compile("^Step 2 of"), timeout=BOUND_MS)
        await expect(failed).to_be_visible(timeout=RESTART_MS)
    await expect(episode_page.cards.first).to_be_visible(timeout=RESTART_MS)
    await page.keyboard.press("1")
    await episode_page.stepped(2)
    assert [step.decision for step in await episode_page.steps()] == ["override", "accept"]
    await episode_page.leave()


async def test_a_dead_bridge_costs_neither_step_nor_machine(
    sign_in: SignIn, drill: Drill, platform: TemporaryPlatform
) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    await page.keyboard.press("1")
    await episode_page.stepped(1)
    (recorded,) = await episode_page.steps()

    kill(platform, "bridge")
    await expect(episode_page.cards.first).to_be_visible(timeout=RESTART_MS)
    await page.keyboard.press("1")
    await expect(episode_page.steps_shown).to_have_text(re.compile("^Step 3 of"), timeout=RESTART_MS)
    first, second = await episode_page.steps()
    assert (first, second.error) == (recorded, None)
    await episode_page.leave()
