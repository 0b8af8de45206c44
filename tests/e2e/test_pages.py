"""Every page as a person meets it: with assistive technology, in their language, by their keys, on their screen."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.evaluation.benchmarks import BenchmarkManifest, BenchmarkResult, PinnedTask
from protocol.evaluation.reports import Evaluation
from tests.e2e.conftest import Drill, SignIn, confirm
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.flywheel_turns import FIRST, NAME
from tests.e2e.layout import assert_readable
from tests.e2e.screenshots import take_screenshot

AXE = ROOT / "frontend/node_modules/axe-core/axe.min.js"
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
HARMS = {"serious", "critical"}
SIZES = (ViewportSize(width=1280, height=800), ViewportSize(width=1920, height=1080))
ADMINS_PAGES = (
    *("machines", "policies", "judges", "pools", "people", "security"),
    *("webhooks", "health", "retention", "design", "design/drafts", "benchmarks", "evaluations"),
    *("home", "wall", "review", "agreement", "compare", "episodes", "reports", "trajectories", "flywheel"),
)
VIEWS = ("design?view=applications", "design?view=balance")
"""What else pages of theirs show."""
OTHER_PAGES = (
    *("queue", "desk/:id", "episodes/:id", "preferences", "recorder", "exports", "join/:secret?", "reset-password"),
    *("flywheel/:id", "flywheel/:id/beside", "evaluations/:id"),
)
"""Looked at with what leads there: an episode, a turn, another role, nobody signed in."""
PAGES_OF_THE_DAY = {"home", "wall", "review", "episodes", "pools", "machines"}
"""Those of them that are looked at in narrow windows too."""
UNSEEN = {"*", "sign-in"}
"""No pages of ours."""
WIDTHS = (ViewportSize(width=1440, height=900), ViewportSize(width=420, height=900))
ROUTE = re.compile(r'\b(?:path: |named\()"([^"]+)"')
pytestmark = pytest.mark.slow


async def assert_accessible(page: Page, name: str, *, within: Locator | None = None) -> None:
    """No violation that keeps somebody from working, by axe's own rules; of a part of the page, or all of it."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text())
    part = within or page.locator("html")
    found = await part.evaluate("part => axe.run(part, {resultTypes: ['violations']})")
    harms = [
        f"{violation['id']} at {node['target']}: {node['failureSummary']}"
        for violation in found["violations"]
        if violation["impact"] in HARMS
        for node in violation["nodes"]
    ]
    assert not harms, f"{name}: " + json.dumps(harms, indent=1)


async def show_in(page: Page, scheme: Scheme) -> None:
    """Let the system ask for light or dark, and wait until the page is."""
    await page.emulate_media(color_scheme=scheme)
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", scheme, timeout=BOUND_MS)


async def assert_accessible_in_both(page: Page, name: str) -> None:
    """The same in light and in dark: a second page would cost as much as all else that a test does.

    The light page becomes a screenshot for the documentation.
    """
    for scheme in SCHEMES:
        await show_in(page, scheme)
        if scheme == "light":
            await take_screenshot(page, name)
        await assert_accessible(page, f"{name}, {scheme}")


async def assert_no_scrolling(page: Page) -> None:
    """The page fits its window."""
    room = await page.evaluate(
        "(e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])(document.scrollingElement)"
    )
    assert room == [0, 0], f"at {page.viewport_size}"


async def assert_fits_in_width(page: Page) -> None:
    """Nothing of the page lies beside its window, once what follows the window's size was drawn anew."""
    fits = "(e => e.scrollWidth === e.clientWidth)(document.scrollingElement)"
    try:
        await page.wait_for_function(fits, timeout=BOUND_MS)
    except PlaywrightTimeoutError:
        pytest.fail(f"at {page.viewport_size}")


async def assert_fits_narrow_windows(page: Page) -> None:
    """Nothing lies beside the window of a small laptop, nor of a phone, and all that is there can be read."""
    before = page.viewport_size
    for width in (1024, 420):
        await page.set_viewport_size({"width": width, "height": 900})
        await assert_fits_in_width(page)
        await assert_readable(page)
    assert before is not None
    await page.set_viewport_size(before)


def test_every_page_is_looked_at() -> None:
    routes = ROUTE.findall((ROOT / "frontend/src/app/routes.tsx").read_text())
    assert set(routes) - UNSEEN == {*ADMINS_PAGES, *OTHER_PAGES}


