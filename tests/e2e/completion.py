"""Steps of a browser test that complete what a person has begun to write."""

import re

from playwright.async_api import Locator, expect

from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.test_pages import assert_accessible

MAX_TRIES = 20


async def complete_by_tab(episode_page: EpisodePage, text: str) -> None:
    """Tab writes the rest of an action, and of `text`, which was typed before."""
    page = episode_page.page
    offered = page.get_by_role("listbox")
    await episode_page.write("o", episode_page.line, "type_te")
    await expect(offered).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Tab")
    await expect(episode_page.line).to_have_text('type_text("")', timeout=BOUND_MS)
    await page.keyboard.insert_text(text[:3])
    await expect(offered).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Tab")
    await expect(episode_page.line).to_have_text(f'type_text("{text}")', timeout=BOUND_MS)
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")


async def list_completions(line: Locator, text: str) -> None:
    """Tab lists what a terminal's line may go on as. Asked again where bash did not answer in the second it has."""
    page = line.page
    for _ in range(MAX_TRIES):
        await line.fill("")
        await line.fill(text)
        await page.keyboard.press("Tab")
        answered = page.get_by_role("status").filter(has_text=re.compile(r"^Completions: \d"))
        await expect(answered).to_have_count(1, timeout=BOUND_MS)
        if await answered.text_content() != "Completions: 0":
            break
    await expect(page.get_by_role("option").first).to_be_visible(timeout=BOUND_MS)


async def continue_by_tab(episode_page: EpisodePage) -> None:
    """A thought that begins as a candidate's shows its rest behind the caret, and Tab takes it."""
    page, thought = episode_page.page, (await episode_page.state()).proposals[0].thought
    await episode_page.write("e", episode_page.thought, thought[:6])
    await expect(page.get_by_test_id("continuation").locator("i")).to_have_text(thought[6:], timeout=BOUND_MS)
    await assert_accessible(page, "a thought with its continuation")
    await page.keyboard.press("Tab")
    await expect(episode_page.thought).to_have_value(thought)
    await page.keyboard.press("Escape")
