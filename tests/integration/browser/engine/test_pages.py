"""Pages, windows, history and input."""

import asyncio

import pytest

from tests.integration.browser.engine.conftest import BUTTON, HTML, START, Pages, click, kinds, open_site, opened
from vm_bridge.browser import Engine, Response, ScriptFailed

FIRST = f"""<!doctype html><title>First</title><a href=/second style="{BUTTON}">second</a><script>
let frames = 0; (function step() {{ frames++; requestAnimationFrame(step); }})();</script>"""
SECOND = f"""<!doctype html><title>Second</title>
<button style="{BUTTON}" onclick="window.hits = (window.hits || 0) + 1">hit</button>
<script>const born = Date.now()</script>"""
SITE = {"/": FIRST, "/second": SECOND}


async def test_a_click_follows_a_link_and_back_brings_it_back(engine: Engine) -> None:
    session = await opened(engine, SITE)
    for _ in range(3):
        await click(session, 50, 20)
        assert (await session.settle(3000)).settled
        assert (session.active.url, session.active.title) == ("http://site.test/second", "Second")
        await click(session, 50, 20)
        assert await session.evaluate("window.hits") == 1
        assert await session.go_back()
        await session.settle(500)
        assert session.active.url == "http://site.test/"
        await click(session, 50, 20)
        await session.settle(3000)
        assert session.active.url == "http://site.test/second"
        assert await session.go_back()
        await session.settle(500)


async def test_history_begins_with_the_first_page(engine: Engine) -> None:
    session = await opened(engine, SITE)
    assert not await session.go_back()


async def test_time_goes_on_over_hosts(engine: Engine) -> None:
    session = await opened(engine, SITE)
    await session.advance(500)
    await session.goto("http://other.test/second")
    began = await session.evaluate("born")
    assert began == START * 1000 + session.now_ms - await session.evaluate("Math.round(performance.now())")
    assert began >= START * 1000 + 500


async def test_a_window_is_shown_moves_and_closes(engine: Engine) -> None:
    pages = SITE | {"/": f"<button style='{BUTTON}' onclick=\"window.other = window.open('/second')\">open</button>"}
    session = await opened(engine, pages)
    opener = session.active.id
    await click(session, 50, 20)
    await session.settle(3000)
    assert len(session.pages) == 2
    assert session.active.opener == opener
    assert session.active.url == "http://site.test/second"
    assert await session.evaluate("[innerWidth, innerHeight]") == [640, 360]
    await click(session, 50, 20)
    assert await session.evaluate("window.hits") == 1
    assert "popup" in kinds(session)
    await session.evaluate(
        "void (window.frames60 = 0, (function step() { frames60++; requestAnimationFrame(step); })())"
    )
    await session.advance(1000)
    assert await session.evaluate("frames60") == 61, "its frames are its own, though its scope was another document's"
    await session.activate_page(opener)
    assert await session.evaluate("other.hits") == 1
    await session.close_page(session.pages[1].id)
    await session.settle(1000)
    assert [page.id for page in session.pages] == [opener]
    assert await session.evaluate("other.closed") is True


async def test_the_last_page_leaves_an_empty_one(engine: Engine) -> None:
    session = await opened(engine, SITE)
    await session.close_page(session.active.id)
    assert session.active.url == "about:blank"
    await session.goto("http://site.test/second")
    assert session.active.title == "Second"


async def test_a_window_without_opener(engine: Engine) -> None:
    session = await opened(engine, SITE)
    await session.evaluate("void open('http://other.test/second', '', 'noopener')")
    async with asyncio.timeout(20):
        while session.active.url != "http://other.test/second":
            await session.advance(20)
    await session.settle(3000)
    assert session.active.url == "http://other.test/second"
    assert await session.evaluate("born") >= START * 1000


