"""The phone's apps beyond what tasks touch: the server's refusals, the way back, and what settings do elsewhere."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from protocol.actions.types import OpenApp, PressBack, TypeText
from tests.integration.suites.phone import Phone, apps_served, phone_opened
from tests.waiting import eventually
from vm_bridge.suites.phone.task import Touch
from vm_bridge.suites.phone.world import make_world

WORLD = make_world(5)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "state.json"


@pytest.fixture
def server(state: Path) -> Iterator[httpx.Client]:
    with apps_served(state) as address, httpx.Client(base_url=address, timeout=10.0) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    async with phone_opened(tmp_path_factory.mktemp("phone")) as phone:
        yield phone


@pytest_asyncio.fixture(loop_scope="module")
async def phone(opened: Phone) -> Phone:
    await opened.load(WORLD)
    return opened


async def _touch(phone: Phone, *labels: str) -> None:
    for label in labels:
        await phone.perform(await phone.action_of(Touch(label)))


def test_what_was_put_is_on_the_disk_and_a_clear_brings_back_what_was_loaded(server: httpx.Client, state: Path) -> None:
    assert server.put("/api/state", json=WORLD).status_code == 204
    assert server.put("/api/state/notes", json={"notes": []}).status_code == 204
    assert json.loads(state.read_bytes()) == server.get("/api/state").json() == WORLD | {"notes": {"notes": []}}
    assert server.delete("/api/state/notes").status_code == 204
    assert server.get("/api/state").json() == WORLD


def test_what_was_kept_is_found_again_by_the_next_server(state: Path) -> None:
    with apps_served(state) as address:
        httpx.put(f"{address}/api/state/notes", json={"notes": []}).raise_for_status()
    with apps_served(state) as address:
        assert httpx.get(f"{address}/api/state").json()["notes"] == {"notes": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/api/state", b"{}", 400),
        ("PUT", "/api/state", b"no json", 400),
        ("PUT", "/api/state", json.dumps(WORLD | {"more": {}}).encode(), 400),
        ("PUT", "/api/state/notes", b"[]", 400),
        ("PUT", "/api/state/nothing", b"{}", 404),
        ("PUT", "/api/state/notes", b" " * (256 * 1024 + 1), 413),
        ("PUT", "/api/state/notes", b"", 413),
        ("DELETE", "/api/state/now", b"", 404),
        ("GET", "/api/state/../server.py", b"", 404),
        ("GET", "/../build.py", b"", 404),
        ("GET", "/%2e%2e/%2e%2e/build.py", b"", 404),
        ("GET", "/server.py", b"", 404),
        ("GET", "/contacts", b"", 404),
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(
    server: httpx.Client, method: str, path: str, body: bytes, status: int
) -> None:
    before = server.get("/api/state").content
    assert server.request(method, path, content=body).status_code == status
    assert server.get("/api/state").content == before


@pytest.mark.asyncio(loop_scope="module")
async def test_back_closes_a_dialog_then_goes_up_then_goes_home(phone: Phone) -> None:
    await _touch(phone, "Contacts", "Anna Berg", "Delete contact")
    await phone.page.wait_for_selector(".dialog")
    await phone.perform(PressBack())
    assert await phone.page.locator(".dialog").count() == 0
    assert await phone.page.get_by_text("Send message").is_visible()
    await phone.perform(PressBack())
    assert await phone.page.get_by_placeholder("Search contacts").is_visible()
    async with phone.page.expect_navigation():
        await phone.perform(PressBack())
    await phone.page.wait_for_selector(".dock")


@pytest.mark.asyncio(loop_scope="module")
async def test_in_airplane_mode_no_message_is_sent(phone: Phone) -> None:
    await _touch(phone, "Settings", "Airplane mode")
    await eventually(lambda: phone.world()["settings"]["airplane"])
    before = phone.world()["messages"]
    await phone.perform(OpenApp(name="Messages"))
    await phone.page.locator(".row").last.tap()
    await _touch(phone, "Message")
    await phone.perform(TypeText(text="Hello"))
    await _touch(phone, "Send")
    await phone.page.get_by_text("Not sent").wait_for()
    assert phone.world()["messages"] == before


@pytest.mark.asyncio(loop_scope="module")
async def test_language_theme_and_size_of_text_show_in_every_app(phone: Phone) -> None:
    await _touch(phone, "Settings", "Theme", "Dark", "Language", "中文", "字体大小", "大")
    await eventually(lambda: phone.world()["settings"]["font_size"] == "large")
    await phone.perform(OpenApp(name="Shop"))
    await phone.page.get_by_text("陶瓷杯").wait_for()
    root = phone.page.locator("html")
    assert await root.get_attribute("data-theme") == "dark"
    assert await root.evaluate("element => getComputedStyle(element).fontSize") == "18px"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("line", "result"),
    [("1+2×3", "7"), ("8÷4−5", "-3"), ("2×3×4", "24"), ("0.1+0.2", "0.3"), ("-5×2", "-10"), ("1÷0", "Error")],
)
async def test_the_calculator_does_products_before_sums(phone: Phone, line: str, result: str) -> None:
    script = "async line => (await import('/calculator/arithmetic.js')).evaluate(line)"
    assert await phone.page.evaluate(script, line) == result


@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_is_lost_of_quick_taps_before_the_app_is_left(phone: Phone) -> None:
    await phone.perform(OpenApp(name="Calculator"))
    async with phone.page.expect_navigation():
        await phone.page.evaluate(
            """[..."123456789"].forEach(key =>
                [...document.querySelectorAll(".keys button")].find(one => one.textContent === key).click());
            phone.home()"""
        )
    assert phone.world()["calculator"]["shown"] == "123456789"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_running_timer_counts_on_its_own_screen_only(phone: Phone) -> None:
    await _touch(phone, "Clock", "Timer", "5 min")
    await phone.page.wait_for_function("document.querySelector('.face b').textContent.startsWith('04:5')")
    assert (phone.world()["clock"]["timer"], phone.world()["now"]) == (300, WORLD["now"])


@pytest.mark.asyncio(loop_scope="module")
async def test_every_app_fits_the_screen_upright_and_on_its_side(phone: Phone) -> None:
    for width, height in ((412, 915), (915, 412)):
        await phone.page.set_viewport_size({"width": width, "height": height})
        for name in ("launcher", *(set(WORLD) - {"now"})):
            await phone.perform(OpenApp(name=name))
            assert await phone.page.evaluate("document.documentElement.scrollWidth") <= width, name
    await phone.page.set_viewport_size({"width": 412, "height": 915})


def test_a_page_hears_of_a_load_also_if_it_came_before_it_listened(server: httpx.Client) -> None:
    seen = server.get("/api/state").headers["Loads"]
    server.put("/api/state", json=WORLD).raise_for_status()
    with server.stream("GET", f"/api/changes/{seen}") as changes:
        assert next(changes.iter_lines()) == "data: load"
