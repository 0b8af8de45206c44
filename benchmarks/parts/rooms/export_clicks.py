"""From a search to an export that is ready, clicked in a real browser as a researcher does."""

from playwright.sync_api import Browser, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.data.seed import rare_word
from benchmarks.parts.rooms.first_pages import WAIT_MS, role_page

COUNTER = """
addEventListener("click", (event) => {
  if (event.isTrusted && event.detail > 0) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);
"""
"""Counts the clicks of a pointer; keys count as none."""
READY_MS = 120_000


def measure_export_clicks(browser: Browser, platform: TemporaryPlatform, session: str) -> dict[str, object]:
    """Search for a word, export what is found, wait until it can be downloaded; the clicks that this takes."""
    with role_page(browser, platform, session, COUNTER) as page:
        page.goto("/exports")
        words = page.get_by_role("search").get_by_role("textbox").first
        words.click(timeout=WAIT_MS)
        words.press_sequentially(rare_word(7))
        words.press("Enter")
        page.wait_for_url("**/exports?text=*", timeout=WAIT_MS)
        page.get_by_role("button", name="Export these").click(timeout=WAIT_MS)
        page.get_by_role("dialog").get_by_role("button", name="Start export").click(timeout=WAIT_MS)
        download = page.get_by_role("link", name="Download").first
        expect(download).to_be_visible(timeout=READY_MS)
        clicks = page.evaluate("Number(sessionStorage.clicks)")
        answer = page.request.head(download.get_attribute("href") or "")
        return {"search_to_export_clicks": clicks, "search_export_ok": answer.ok}
