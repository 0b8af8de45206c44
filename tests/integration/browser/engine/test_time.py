"""Time is the engine's: nothing in a page moves unless it is told, and then all of it moves together."""

from pathlib import Path

import pytest

from protocol.actions.types import TypeText
from tests.integration.browser.engine.conftest import BUTTON, SIZE, START, Pages, click, hashed, opened, started
from vm_bridge.browser import Clock, Engine, Session
from vm_bridge.browser.action_executor import PageActionExecutor
from vm_bridge.browser.exact_clock import ExactClock
from vm_bridge.browser.keys import key_event
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import CdpPayload, Listener

GAME = """<!doctype html><style>
@keyframes move { from { left: 0 } to { left: 500px } }
#box { position: absolute; top: 80px; width: 40px; height: 40px; background: red }
#css { position: absolute; top: 160px; width: 40px; height: 40px; background: blue; animation: move 5s linear infinite }
</style><button id=b style="position:absolute;left:0;top:0;width:80px;height:40px">go</button>
<div id=box></div><div id=css></div><script>
const first = [Date.now(), performance.now(), Math.random()];
let frames = 0, ticks = 0, last = null, once = 0, log = [];
setInterval(() => ticks++, 100);
setTimeout(() => { once = performance.now(); }, 250);
(function step(time) { frames++; last = time; box.style.left = (frames % 500) + "px"; requestAnimationFrame(step); })();
b.onclick = (event) => log.push([event.timeStamp, performance.now(), Math.random()]);
const state = () => ({ frames, ticks, last, once, log, first, date: Date.now(), now: performance.now(),
                       css: css.getBoundingClientRect().left });
</script>"""


async def state(session: Session) -> dict[str, object]:
    told = await session.evaluate("state()")
    assert isinstance(told, dict)
    return told


async def test_a_page_stands_still_until_time_is_given(engine: Engine) -> None:
    session = await opened(engine, {"/": GAME})
    before = await state(session)
    for _ in range(3):
        await session.picture()
        await session.refresh()
    after = await state(session)
    if engine.clock is Clock.SCRIPT:  # which does not move CSS
        after["css"] = before["css"]
    assert after == before
    assert before["first"][:2] == [START * 1000, 0]  # type: ignore[index]


async def test_a_second_is_sixty_frames_and_ten_ticks(engine: Engine) -> None:
    session = await opened(engine, {"/": GAME})
    before = await state(session)
    await session.advance(1000)
    after = await state(session)
    assert int(str(after["frames"])) - int(str(before["frames"])) == 60
    assert after["ticks"] == session.now_ms // 100
    assert after["date"] == START * 1000 + session.now_ms
    assert after["now"] == session.now_ms
    assert after["last"] == session.now_ms
    assert after["once"] == 250


async def test_css_animations_move_with_the_exact_clock(exact: Engine) -> None:
    session = await opened(exact, {"/": GAME})
    await session.advance(1000)
    first = await state(session)
    await session.advance(1000)
    second = await state(session)
    assert abs(float(str(second["css"])) - float(str(first["css"])) - 100) < 0.01


async def play_game(engine: Engine) -> tuple[list[str], object]:
    """Some play: what was seen on the way, and how it ended."""
    session = await opened(engine, {"/": GAME}, seed=11)
    seen = []
    for turn in range(6):
        await click(session, 20 + turn, 20)
        await session.advance(50 * turn)
        seen.append(await hashed(session))
    return seen, await state(session)


async def test_two_browsers_show_the_same(tmp_path: Path) -> None:
    runs = []
    for number in range(2):
        async with started(tmp_path / str(number), Clock.EXACT) as engine:
            runs.append(await play_game(engine))
    assert runs[0] == runs[1]
    assert len(set(runs[0][0])) > 3


async def test_the_script_clock_repeats_what_scripts_read(tmp_path: Path) -> None:
    ends = []
    for number in range(2):
        async with started(tmp_path / str(number), Clock.SCRIPT) as engine:
            _, end = await play_game(engine)
            assert isinstance(end, dict)
            ends.append({name: said for name, said in end.items() if name != "css"})
    assert ends[0] == ends[1]


async def test_sessions_have_clocks_of_their_own(engine: Engine) -> None:
    first, second = await opened(engine, {"/": GAME}), await opened(engine, {"/": GAME})
    await first.advance(500)
    before = await state(second)
    assert before["now"] == second.now_ms < first.now_ms
    await second.advance(1000)
    assert (await state(first))["now"] == first.now_ms


async def test_a_seed_is_a_sequence(engine: Engine) -> None:
    draw = "[Math.random(), Math.random(), crypto.getRandomValues(new Uint8Array(4)).join()]"
    page = {"/": f"<script>const got = {draw}</script>"}
    got = [await (await opened(engine, page, seed=seed)).evaluate("got") for seed in (1, 1, 2)]
    assert got[0] == got[1]
    assert all(one != other for one, other in zip(got[0], got[2], strict=True))


