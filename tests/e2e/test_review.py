"""An attempt goes round: made, sent back with a step judged, mended by its annotator, its change seen, accepted; and a
reviewer goes through what waits by keys alone."""

import asyncio
import re

import pytest
from playwright.async_api import Page, Route, expect

from protocol.actions.types import Click, Point, PressKeys
from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, action_call
from tests.e2e.test_pages import assert_accessible_in_both, assert_fits_narrow_windows

POINTING = "I put the cursor into the text area first."
"""The thought of a candidate that clicks."""
SCREEN_WIDTH = 1280
pytestmark = pytest.mark.slow


async def test_sent_back_mended_and_accepted(sign_in: SignIn, drill: Drill) -> None:
    annotator = await sign_in("annotator")
    episode_page = await drill(annotator)
    await episode_page.accept(episode_page.card(POINTING))
    await episode_page.stepped(1)
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    address = f"/episodes/{episode_page.episode}"

    reviewer = await sign_in("reviewer", "/review?annotator=annotator")
    await expect(reviewer.get_by_role("heading", name="for a review")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(reviewer, "review queue")
    await reviewer.goto(f"{address}?step=1")
    review = reviewer.get_by_role("region", name="Review", exact=True)
    verdicts = reviewer.get_by_role("group", name="This step is")
    await expect(verdicts).to_be_in_viewport(ratio=1, timeout=BOUND_MS)
    await reviewer.keyboard.press("2")
    await expect(verdicts.get_by_role("button", name="Wrong element")).to_have_attribute(
        "aria-pressed", "true", timeout=BOUND_MS
    )
    await reviewer.keyboard.press("c")
    await reviewer.keyboard.insert_text("Say why.")
    async with reviewer.expect_response("**/review/steps/0", timeout=BOUND_MS):
        await reviewer.keyboard.press("Control+Enter")
    await expect(review.get_by_text("1 step judged")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(reviewer, "review")
    await assert_fits_narrow_windows(reviewer)
    await reviewer.keyboard.press("r")
    await expect(reviewer.get_by_role("textbox", name="What should be different?")).to_be_focused(timeout=BOUND_MS)
    await reviewer.keyboard.insert_text("See the first step.")
    await reviewer.keyboard.press("Control+Enter")
    await expect(review.get_by_role("heading", name="Sent back")).to_be_visible(timeout=BOUND_MS)

    await annotator.goto(address)
    sent_back = annotator.get_by_role("region", name="Sent back")
    await expect(sent_back.get_by_text("Say why.")).to_be_in_viewport(timeout=BOUND_MS)
    await annotator.keyboard.press("e")
    form = annotator.get_by_role("form", name="Correct step 1")
    await form.get_by_role("textbox", name="Thought").fill("The file is there, so I open it.")
    wanted = Point(x=301, y=197)
    slack = await move_point(annotator, wanted)
    await assert_accessible_in_both(annotator, "correcting")
    await annotator.keyboard.press("Control+Enter")
    await expect(form).to_have_count(0, timeout=BOUND_MS)
    await expect(annotator.get_by_role("button", name="Step 1:")).to_have_accessible_name(
        re.compile("Wrong element. Corrected$"), timeout=BOUND_MS
    )
    await assert_accessible_in_both(annotator, "mending")
    sheet = await (await annotator.request.get(f"/api{address}/review/sheet")).json()
    (moved,) = [Click.model_validate(fix["action"]) for fix in sheet["fixes"]]
    assert moved == Click(x=moved.x, y=moved.y)
    assert max(abs(moved.x - wanted.x), abs(moved.y - wanted.y)) <= slack, "it is stored where the pointer let go"
    await annotator.keyboard.press("Shift+H")
    await annotator.wait_for_url("**/queue", timeout=BOUND_MS)

    await reviewer.goto(f"{address}?step=1")
    await expect(review.get_by_text("1 change since it was sent back")).to_be_visible(timeout=BOUND_MS)
    await reviewer.keyboard.press("Shift+Enter")
    await expect(review.get_by_role("heading", name="Accepted")).to_be_visible(timeout=BOUND_MS)
    await reviewer.goto("/agreement")
    await expect(reviewer.get_by_role("heading", name="Gold tasks")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(reviewer, "agreement")


async def move_point(page: Page, to: Point) -> float:
    """Drag the point of a click that is corrected on the picture; how far from there it may stand (screen pixels)."""
    picture = page.get_by_role("application", name="Move the points of the action on the picture")
    await picture.hover()  # once it rests in its place
    box = await picture.bounding_box()
    assert box is not None
    scale = box["width"] / SCREEN_WIDTH
    await picture.hover(position={"x": 640 * scale, "y": 300 * scale})
    await page.mouse.down()
    await picture.hover(position={"x": to.x * scale, "y": to.y * scale})
    await page.mouse.up()
    line = await page.get_by_role("form").get_by_role("textbox", name="Action").input_value()
    x, y = map(int, re.findall(r"\d+", line))
    assert max(abs(x - to.x), abs(y - to.y)) <= 1 / scale, "it stands where the pointer let go"
    return 1 / scale


async def test_what_waits_is_gone_through_by_keys_alone(sign_in: SignIn, drill: Drill) -> None:
    annotator = await sign_in("annotator")
    episode_page = await drill(annotator)
    first = episode_page.episode
    await annotator.keyboard.press("1")
    await episode_page.stepped(1)
    await override_from_a_candidate(episode_page)
    await episode_page.stepped(2)
    await annotator.keyboard.press("1")
    await episode_page.stepped(3)
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    name = (await (await annotator.request.get(f"/api/episodes/{first}/review")).json())["pool"]
    await episode_page.take(name)
    second = episode_page.episode
    await annotator.keyboard.press("1")
    await episode_page.stepped(1)
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    reviewer = await sign_in("reviewer")
    keys = reviewer.keyboard
    await keys.press("Alt+V")
    await reviewer.wait_for_url("**/review", timeout=BOUND_MS)
    pools = await (await reviewer.request.get("/api/pools")).json()
    (pool,) = [row["id"] for row in pools if row["name"] == name]
    await reviewer.goto(f"/review?pool={pool}")
    await expect(reviewer.get_by_role("heading", name="2 episodes wait for a review")).to_be_visible(timeout=BOUND_MS)
    await keys.press("Enter")
    await reviewer.wait_for_url(f"**/episodes/{first}?*", timeout=BOUND_MS)
    review = reviewer.get_by_role("region", name="Review", exact=True)
    mine = reviewer.get_by_role("region", name="Your review")
    verdicts = mine.get_by_role("group", name="This step is")
    await expect(mine.get_by_role("heading", name="Step 1")).to_be_visible(timeout=BOUND_MS)

    answered = asyncio.Event()

    async def hold(route: Route) -> None:
        await answered.wait()
        await route.continue_()

    offered = reviewer.get_by_role("complementary", name="Task and step")
    await expect(offered.get_by_text("Chosen", exact=True)).to_be_visible()
    await keys.press("1")
    await expect(mine.get_by_role("heading", name="Step 2")).to_be_visible(timeout=BOUND_MS)
    await expect(offered.get_by_text("Chosen", exact=True)).to_have_count(0)

    await reviewer.route("**/review/steps/1", hold)
    await mine.get_by_role("switch", name="Then go to the next step").uncheck()
    await keys.press("2")
    await keys.press("c")
    await expect(mine.get_by_role("textbox", name="Comment on this step")).to_be_focused(timeout=BOUND_MS)
    await keys.insert_text("The other file was meant.")
    await keys.press("Control+Enter")
    await keys.press("j")
    await expect(mine.get_by_role("heading", name="Step 3")).to_be_visible(timeout=BOUND_MS)
    answered.set()
    await keys.press("3")
    await expect(verdicts.get_by_role("button", name="Wrong action")).to_have_attribute(
        "aria-pressed", "true", timeout=BOUND_MS
    )
    await expect(review.get_by_text("3 steps judged")).to_be_visible(timeout=BOUND_MS)
    await keys.press("r")
    await expect(reviewer.get_by_role("textbox", name="What should be different?")).to_be_focused(timeout=BOUND_MS)
    await keys.insert_text("See the first step.")
    await keys.press("Control+Enter")
    await expect(review.get_by_role("heading", name="Sent back")).to_be_visible(timeout=BOUND_MS)
    sheet = await (await reviewer.request.get(f"/api/episodes/{first}/review/sheet")).json()
    assert [(said["index"], said["verdict"], said["comment"]) for said in sheet["remarks"]] == [
        (0, "right", ""),
        (1, "wrong_element", "The other file was meant."),
        (2, "wrong_action", ""),
    ]
    await annotator.goto(f"/episodes/{first}")
    faulty = annotator.get_by_role("group", name="Steps to correct").get_by_role("button")
    await expect(faulty).to_have_text(["Step 2", "Step 3"], timeout=BOUND_MS)
    await expect(faulty.first).to_have_attribute("aria-pressed", "true")
    await expect(annotator.get_by_role("region", name="Sent back")).to_contain_text("The other file was meant.")

    await keys.press("n")
    await reviewer.wait_for_url(f"**/episodes/{second}?*", timeout=BOUND_MS)
    await expect(mine.get_by_role("heading", name="Step 1")).to_be_visible(timeout=BOUND_MS)
    await keys.press("Shift+Enter")
    await expect(review.get_by_role("heading", name="Accepted")).to_be_visible(timeout=BOUND_MS)
    await keys.press("n")
    await expect(reviewer.get_by_text("No episode waits for a review")).to_be_visible(timeout=BOUND_MS)


async def override_from_a_candidate(episode_page: EpisodePage) -> None:
    """Begin with the first candidate, and do something else."""
    keyboard = episode_page.page.keyboard
    await keyboard.press("Shift+1")
    await expect(episode_page.thought).to_be_focused(timeout=BOUND_MS)
    await keyboard.press("ControlOrMeta+a")
    await keyboard.insert_text("The end of the line comes first.")
    await keyboard.press("Escape")
    await episode_page.write("o", episode_page.line, action_call(PressKeys(keys=("end",))))
    await keyboard.press("Enter")