async def look_at_recorder(page: Page) -> None:
    """With a code that waits for its computer."""
    await page.goto("/recorder")
    await page.get_by_label("Name of the computer").fill("Laptop")
    await page.get_by_role("button", name="Make a pairing code").click()
    code, proof = page.get_by_test_id("pairing-code"), page.get_by_role("dialog", name="Confirm that it is you")
    await expect(code.or_(proof)).to_be_visible(timeout=BOUND_MS)
    if await proof.is_visible():  # they signed in more than ten minutes ago
        await confirm(page, "annotator-demo")
    await expect(code).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(page, "recorder")
    await assert_fits_narrow_windows(page)


@pytest.mark.timeout(600)
async def test_pages_are_accessible(
    sign_in: SignIn, drill: Drill, browser: Browser, platform: TemporaryPlatform
) -> None:
    nobody = await browser.new_page(base_url=platform.url, reduced_motion="reduce")
    await nobody.goto("/queue")
    await expect(nobody.locator("input[type=password]")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(nobody, "sign-in")
    await nobody.goto("/join#nobody-made-this-link")
    await expect(nobody.get_by_role("heading", level=1)).to_be_visible(timeout=BOUND_MS)
    await expect(nobody.get_by_text("Loading")).to_have_count(0, timeout=BOUND_MS)
    await assert_accessible_in_both(nobody, "join")

    await nobody.goto("/reset-password#nobody-made-this-link")
    await expect(nobody.get_by_text("This link has ended")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(nobody, "reset password")

    page = await sign_in("annotator")
    await expect(page.get_by_role("button", name="Next task")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(page, "queue")
    await assert_fits_narrow_windows(page)
    episode_page = await drill(page)
    await page.keyboard.press("1")
    await episode_page.stepped(1)
    await episode_page.rested()
    await assert_accessible_in_both(page, "desk")
    await assert_fits_narrow_windows(page)
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(page, "desk, ended")
    await page.goto(f"/episodes/{episode_page.episode}")
    await expect(page.get_by_role("list", name="Steps")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(page, "replay")
    await assert_fits_narrow_windows(page)
    await page.goto("/preferences")
    await expect(page.get_by_role("radiogroup", name="Language")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(page, "preferences")

    await look_at_recorder(page)

    researcher = await sign_in("researcher", "/exports")
    await expect(researcher.get_by_role("heading", name="Search and exports", level=1)).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(researcher, "exports")

    admin = await sign_in("admin")
    for place in (*ADMINS_PAGES, *VIEWS):
        await admin.goto(f"/{place}")
        await expect(admin.get_by_role("heading", level=1)).to_be_visible(timeout=BOUND_MS)
        await expect(admin.locator("main").get_by_text("Loading")).to_have_count(0, timeout=BOUND_MS)
        await expect(admin.locator("main").locator("h2, p").first).to_be_visible(timeout=BOUND_MS)
        await assert_accessible_in_both(admin, place)
        if place in PAGES_OF_THE_DAY:
            await assert_fits_narrow_windows(admin)
    await admin.get_by_role("button", name="Equivalent API calls").click()
    await expect(admin.get_by_role("dialog").get_by_role("region").first).to_be_visible(timeout=BOUND_MS)
    await assert_accessible_in_both(admin, "API calls")


async def test_a_workspace_in_chinese_with_custom_keys(chinese_reader: Page, drill: Drill) -> None:
    page = chinese_reader
    episode_page = await drill(page)
    for size in SIZES:
        await page.set_viewport_size(size)
        await expect(episode_page.picture).to_be_visible()
        await assert_no_scrolling(page)

    await page.keyboard.press("?")
    keyboard_help = page.get_by_role("dialog", name="Keyboard help")
    await expect(keyboard_help.get_by_text("Accept candidate 1")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("Escape")
    await expect(keyboard_help).to_have_count(0, timeout=BOUND_MS)

    address = page.url
    await page.goto("/preferences")
    await page.get_by_role("button", name="Add a key to Accept candidate 1", exact=True).click(timeout=BOUND_MS)
    await page.keyboard.press("q")
    kept = page.get_by_role("button", name="Take Q away from Accept candidate 1")
    await expect(kept).to_be_visible(timeout=BOUND_MS)
    await page.get_by_role("radiogroup", name="Language").get_by_text("中文").click()
    await expect(page.get_by_role("radiogroup", name="语言")).to_be_visible(timeout=BOUND_MS)

    await page.goto(address)
    chinese = EpisodePage(page)
    await chinese.opened()
    await expect(page.get_by_role("heading", name="你的步骤")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("q")
    await expect(page.get_by_role("banner").get_by_text("第 2 步")).to_be_visible(timeout=BOUND_MS)
    (step,) = await chinese.steps()
    assert step.decision == "accept"
    await chinese.rested()
    await assert_accessible(page, "the desk in Chinese")
    await page.get_by_role("button", name="EN · English / 中文").click()
    await expect(page.get_by_role("heading", name="Your step")).to_be_visible(timeout=BOUND_MS)
    await episode_page.leave()


@pytest.mark.parametrize(
    ("locale", "dark", "attempts", "only", "parts", "late"),
    [
        ("en-GB", False, "Attempts at toy/lights", "only the candidate", "They diverge at row 1", "1 attempt too old"),
        ("zh-CN", True, "toy/lights 的尝试", "只有候选版本", "从第 1 行开始不同", "1 次尝试因策略版本过旧"),
    ],
    ids=["English", "Chinese"],
)
async def test_a_turn_and_two_attempts_of_its_gate(
    sign_in: SignIn, turn: str, locale: str, dark: bool, attempts: str, only: str, parts: str, late: str
) -> None:
    page = await sign_in("researcher", locale=locale, dark=dark)
    for size in WIDTHS:
        await page.set_viewport_size(size)
        await page.goto(f"/flywheel/{turn}")
        await page.get_by_role("button", name=attempts).click(timeout=BOUND_MS)
        await expect(page.get_by_text(late)).to_be_visible(timeout=BOUND_MS)
        row = page.get_by_role("row").filter(has_text=only, has_not=page.get_by_role("table")).first
        await expect(row).to_be_visible(timeout=BOUND_MS)
        heads = await row.locator("td").evaluate_all("all => all.map(td => getComputedStyle(td, '::before').content)")
        narrow = size["width"] < 500
        assert [FIRST in heads[1], NAME in heads[2]] == [narrow, narrow], "a card says whose attempt is whose"
        await assert_fits_in_width(page)
        await assert_accessible(page, f"a turn at {size}")

        await row.get_by_role("link").click()
        await expect(page.get_by_role("button", name=parts)).to_be_visible(timeout=BOUND_MS)
        pictures = page.locator("section img")
        await expect(pictures).to_have_count(2, timeout=BOUND_MS)
        for place in range(2):  # no function is waited for: the page would evaluate it, which its policy forbids
            await expect(pictures.nth(place)).not_to_have_js_property("naturalWidth", 0, timeout=BOUND_MS)
        await assert_fits_in_width(page)
        await assert_accessible(page, f"two attempts at {size}")


RUN = "lights-earlier"


def write_earlier_run(data: Path, report: Evaluation) -> None:
    """A finished benchmark run of another revision at the tasks of a report."""
    now, policy = datetime.now(UTC), report.policies[0].model_copy(update={"revision": "earlier"})
    result = BenchmarkResult(
        manifest=BenchmarkManifest(
            name="lights",
            created_at=now,
            plan={"policy": policy.model_dump(mode="json")},
            tasks=(PinnedTask(id="lights", sha256="0" * 64),),
            tasks_sha256="0" * 64,
            images=("browser",),
            software="0.1.0",
        ),
        evaluation=report.model_copy(update={"policies": (policy,), "comparison": None}),
        records=report.attempts,
        verifiers_sha256="0" * 64,
        seconds=1,
        finished_at=now,
    )
    folder = data / "benchmarks" / RUN
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(result.manifest.model_dump_json())
    (folder / "result.json").write_text(result.model_dump_json())


@pytest.mark.usefixtures("turn")
@pytest.mark.parametrize(
    ("locale", "dark", "compare", "together"),
    [
        ("en-GB", False, "Compare the two chosen", "exact Mantel-Haenszel test"),
        ("zh-CN", True, "对比所选的两项", "精确 Mantel-Haenszel 检验"),
    ],
    ids=["English", "Chinese"],
)
async def test_two_evaluations_are_chosen_and_compared(
    sign_in: SignIn, platform: TemporaryPlatform, locale: str, dark: bool, compare: str, together: str
) -> None:
    page = await sign_in("researcher", locale=locale, dark=dark)
    rows = (await (await page.request.get("/api/evaluations")).json())["items"]
    report = next(row for row in rows if row["source"] == "report")
    whole = (await (await page.request.get(f"/api/evaluations/{report['id']}")).json())["report"]
    write_earlier_run(platform.data, Evaluation.model_validate(whole))
    await page.goto("/evaluations")
    for name in ("earlier", report["policies"][0]["revision"]):
        row = page.get_by_role("row").filter(has_text=name).first
        await row.get_by_role("checkbox").click(timeout=BOUND_MS)
    await page.get_by_role("button", name=compare).click()
    for size in WIDTHS:
        await page.set_viewport_size(size)
        await expect(page.get_by_text(together)).to_be_visible(timeout=BOUND_MS)
        await expect(page.locator("figure svg.recharts-surface").first).to_be_visible(timeout=BOUND_MS)
        await assert_fits_in_width(page)
        await assert_accessible(page, f"two evaluations at {size}")
