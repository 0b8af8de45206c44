"""How a person comes to work: from claiming a task to its first candidates, by kind of machine, and how many keys a
task of one act takes."""

import re
import time
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.streaming.annotator_page import FLAGS, PASSWORD, USER, WAIT_MS

POOLS = {"desktop": "Desktop basics", "terminal": "Terminal and tools", "phone": "Phone tasks"}
CLAIMS = 5
ONE_ACT_POOL = "Drills"
ONE_ACT_TRIES = 4
MOST_KEYS = 20
STEP = re.compile(r"^Step \d+ of \d+$")
NEXT = re.compile(r"^(Accept \d|Accept and finish|Finish as success)")


def measure(platform: TemporaryPlatform) -> dict[str, Any]:
    """Claims of each kind, one after the other, and tasks done with Enter alone."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            sign_in(page, platform.url)
            claims = {kind: [_time_claim(page, pool) for _ in range(CLAIMS)] for kind, pool in POOLS.items()}
            print_progress(f"claim to first candidates: {claims} ms")
            keys = _count_keys(page)
        finally:
            browser.close()
    return {
        "claim_to_first_proposal_p50_ms": {kind: percentile(took, 0.5) for kind, took in claims.items()},
        "claim_to_first_proposal_first_ms": {kind: took[0] for kind, took in claims.items()},
        "keys_per_accepted_task": keys,
    }


def sign_in(page: Page, url: str) -> None:
    """Sign in as the demo's annotator; the queue is open afterwards."""
    page.goto(url)
    page.locator("input:not([type=password])").first.fill(USER)
    page.locator("input[type=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue", timeout=WAIT_MS)


def claim(page: Page, pool: str, *, timeout: float = WAIT_MS) -> None:
    """Take a task in the queue and wait for its first candidates (milliseconds)."""
    page.get_by_role("button", name=f"Take one from {pool}", exact=True).click()
    expect(page.get_by_role("article").first).to_be_visible(timeout=timeout)


def _time_claim(page: Page, pool: str) -> float:
    """Milliseconds from the click in the queue to the first candidates; the task then goes back."""
    button = page.get_by_role("button", name=f"Take one from {pool}", exact=True)
    expect(button).to_be_enabled(timeout=WAIT_MS)
    began = time.monotonic()
    claim(page, pool)
    took = (time.monotonic() - began) * 1000
    _leave(page)
    return round(took, 1)


def _leave(page: Page) -> None:
    page.keyboard.press("l")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Release").check()
    dialog.get_by_role("button", name="Release").click()
    expect(page.get_by_text("Task left")).to_be_visible(timeout=WAIT_MS)
    page.get_by_role("button", name="Queue").or_(page.get_by_role("link", name="Queue")).first.click()
    page.wait_for_url("**/queue", timeout=WAIT_MS)


def _count_keys(page: Page) -> int | None:
    """Presses of Enter until the next task is open, for the first task that one act solves; None where none did."""
    claim(page, ONE_ACT_POOL)
    for _ in range(ONE_ACT_TRIES):
        address, keys, step = page.url, 0, ""
        while page.url == address and keys < MOST_KEYS:
            expect(page.get_by_role("button", name=NEXT)).to_be_enabled(timeout=WAIT_MS)
            step = page.get_by_text(STEP).inner_text()
            page.keyboard.press("Enter")
            keys += 1
            _wait_for_change(page, address, step)
        if page.url != address and step.startswith("Step 2 "):
            return keys
    return None


def _wait_for_change(page: Page, address: str, step: str) -> None:
    ends = time.monotonic() + WAIT_MS / 1000
    while page.url == address and page.get_by_text(step, exact=True).count() and time.monotonic() < ends:
        page.wait_for_timeout(20)
