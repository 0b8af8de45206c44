"""Dialogs that no other test opens, for assistive technology: in English and light, in Chinese and dark."""

import json
import re
from functools import cache

import pytest
from playwright.async_api import Page, expect

from annotation_app.operations.runtime.stack import ROOT
from tests.e2e.conftest import Drill
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible, show_in

MESSAGES = ROOT / "frontend/src/shared/i18n"
MESSAGE = re.compile(r'"([\w.]+)": ("(?:[^"\\]|\\.)*")')
DIALOG, MENU = "[role=dialog]", "[role=menu]"
OPENED = (
    ("machines", "machines.watch_one", DIALOG),
    ("machines", "machines.reclaim_one", DIALOG),
    ("machines", "machines.quota.add", DIALOG),
    ("policies", "policies.change_of", DIALOG),
    ("policies", "policies.set_gate_of", DIALOG),
    ("policies", "policies.states_of", DIALOG),
)
"""Pages, what the button on them is called, and what it opens."""
KEYS = (("f", ""), ("x", ""), ("h", ""), ("l", ""), ("c", ""), ("Control+k", ""), ("ArrowRight", "m"))
"""Keys that open something at a desk, pressed one after another."""
pytestmark = pytest.mark.slow


@cache
def button_name(key: str) -> re.Pattern[str]:
    """What a message says in either language, whatever its places are filled with."""
    texts = [
        re.sub(r"\\\{\w+\\\}", ".+", re.escape(json.loads(text)))
        for language in ("en", "zh")
        for file in (MESSAGES / language).glob("*.ts")
        for name, text in MESSAGE.findall(file.read_text())
        if name == key
    ]
    assert texts, key
    return re.compile(f"^(?:{'|'.join(texts)})$")


class OpenedChecker:
    """Checks what is open in one language and scheme, then in the others, in which the next thing is opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.chinese = False

    async def check(self, opened: str, name: str) -> None:
        """Check what is open in both languages, and close it."""
        shown = self.page.locator(opened)
        await expect(shown, name).to_be_visible(timeout=BOUND_MS)
        await expect(shown.get_by_text(button_name("common.loading"))).to_have_count(0, timeout=BOUND_MS)
        if opened == MENU:
            await expect(shown.locator(":focus"), name).to_have_count(1)
        await assert_accessible(self.page, self._said(name), within=shown)
        await self.switch()
        await assert_accessible(self.page, self._said(name), within=shown)
        await shown.press("Escape")  # in a field it may mean something else
        await expect(shown).to_have_count(0, timeout=BOUND_MS)

    async def switch(self) -> None:
        """To the other language and scheme, also behind what is open."""
        self.chinese = not self.chinese
        language = "zh" if self.chinese else "en"
        await self.page.locator("header button:has(> span > span[lang])").dispatch_event("click")
        await expect(self.page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"), timeout=BOUND_MS)
        await show_in(self.page, "dark" if self.chinese else "light")

    def _said(self, name: str) -> str:
        return f"{name}, {'Chinese, dark' if self.chinese else 'English, light'}"


async def test_dialogs_are_accessible(chinese_reader: Page, drill: Drill) -> None:
    page, checker = chinese_reader, OpenedChecker(chinese_reader)
    desk = await drill(page)
    address = page.url
    await desk.rested()
    for first, then in KEYS:
        await page.keyboard.press(first)
        if then:
            await page.keyboard.press(then)
        await checker.check(MENU if then else DIALOG, f"{first} {then} at a desk")

    at = ""
    for place, key, opened in OPENED:
        if place != at:
            await page.goto(f"/{place}")
            at = place
        await page.get_by_role("button", name=button_name(key), disabled=False).first.click(timeout=BOUND_MS)
        await checker.check(opened, key)
    if checker.chinese:
        await checker.switch()
    await page.goto(address)
    await desk.opened()
    await desk.leave()
