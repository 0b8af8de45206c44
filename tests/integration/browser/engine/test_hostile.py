"""What a page does to harm is bounded and told, and its neighbours do not feel it."""

import asyncio

import pytest

from tests.integration.browser.engine.conftest import BUTTON, HTML, Pages, click, kinds, opened
from vm_bridge.browser import BrowserEvent, BrowserFailed, Engine, Response, Session
from vm_bridge.browser.cdp_events import MAX_PAGES

NEIGHBOUR = {"/": "<script>let n = 0; setInterval(() => n++, 100)</script>"}
PATIENCE = 6.0


async def alive(session: Session) -> None:
    """Whether the neighbour goes on as if nothing had been."""
    before = await session.evaluate("n")
    await session.advance(1000)
    assert await session.evaluate("n") == before + 10


async def test_dialogs_are_answered_and_told(engine: Engine) -> None:
    asks = "const got = [alert('a'), confirm('b'), prompt('c', 'd')]; onbeforeunload = (e) => e.preventDefault()"
    session = await opened(engine, {"/": f"<script>{asks}</script>", "/next": "<title>Next</title>"})
    assert await session.evaluate("got") == [None, True, "d"]
    dialogs = [(each.more["type"], each.text) for each in session.take_events() if each.kind == "dialog"]
    assert dialogs == [("alert", "a"), ("confirm", "b"), ("prompt", "c")]
    await click(session, 5, 5)
    await session.goto("http://site.test/next")
    assert session.active.title == "Next"


async def test_downloads_are_refused(engine: Engine) -> None:
    site: dict[str, str | Response] = {
        "/": f"<a href=/file download=report.pdf style='{BUTTON}'>get</a>",
        "/file": Response(200, b"x" * 1000, {"content-type": "application/pdf", "content-disposition": "attachment"}),
    }
    session = await opened(engine, site)
    await click(session, 20, 20)
    await session.settle(2000)
    told: list[BrowserEvent] = []
    async with asyncio.timeout(20):
        while not (told := told + [each for each in session.take_events() if each.kind == "download"]):
            await session.advance(17)
    assert "report.pdf" in told[0].text
    assert session.active.url == "http://site.test/"


async def test_an_endless_loop_ends_the_session_alone(engine: Engine) -> None:
    neighbour = await opened(engine, NEIGHBOUR)
    session = await opened(engine, {"/": "<script>setTimeout(() => { for (;;); }, 200)</script>"})
    session.time.frame_timeout = PATIENCE
    with pytest.raises(BrowserFailed):
        await session.advance(1000)
    await session.close()
    await alive(neighbour)
    await alive(await opened(engine, NEIGHBOUR))


async def test_a_crash_is_told_and_the_session_alone_is_lost(engine: Engine) -> None:
    neighbour = await opened(engine, NEIGHBOUR)
    session = await opened(engine, NEIGHBOUR)
    session.active.send("Page.crash")
    with pytest.raises(BrowserFailed):
        await session.advance(60_000)
    assert "crashed" in kinds(session)
    await session.close()
    await alive(neighbour)


async def test_much_memory_is_not_had(engine: Engine) -> None:
    neighbour = await opened(engine, NEIGHBOUR)
    eats = (
        "const kept = []; setInterval(() => { for (let i = 0; i < 200; i++) kept.push(new Array(100000).fill(i)) }, 17)"
    )
    session = await opened(engine, {"/": f"<script>{eats}</script>"})
    with pytest.raises(BrowserFailed):
        await session.advance(20_000)
    await session.close()
    await alive(neighbour)


async def test_a_flood_of_messages_is_cut(engine: Engine) -> None:
    floods = "setInterval(() => { for (let i = 0; i < 200; i++) console.error('x'.repeat(50)) }, 17)"
    session = await opened(engine, {"/": f"<script>{floods}</script>"})
    await session.advance(500)
    told = session.take_events()
    assert len(told) <= 201
    await session.advance(500)
    assert [each for each in session.take_events() if each.kind == "console"] == []


async def test_errors_of_a_page_are_told(engine: Engine) -> None:
    session = await opened(engine, {"/": "<script>console.warn('careful', 3); throw new Error('broken')</script>"})
    told = {each.kind: each.text for each in session.take_events()}
    assert told["console"] == "careful 3"
    assert "broken" in told["page_error"]


async def test_a_page_that_never_loads_is_not_waited_for(engine: Engine) -> None:
    site = Pages({"/": "<p>here<img src=/never>", "/never": Response(200, b"", HTML, delay_ms=10_000_000)})
    session = await engine.open(site, size=(320, 240), seed=1, start_time=1_700_000_000)
    rest = await session.goto("http://site.test/", limit_ms=1000)
    assert not rest.settled
    assert len(await session.picture()) > 500


async def test_nothing_goes_out(engine: Engine) -> None:
    tries = """Promise.all([
      new Promise((done) => { const s = new WebSocket("ws://127.0.0.1:9/"); s.onerror = () => done("no");
                              s.onopen = () => done("yes"); }),
      fetch("http://127.0.0.1:1/").then(() => "answered", () => "no"),
    ])"""
    session = await opened(engine, {"/": "<p>x"})
    asked = asyncio.create_task(session.evaluate(tries))
    async with asyncio.timeout(20):
        while not asked.done():
            await session.advance(17)
    assert asked.result()[0] == "no"


async def test_the_end_of_the_process_is_told(engine: Engine) -> None:
    session = await opened(engine, NEIGHBOUR)
    assert not engine.died.is_set()
    await engine.close()
    async with asyncio.timeout(10):
        await engine.died.wait()
    with pytest.raises(BrowserFailed):
        await session.advance(100)
    await session.close()
    await engine.close()


async def test_a_thousand_windows_are_a_dozen(engine: Engine) -> None:
    neighbour = await opened(engine, NEIGHBOUR)
    many = "for (let i = 0; i < 1000; i++) window.open('/second')"
    session = await opened(engine, {"/": f"<button style='{BUTTON}' onclick=\"{many}\">go</button>", "/second": "hi"})
    await click(session, 20, 20)
    await session.settle(3000)
    assert len(session.pages) == MAX_PAGES
    assert "popup_refused" in kinds(session)
    await alive(neighbour)
    await session.advance(500)
    assert session.active.url == "http://site.test/second"