async def test_promises_come_between_timers(engine: Engine) -> None:
    page = """<script>const log = [];
    setTimeout(() => { log.push("a"); Promise.resolve().then(() => log.push("b")).then(() => log.push("c")); }, 20);
    setTimeout(() => log.push("d"), 20);
    setTimeout(() => log.push(performance.now()), 30);
    </script>"""
    session = await opened(engine, {"/": page})
    await session.advance(100)
    assert await session.evaluate("log") == ["a", "b", "c", "d", 30]


async def test_settle_waits_for_timers_and_no_longer(engine: Engine) -> None:
    page = (
        "<p id=p>before</p><script>setTimeout(() => setTimeout(() => { p.textContent = 'after' }, 100), 100)</script>"
    )
    session = await opened(engine, {"/": page})
    rest = await session.settle(2000)
    assert rest.settled
    assert rest.took_ms < 600
    assert await session.evaluate("p.textContent") == "after"


async def test_every_frame_is_answered_though_no_time_passes(exact: Engine) -> None:
    session = await opened(exact, {"/": GAME})
    before = await state(session)
    for _ in range(600):
        await session.refresh()
    after = await state(session)
    assert abs(float(str(after.pop("css"))) - float(str(before.pop("css")))) < 0.1, "less than a millisecond's worth"
    assert after == before


DRAWS = """<!doctype html><style>@keyframes move { from { left: 0 } to { left: 500px } }
div { position: absolute; width: 40px; height: 40px; background: red }
#css { top: 60px; animation: move .5s linear 3 } #far { top: 120px }</style>
<div id=wide></div><div id=css></div><div id=far></div><canvas id=flat></canvas>
<canvas id=gl width=200 height=100></canvas>
<script>
let n = 0;
const log = [], plain = flat.getContext("2d"), web = gl.getContext("webgl");
new ResizeObserver((seen) => log.push(["wide", seen[0].contentRect.width])).observe(wide);
new IntersectionObserver((seen) => log.push(["far", seen[0].isIntersecting, n])).observe(far);
for (const kind of ["animationstart", "animationiteration", "animationend"]) {
  css.addEventListener(kind, () => log.push([kind, n, performance.now()]));
}
(function step() {
  n++;
  wide.style.width = `${40 + n}px`;
  far.style.top = n % 20 < 10 ? "120px" : "5000px";
  plain.fillStyle = `hsl(${n * 20} 80% 50%)`;
  plain.fillRect((n * 7) % 200, (n * 13) % 100, 30, 30);
  // It draws a part and clears nothing: what it drew before is gone only where it was on display.
  web.enable(web.SCISSOR_TEST);
  web.scissor((n * 7) % 200, (n * 13) % 100, 30, 30);
  web.clearColor((n % 10) / 10, (n % 7) / 7, 0.5, 1);
  web.clear(web.COLOR_BUFFER_BIT);
  requestAnimationFrame(step);
})();</script>"""


async def test_frames_nobody_sees_are_drawn_all_the_same(exact: Engine) -> None:
    seen = []
    for page in (DRAWS, DRAWS.replace('gl.getContext("webgl")', "new Proxy({}, { get: () => () => {} })")):
        for slices in (1, 60):
            session = await opened(exact, {"/": page})
            for _ in range(slices):
                await session.advance(1000 / slices)
            seen.append((await session.evaluate("[n, log]"), await hashed(session)))
            await session.close()
    assert seen[0] == seen[1]
    assert seen[2] == seen[3]
    assert seen[0][0][0] == 62
    assert seen[0][1] != seen[2][1], "WebGL draws here"


