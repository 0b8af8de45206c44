"""People in a real Chromium before the whole platform with the demo's contents."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, StorageState, async_playwright, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.endless_model import serve_endless_model
from tests.e2e.episode_page import BOUND_MS, EpisodePage

CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
"""The headless shell takes a fifth less processor time. Ubuntu has none."""
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
DRILLS = tuple((f"Drill {number}", "say_hello") for number in range(1, 51))
AUTOPILOT_DRILL = "Autopilot drill"
"""Its policy comes to no end: it goes on until it is stopped."""
LATER_DRILL = "Later drill"
"""Its steps may be done before their thoughts are written."""
SignIn = Callable[..., Awaitable[Page]]
Drill = Callable[[Page], Awaitable[EpisodePage]]
Sessions = dict[str, StorageState]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All share one event loop, in which the browser was started."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """One for all: it takes seconds to start."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """The same, with no page of another test."""
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest.fixture(scope="session")
def sessions(platform: TemporaryPlatform) -> Sessions:
    """The cookies of users who signed in before."""
    return {}


async def open_signed_in(
    browser: Browser, url: str, sessions: Sessions, user: str, path: str, *, script: str = "", locale: str = "en-GB",
    dark: bool = False,
) -> Page:  # fmt: skip
    """A page of one's own at `path` of the platform at `url`, signed in as a demo user.

    The first page of a user goes through the form; later ones get its cookies. `script` runs before the page's own.
    """
    context = await browser.new_context(
        viewport={"width": 1280, "height": 800},
        locale=locale,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        base_url=url,
        storage_state=sessions.get(user),
    )
    page = await context.new_page()
    if script:
        await page.add_init_script(script)
    await page.goto(path)
    if user not in sessions:
        await page.locator("input[autocomplete=username]").fill(user)
        await page.locator("input[type=password]").fill(f"{user}-demo")
        await page.keyboard.press("Enter")
        await expect(page.locator("input[autocomplete=username]")).to_have_count(0, timeout=BOUND_MS)
        sessions[user] = StorageState(cookies=(await context.storage_state())["cookies"])
    await expect(page.get_by_role("banner")).to_be_visible(timeout=BOUND_MS)  # from now on it takes keys
    return page


@pytest.fixture
def sign_in(browser: Browser, platform: TemporaryPlatform, sessions: Sessions) -> SignIn:
    """Opens a page of one's own, signed in as a demo user, as `open_signed_in` does."""

    async def open_as(
        user: str, path: str = "/queue", *, script: str = "", locale: str = "en-GB", dark: bool = False
    ) -> Page:
        return await open_signed_in(
            browser, platform.url, sessions, user, path, script=script, locale=locale, dark=dark
        )

    return open_as


@pytest_asyncio.fixture(loop_scope="session")
async def chinese_reader(sign_in: SignIn) -> AsyncIterator[Page]:
    """A page of somebody whose preferences are put back at the end, whatever became of them: others use it too."""
    page = await sign_in("admin")
    before = (await (await page.request.get("/api/session")).json())["user"]["preferences"]
    yield page
    csrf = (await (await page.request.get("/api/session")).json())["csrf"]
    await page.request.patch("/api/me", data={"preferences": before}, headers={"X-CSRFToken": csrf})


@pytest.fixture(scope="session")
def turn(platform: TemporaryPlatform) -> str:
    """A turn of a flywheel that has ended, by its id."""
    loaded = "from tests.e2e.flywheel_turns import turn_load; print(turn_load())"
    return platform.manage("shell", "-v", "0", "-c", loaded).split()[-1]


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """The address of a model server that always replies with the same actions."""
    with serve_endless_model() as url:
        yield url


@pytest.fixture(scope="session")
def drill_numbers(platform: TemporaryPlatform, model_url: str) -> "count[int]":
    """Loads the drills; gives out each number once."""
    pools = (*DRILLS, (LATER_DRILL, "say_hello"))
    endless = f"batching_load({AUTOPILOT_DRILL!r}, {model_url!r})"
    loaded = f"drills_load(*{pools!r}); thoughts_later({LATER_DRILL!r}); {endless}"
    platform.manage("shell", "-c", f"from tests.e2e.drills import *; {loaded}")
    return count(1)


@pytest.fixture
def drill(drill_numbers: "count[int]") -> Drill:
    """Opens the desk of a fresh task, from a pool of its own."""

    async def open_episode(page: Page) -> EpisodePage:
        episode_page = EpisodePage(page)
        await episode_page.take(f"Drill {next(drill_numbers)}")
        return episode_page

    return open_episode


async def confirm(page: Page, password: str) -> None:
    """Give the password that is asked for once more."""
    proof = page.get_by_role("dialog", name="Confirm that it is you")
    await expect(proof.get_by_label("Your password")).to_be_focused(timeout=BOUND_MS)
    await page.keyboard.insert_text(password)
    await page.keyboard.press("Enter")
    await expect(proof).to_have_count(0, timeout=BOUND_MS)