async def test_keys_text_and_wheel_arrive(engine: Engine) -> None:
    body = """<!doctype html><body style="margin:0;height:3000px"><input id=field autofocus
    style="position:absolute;left:0;top:0;width:200px;height:40px"><script>const keys = [];
    addEventListener("keydown", (event) => keys.push(event.key)); </script>"""
    session = await opened(engine, {"/": body})
    await click(session, 50, 20)
    await session.key("down", {"key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65, "text": "a"})
    await session.key("up", {"key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65})
    await session.insert_text("点b")
    assert await session.evaluate("[field.value, keys]") == ["a点b", ["a"]]
    await session.wheel(300, 200, 0, 400)
    await session.settle(1000)
    assert await session.evaluate("scrollY") == 400


async def test_frames_of_other_hosts_share_the_clock(engine: Engine) -> None:
    inner = "<script>let n = 0; setInterval(() => parent.postMessage([++n, Date.now()], '*'), 100)</script>"
    outer = """<script>const log = []; onmessage = (event) => log.push(event.data)</script>
    <iframe src=http://inner.test/inner></iframe>"""
    session = await opened(engine, {"/": outer, "/inner": inner})
    await session.advance(1000)
    log = await session.evaluate("log")
    assert 9 <= len(log) <= 10
    assert all(date % 100 == log[0][1] % 100 for _, date in log)


async def test_answers_come_in_game_time(engine: Engine) -> None:
    site = Pages(
        {
            "/": "<script>const log = []; fetch('/slow').then((a) => a.text()).then((t) => log.push(t))</script>",
            "/slow": Response(200, b"late", HTML, delay_ms=800),
        }
    )
    session = await engine.open(site, size=(640, 360), seed=1, start_time=START)
    await session.goto("http://site.test/", limit_ms=300)
    assert await session.evaluate("log") == []
    await session.advance(400)
    assert await session.evaluate("log") == []
    assert (await session.settle(3000)).settled
    assert await session.evaluate("log") == ["late"]
    assert 800 <= session.now_ms < 1400


async def test_failures_are_the_pages_and_told(engine: Engine) -> None:
    site = Pages({"/": "<script>let word; fetch('/x').catch((e) => { word = e.name })</script>"})
    site.pages["/x"] = Response(failure="ConnectionReset")
    session = await open_site(engine, site)
    await session.settle(1000)
    assert await session.evaluate("word") == "TypeError"
    assert "request_failed" in kinds(session)


async def test_a_slow_page_is_waited_for(engine: Engine) -> None:
    site = Pages(SITE | {"/late": Response(200, b"<title>Late</title>", HTML, delay_ms=1500)})
    session = await open_site(engine, site)
    rest = await session.goto("http://site.test/late")
    assert rest.settled
    assert rest.took_ms >= 1500
    assert session.active.title == "Late"


async def test_a_script_of_ours_is_bounded(engine: Engine) -> None:
    session = await opened(engine, SITE)
    assert await session.evaluate("({a: [1, {b: null}], c: undefined})") == {"a": [1, {"b": None}]}
    assert await session.evaluate("Promise.resolve(3)") == 3
    assert await session.evaluate("document.title", world="own") == "First"
    for bad in ("(() => { throw new Error('no') })()", "'x'.repeat(5e6).split('')", "syntax error"):
        with pytest.raises(ScriptFailed):
            await session.evaluate(bad)


TELLS = f"""<!doctype html><button style="{BUTTON}">hit</button><script>
const told = [];
for (const kind of ["mouseover", "mousemove", "mousedown", "mouseup", "click", "dblclick", "contextmenu"])
  document.querySelector("button").addEventListener(kind, (event) =>
    told.push([kind, event.clientX, event.clientY, event.button, event.buttons, event.detail, event.timeStamp]));
</script>"""


async def test_a_click_comes_whole_and_in_order_without_time_passing(engine: Engine) -> None:
    session = await opened(engine, {"/": TELLS})
    now = session.now_ms
    await session.click(50, 20, "left", 2)
    told = await session.evaluate("told.splice(0)")
    told = [event for event in told if event[1]]  # the pointer comes from the corner
    presses = ["mousedown", "mouseup", "click"]
    assert [event[0] for event in told] == ["mousemove", *presses, *presses, "dblclick"]
    assert {(x, y, button) for _, x, y, button, *_ in told} == {(50, 20, 0)}
    assert [event[4] for event in told] == [0, 1, 0, 0, 1, 0, 0, 0]
    assert [event[5] for event in told][1:] == [1, 1, 1, 2, 2, 2, 2]
    assert session.now_ms == now
    await session.click(51, 21, "right")
    kinds_told = [event[0] for event in await session.evaluate("told")]
    assert kinds_told == ["mousemove", "mousedown", "contextmenu", "mouseup"]