async def test_a_document_begins_the_same_way_where_its_first_frame_needs_two_tries(
    exact: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The browser may not know yet, when it is asked for the first frame, that the document has something to draw."""
    draw_frame, frames_to_lose = ExactClock._frame_of, [0]

    async def lose_frames(clock: ExactClock, page: Page, at: float, more: CdpPayload) -> CdpPayload:
        if frames_to_lose[0]:
            frames_to_lose[0] -= 1
            page.drawn = False
            return {}
        return await draw_frame(clock, page, at, more)

    monkeypatch.setattr(ExactClock, "_frame_of", lose_frames)
    begun = []
    for lost in (0, 1, 3):
        frames_to_lose[0] = lost
        session = await opened(exact, {"/": DRAWS})
        assert frames_to_lose == [0]
        await session.advance(100)
        begun.append((await session.evaluate("[n, log]"), await hashed(session)))
        await session.close()
    assert begun[0] == begun[1] == begun[2]


async def test_a_document_begins_in_one_moment(exact: Engine) -> None:
    born = "<script>const born = Date.now(), read = performance.now(), dated = +new Date();"
    later = "setTimeout(() => { once = performance.now() }, 20); let once = 0</script>"
    session = await opened(exact, {"/": "<p>first", "/second": f"<!doctype html><button>hit</button>{born}{later}"})
    for turn in range(10):
        await session.advance(50)
        left = START * 1000 + session.now_ms
        await session.goto(f"http://host{turn}.test/second")
        assert await session.evaluate("[born, dated, read]") == [left, left, 0]
        await session.advance(50)
        assert await session.evaluate("[once, Date.now() - born - performance.now()]") == [20, 0]


@pytest.mark.parametrize("by", ["wheel", "key", "script"])
async def test_scrolling_goes_the_same_way_where_nobody_sees_it(exact: Engine, by: str) -> None:
    body = "<!doctype html><div style='height:9000px;background:linear-gradient(red,blue)'></div>"
    track = "<script>const way = []; addEventListener('scroll', () => way.push([performance.now(), scrollY]))</script>"
    seen = []
    for slices in (1, 60):
        session = await opened(exact, {"/": body + track})
        if by == "wheel":
            await session.wheel(100, 100, 0, 700)
        elif by == "key":
            await session.key("down", key_event("pagedown", 0))
        else:
            await session.evaluate("void scrollTo({ top: 3000, behavior: 'smooth' })")
        for _ in range(slices):
            await session.advance(1000 / slices)
        seen.append((await session.evaluate("[scrollY, way]"), await hashed(session)))
        await session.close()
    assert seen[0] == seen[1]
    assert seen[0][0][0] > 0


async def test_what_an_input_asks_for_does_not_keep_time_from_passing(
    exact: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vm_bridge.browser.exact_clock.STALLED_SECONDS", 60)  # a page hangs before
    page = f"<!doctype html><button id=b style='{BUTTON}'>go</button><script>let got = 0;"
    asks = page + "b.onmousedown = () => fetch('/more').then(() => { got = performance.now() })</script>"
    session = await opened(exact, {"/": asks, "/more": "more"})
    await click(session, 20, 20)
    began = session.now_ms
    await session.advance(100)
    assert session.now_ms - began == 100
    got = await session.evaluate("got")
    assert isinstance(got, int | float)
    assert got >= began > 0


LEAVES = """<!doctype html><form id=form action="/next"></form><a id=link href="/next">on</a><script>
let n = 0;
(function step() { if (++n === 20) { %s } else requestAnimationFrame(step); })();</script>"""
ARRIVES = """<!doctype html><p>here</p><script>
const log = [Date.now()];
setTimeout(() => log.push(["later", Date.now()]), 5);
(function step() { log.push(Date.now()); if (log.length < 20) requestAnimationFrame(step); })();</script>"""


@pytest.mark.parametrize(
    "how",
    [
        "location = '/next'",
        "form.submit()",
        "link.click()",
        "fetch('/next').then(() => { location = '/next' })",
        "new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(0), 30)']))).onmessage ="
        " () => { location = '/next' }",
        "setTimeout(() => { location = '/next' }, 5)",
        "const channel = new MessageChannel(); channel.port1.onmessage = () => { location = '/next' };"
        " channel.port2.postMessage(0)",
    ],
)
async def test_a_page_leaves_at_the_same_moment_where_nobody_sees_it(exact: Engine, how: str) -> None:
    seen = []
    for slices in (1, 60):
        session = await opened(exact, {"/": LEAVES % how, "/next": ARRIVES, "/next?": ARRIVES})
        for _ in range(slices):
            await session.advance(1000 / slices)
        seen.append((await session.evaluate("log"), await hashed(session)))
        await session.close()
    assert seen[0] == seen[1]
    assert len(seen[0][0]) == 20


async def test_a_form_that_is_sent_with_enter_needs_time_alone(exact: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vm_bridge.browser.session.NAVIGATION_SECONDS", 600)  # a wait for it outlasts the test
    arrived = []
    for _ in range(2):
        session = await opened(exact, {"/": "<form action=/next><input name=q autofocus>", "/next?q=a": ARRIVES})
        await PageActionExecutor(session, {}).do(TypeText(text="a\n"))
        await session.settle(3000)
        arrived.append((await session.evaluate("location.search"), await session.evaluate("log[0]")))
        await session.close()
    assert arrived[0] == arrived[1]
    assert arrived[0][0] == "?q=a"


async def test_a_page_has_loaded_when_it_says_so_however_late_the_browser_tells(exact: Engine) -> None:
    page = "<h1>here</h1><script src=part.js></script>"
    pages = {"/": page, "/part.js": "document.body.append('whole')"}
    expected = (await opened(exact, pages)).now_ms
    told = exact.pipe.listen

    def withheld(session: str, listener: Listener) -> None:
        told(session, lambda event, more: None if event == "Page.frameStoppedLoading" else listener(event, more))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(exact.pipe, "listen", withheld)
        late = await exact.open(Pages(pages), size=SIZE, seed=7, start_time=START)
    await late.goto("http://site.test/")
    assert late.now_ms == expected
    assert "whole" in await late.evaluate("document.body.innerText")
