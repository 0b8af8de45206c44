"""What the desk shows of the model's side: what it was asked, and the notes it keeps; by keys, in light and dark."""

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.test_pages import assert_accessible_in_both

POOL = "Noting drill"
RIGHT = "The editor is open; hello world is still to be typed."
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def pool(platform: TemporaryPlatform) -> None:
    platform.manage("shell", "-c", f"from tests.e2e.drills import noting_load; noting_load({POOL!r})")


async def accept(episode_page: EpisodePage) -> None:
    """Take what is offered first, and wait for the next candidates."""
    before = await episode_page.step()
    await episode_page.accept(episode_page.cards.first)
    await episode_page.stepped(before)


async def test_what_the_model_saw(sign_in: SignIn) -> None:
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(POOL)
    await accept(episode_page)
    await page.keyboard.press("Shift+P")
    dialog = page.get_by_role("dialog", name="What the model saw")
    await expect(dialog.get_by_text("Type the line hello world").first).to_be_visible(timeout=BOUND_MS)
    picture = dialog.locator("img").first
    await expect(picture).to_be_visible(timeout=BOUND_MS)
    assert await picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1280
    turns = dialog.get_by_role("listitem")
    asked = (await episode_page.state()).proposals[0].prompt
    assert asked is not None
    stored = await page.request.get(f"/api/episodes/{episode_page.episode}/blobs/{asked.sha256}")
    assert await turns.count() == len((await stored.json())["messages"])
    await assert_accessible_in_both(page, "the prompt")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await episode_page.leave()


async def test_a_note_is_read_and_put_right(sign_in: SignIn) -> None:
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(POOL)
    await page.keyboard.press("Shift+N")
    dialog = page.get_by_role("dialog", name="The model's notes")
    await expect(dialog.get_by_text("No note yet")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Escape")
    await accept(episode_page)
    await accept(episode_page)
    await page.keyboard.press("Shift+N")
    note = dialog.get_by_role("textbox", name="Steps 1 to 1")
    await expect(note).to_be_visible(timeout=BOUND_MS)
    words = await note.input_value()
    assert words
    await assert_accessible_in_both(page, "the notes")
    await note.fill(RIGHT)
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(dialog.get_by_text("corrected", exact=True)).to_be_visible(timeout=BOUND_MS)
    (memory,) = (await episode_page.state()).memories
    assert (memory.text, memory.original, memory.revised) == (RIGHT, words, True)
    await dialog.get_by_role("button", name="Back to the policy's words").click()
    await expect(dialog.get_by_text("corrected", exact=True)).to_have_count(0, timeout=BOUND_MS)
    assert (await episode_page.state()).memories[0].text == words
    await page.keyboard.press("Escape")
    await episode_page.leave()
