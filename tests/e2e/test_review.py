"""An attempt goes round: made, sent back with a step judged, mended by its annotator, its change seen, accepted."""

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import Drill, SignIn
from tests.e2e.desk import BOUND_MS
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_sent_back_mended_and_accepted(sign_in: SignIn, drill: Drill, dark: bool) -> None:
    annotator = await sign_in("annotator", dark=dark)
    desk = await drill(annotator)
    await annotator.keyboard.press("1")
    await desk.stepped(1)
    await desk.finish(success=False)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    address = f"/episodes/{desk.episode}"

    reviewer = await sign_in("reviewer", dark=dark)
    await reviewer.goto("/review?annotator=annotator")
    await expect(reviewer.get_by_role("heading", name="for a review")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(reviewer, "review queue")
    await reviewer.goto(f"{address}?step=1")
    review = reviewer.get_by_role("region", name="Review")
    verdicts = review.get_by_role("group", name="This step is")
    await expect(verdicts).to_be_visible(timeout=BOUND_MS)
    await reviewer.keyboard.press("2")
    await expect(verdicts.get_by_role("button", name="Wrong element")).to_have_attribute(
        "aria-pressed", "true", timeout=BOUND_MS
    )
    await reviewer.keyboard.press("c")
    await reviewer.keyboard.insert_text("Say why.")
    async with reviewer.expect_response("**/review/steps/0", timeout=BOUND_MS):
        await reviewer.keyboard.press("Control+Enter")
    await expect(review.get_by_text("1 step judged")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(reviewer, "review")
    await reviewer.keyboard.press("r")
    await expect(reviewer.get_by_role("textbox", name="What should be different?")).to_be_focused(timeout=BOUND_MS)
    await reviewer.keyboard.insert_text("See the first step.")
    await reviewer.keyboard.press("Control+Enter")
    await expect(review.get_by_role("heading", name="Sent back")).to_be_visible(timeout=BOUND_MS)

    await annotator.goto(f"{address}?step=1")
    await expect(annotator.get_by_text("Say why.")).to_be_visible(timeout=BOUND_MS)
    await annotator.keyboard.press("e")
    dialog = annotator.get_by_role("dialog", name="Mend step 1")
    await dialog.get_by_role("textbox", name="Thought").fill("The file is there, so I open it.")
    await dialog.get_by_role("button", name="Save the revision").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await assert_accessible(annotator, "mending")
    await annotator.keyboard.press("Shift+H")
    await annotator.wait_for_url("**/queue", timeout=BOUND_MS)

    await reviewer.goto(f"{address}?step=1")
    await expect(review.get_by_text("1 change since it was sent back")).to_be_visible(timeout=BOUND_MS)
    await reviewer.keyboard.press("Shift+Enter")
    await expect(review.get_by_role("heading", name="Accepted")).to_be_visible(timeout=BOUND_MS)
    await reviewer.goto("/agreement")
    await expect(reviewer.get_by_role("heading", name="Gold tasks")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(reviewer, "agreement")
