"""The marker of typed text stands where the text will land: behind what was typed before."""

import pytest
from playwright.async_api import expect

from protocol.actions.types import Click, PressKeys, TypeText
from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, action_call

pytestmark = pytest.mark.slow

CLICKED = Click(x=300, y=300)
"""In the empty file, below its first line."""
FIRST_LINE_Y = 200
"""Above this place of the picture is the first line, whose text ends right of where was clicked."""


async def test_text_is_marked_behind_the_text_before_it(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    desk = await drill(page)
    await desk.override(CLICKED, "I click into the empty file.")
    await desk.stepped(1)
    await desk.override(TypeText(text="some words of a line"), "I type a line.")
    await desk.stepped(2)
    await desk.rested()
    await desk.write("o", desk.line, action_call(PressKeys(keys=("enter",))))
    picture, screen = await desk.picture.bounding_box(), (await desk.state()).observation
    assert picture is not None
    assert screen is not None
    scale = picture["width"] / screen.width
    await page.wait_for_function(
        """([left, bottom]) => {
            const place = document.querySelector("svg g[data-tone=draft] path")?.getBoundingClientRect();
            return place !== undefined && place.x > left && place.y < bottom;
        }""",
        arg=[picture["x"] + CLICKED.x * scale, picture["y"] + FIRST_LINE_Y * scale],
        timeout=BOUND_MS,
    )
    await page.reload()  # no field has the focus then
    await desk.rested()
    marks = page.locator("svg g[data-tone]")
    await expect(marks.first).to_be_attached(timeout=BOUND_MS)
    await page.keyboard.press("Shift+H")
    await expect(marks).to_have_count(0, timeout=BOUND_MS)
    await page.keyboard.press("Shift+H")
    await expect(marks.first).to_be_attached(timeout=BOUND_MS)
    await desk.leave()
