"""Dialogs and menus that no other test opens, for assistive technology: in English and light, in Chinese and dark."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

import pytest
from playwright.async_api import FilePayload, Page, expect

from annotation_app.operations.runtime.stack import ROOT
from tests.e2e.conftest import Drill
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible, show_in

MESSAGES = ROOT / "frontend/src/shared/i18n"
MESSAGE = re.compile(r'^ *"([\w.]+)": (.+)$', re.MULTILINE)
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
BADGES = "(?:Never probed|从未探测)"
"""What else the button of a probe says."""
TASKS_OF_DRILL = re.compile(r"^(?:Tasks of Drill \d+|Drill \d+ 的任务)$")
GRAPH = FilePayload(name="graph.csv", mimeType="text/csv", buffer=b"nothing,of,a,graph\n1,2,3,4\n")
DIALOG, MENU = "[role=dialog]", "[role=menu]"
OPENED = (
    ("machines", "machines.watch_one", DIALOG),
    ("machines", "machines.reclaim_one", DIALOG),
    ("machines", "machines.quota.add", DIALOG),
    ("policies", "policies.change_of", DIALOG),
    ("policies", "policies.set_gate_of", DIALOG),
    ("policies", "policies.states_of", DIALOG),
    ("policies", "policies.edit_of", MENU),
    ("judges", "judges.new", DIALOG),
    ("policies", "probes.open_of", DIALOG),
    ("design", "design.writer.add", DIALOG),
    ("design", "design.import.of", DIALOG),
    ("retention", "retention.switch_on_one", DIALOG),
    ("flywheel", "flywheel.new", DIALOG),
    ("webhooks", "webhooks.remove_one", DIALOG),
    ("webhooks", "webhooks.messages_one", DIALOG),
    ("webhooks", "webhooks.secret.new_one", DIALOG),
    ("pools", "pools.secrets_in", DIALOG),
    ("pools", "pools.mcp_in", DIALOG),
    ("pools", "pools.refill_in", DIALOG),
    ("pools", "pools.stop_of", DIALOG),
    ("pools", "pools.board.assign_of", MENU),
    ("pools", "account.menu", MENU),
    ("pools", "nav.manage", MENU),
    ("pools", "global.help", DIALOG),
    ("pools", "notices.title|notices.unread", DIALOG),
)
"""Pages, what the button on them is called, and what it opens."""
KEYS = (("f", ""), ("x", ""), ("h", ""), ("l", ""), ("c", ""), ("Control+k", ""), ("ArrowRight", "m"))
"""Keys that open something at a desk, pressed one after another."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@cache
def button_name(keys: str) -> re.Pattern[str]:
    """What a message, or one of several, says in each language and form, whatever its places are filled with."""
    texts = [
        re.sub(r"\\\{\w+\\\}", ".+", re.escape(json.loads(text)))
        for language in ("en", "zh")
        for file in (MESSAGES / language).glob("*.ts")
        for name, forms in MESSAGE.findall(file.read_text())
        if name in keys.split("|")
        for text in TEXT.findall(forms)
    ]
    assert texts, keys
    return re.compile(f"(?:^|{BADGES} ?)(?:{'|'.join(texts)})$")


class OpenedChecker:
    """Checks what is open in one language and scheme, then in the others, in which the next thing is opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.chinese = False

    async def check(self, opened: str, name: str, *, over: int = 0) -> None:
        """Check what is open in both languages, over how many others of its kind, and close it."""
        shown = self.page.locator(opened).nth(over)
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
        if then:
            await page.get_by_role("application").focus()  # closing a dialog gives the focus back some time later
        await page.keyboard.press(first)
        if then:
            await page.keyboard.press(then)
        await checker.check(MENU if then else DIALOG, f"{first} {then} at a desk")

    webhook = {"url": "https://93.184.215.14/hook", "events": ["export.finished"]}
    rule = {"what": "exports", "days": 30_000}
    async with added(page, "/api/webhooks", webhook), added(page, "/api/retention/rules", rule):
        await check_all(page, checker)
    if checker.chinese:
        await page.keyboard.press("Escape")
        await checker.switch()
    await page.goto(address)
    await desk.opened()
    await desk.leave()


async def check_all(page: Page, checker: OpenedChecker) -> None:
    """Check what `OPENED` lists, and the dialogs over the list of a pool's tasks."""
    at = ""
    for place, key, opened in OPENED:
        if place != at:
            await page.goto(f"/{place}")
            at = place
        await open_by(page, key, opened)
        await checker.check(opened, key)
    await page.get_by_role("button", name=TASKS_OF_DRILL).first.click()
    for key in ("pools.edit_of", "pools.reference_of"):
        await page.get_by_role("dialog").get_by_role("button", name=button_name(key)).first.click(timeout=BOUND_MS)
        await checker.check(DIALOG, key, over=1)


async def open_by(page: Page, key: str, opened: str) -> None:
    """Open what the button or the file field of this message opens, a dialog or a menu."""
    if key == "design.import.of":
        await page.locator("main input[type=file]").first.set_input_files(GRAPH)
        return
    button = page.get_by_role("button", name=button_name(key), disabled=False)
    if opened == MENU:
        button = button.and_(page.locator("[aria-haspopup=menu]"))
    await button.first.click(timeout=BOUND_MS)
    if key == "webhooks.secret.new_one":
        await page.get_by_role("dialog").get_by_role("button", name=button_name("webhooks.secret.new")).click()
        await expect(page.get_by_role("dialog", name=button_name("webhooks.secret.title"))).to_be_visible()


@asynccontextmanager
async def added(page: Page, path: str, data: object) -> AsyncIterator[None]:
    """Add something as the person who is signed in. Delete it when the block ends."""
    csrf = (await (await page.request.get("/api/session")).json())["csrf"]
    answer = await page.request.post(path, data=data, headers={"X-CSRFToken": csrf})
    assert answer.ok, await answer.text()
    new = await answer.json()
    try:
        yield
    finally:
        address = f"{path}/{new.get('webhook', new)['id']}"
        assert (await page.request.delete(address, headers={"X-CSRFToken": csrf})).ok
