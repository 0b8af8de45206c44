"""Whoever looks after the platform sees at home that help is asked for, finds it on the wall, and takes over."""

import re

import pytest
from playwright.async_api import ViewportSize, expect

from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible, assert_fits_in_width

pytestmark = pytest.mark.slow
NARROW = ViewportSize(width=420, height=900)


async def test_help_is_seen_at_home_found_on_the_wall_and_taken_over(sign_in: SignIn, drill: Drill) -> None:
    annotator = await sign_in("annotator")
    desk = await drill(annotator)
    await annotator.keyboard.press("h")
    dialog = annotator.get_by_role("dialog")
    await dialog.get_by_label("What do you need help with?").fill("The file is empty.")
    await dialog.get_by_role("button", name="Call for help").click()
    await expect(desk.banners.get_by_text("You asked for help.")).to_be_visible(timeout=BOUND_MS)

    admin = await sign_in("admin", "/")
    await admin.wait_for_url("**/home", timeout=BOUND_MS)
    asks = admin.get_by_role("main").get_by_role("link", name=re.compile("asks for help")).first
    await expect(asks).to_have_attribute("href", re.compile("^/desk/"), timeout=BOUND_MS)
    await expect(admin.get_by_text("The file is empty.").first).to_be_visible(timeout=BOUND_MS)
    await expect(admin.get_by_role("region", name="Last 24 hours")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(admin, "home")

    await admin.keyboard.press("Alt+y")
    tile = admin.get_by_role("list", name="Live sessions").locator(f"a[href='/desk/{desk.episode}']")
    await expect(tile.get_by_text("Asks for help")).to_be_visible(timeout=BOUND_MS)
    picture = tile.get_by_role("img")
    await expect(picture).to_be_visible(timeout=BOUND_MS)
    assert await picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 320
    await assert_accessible(admin, "wall")
    await admin.set_viewport_size(NARROW)
    await assert_fits_in_width(admin)
    await admin.set_viewport_size({"width": 1280, "height": 800})

    await tile.focus()
    await admin.keyboard.press("Enter")
    await admin.get_by_role("textbox", name="Note for the annotator").fill("Open the other file.")
    await admin.get_by_role("button", name="Send note").click()
    await expect(annotator.get_by_text("Open the other file.")).to_be_visible(timeout=BOUND_MS)
    await admin.get_by_role("button", name="Take control").click(timeout=BOUND_MS)
    await expect(desk.banners.get_by_text(re.compile("^View only: "))).to_be_visible(timeout=BOUND_MS)
    await admin.goto("/wall")
    await expect(tile).to_be_visible(timeout=BOUND_MS)
    await annotator.get_by_role("button", name="Take control").click(timeout=BOUND_MS)
    await desk.rested()
    await desk.leave()
    await expect(tile).to_have_count(0, timeout=BOUND_MS)


async def test_an_annotators_home_is_the_queue(sign_in: SignIn) -> None:
    annotator = await sign_in("annotator", "/")
    await annotator.wait_for_url("**/queue", timeout=BOUND_MS)
    links = annotator.get_by_role("navigation", name="Pages")
    await expect(links.get_by_role("link", name="Queue")).to_be_visible(timeout=BOUND_MS)
    await expect(links.get_by_role("link", name="Home")).to_have_count(0)
    await expect(links.get_by_role("link", name="Live")).to_have_count(0)
