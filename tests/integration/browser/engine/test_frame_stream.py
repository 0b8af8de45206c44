"""What viewers see, and files that are given."""

import asyncio

import pytest

from tests.integration.browser.engine.conftest import BUTTON, SIZE, click, opened
from vm_bridge.browser import BrowserFailed, Engine, FilePayload, PageHung, Session
from vm_bridge.browser.clocks import FrameResult
from vm_bridge.browser.pipe import CdpPayload

MOVES = """<style>#box { position: absolute; width: 40px; height: 40px; background: red }</style><div id=box></div>
<script>let n = 0; (function step() { box.style.left = (n++ % 400) + "px"; requestAnimationFrame(step) })()</script>"""


async def test_viewers_see_what_changes_as_time_passes(engine: Engine) -> None:
    session = await opened(engine, {"/": MOVES})
    serials = []
    async with session.frame_stream.subscribe(fps=30) as frames, asyncio.timeout(60):
        async for frame in frames:
            assert (frame.width, frame.height, len(frame.pixels)) == (*SIZE, SIZE[0] * SIZE[1] * 4)
            serials.append(frame.serial)
            if len(serials) == 4:
                break
            await session.advance(100)
    assert serials == sorted(set(serials))
    assert session.now_ms > 0
    before = await session.evaluate("n")
    await session.picture()
    assert await session.evaluate("n") == before
    assert not session.frame_stream.watched


async def test_a_page_comes_to_rest_as_soon_where_it_is_watched(exact: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    page = f'<button style="{BUTTON}" onclick="this.textContent += 1">0</button>'
    at = []
    for watched in (False, True):
        session = await opened(exact, {"/": page})
        frame = session.time.frame

        async def looked_at(*, seen: bool) -> FrameResult:
            """A frame before which a viewer's picture is taken."""
            await session.time.picture("jpeg", 90, passive=True)  # noqa: B023 - it is called within its round
            return await frame(seen=seen)  # noqa: B023

        if watched:
            monkeypatch.setattr(session.time, "frame", looked_at)
        for _ in range(3):
            await session.picture()
            await click(session, 20, 20)
            assert (await session.settle(3000)).settled
        at.append(session.now_ms)
        await session.close()
    assert at[0] == at[1]


DRAWN = """<canvas id=board></canvas><script>const pen = board.getContext("2d"); pen.fillRect(0, 0, 90, 90)</script>"""


def frame_request_event(session: Session, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set whenever a session's page is asked for a frame, and not before the browser was told."""
    asked, send = asyncio.Event(), session.active.send

    def told(method: str, **parameters: object) -> "asyncio.Future[CdpPayload]":
        if method.endswith("beginFrame"):
            asked.set()
        return send(method, **parameters)

    monkeypatch.setattr(session.active, "send", told)
    return asked


async def test_a_viewer_that_leaves_while_its_picture_is_drawn_costs_nobody_what_they_drew(
    exact: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched, neighbour = [await opened(exact, {"/": DRAWN}) for _ in range(2)]
    asked = frame_request_event(watched, monkeypatch)
    before = await watched.picture()
    for _ in range(20):
        looking = asyncio.create_task(watched.picture())
        await asyncio.wait_for(asked.wait(), 30)
        looking.cancel()
        asked.clear()
        assert await neighbour.picture() == before
    for session in (watched, neighbour):
        assert await session.evaluate("pen.isContextLost()") is False


async def test_a_session_that_ends_while_its_picture_is_drawn_holds_up_nobody(
    exact: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched, neighbour = [await opened(exact, {"/": DRAWN}) for _ in range(2)]
    asked = frame_request_event(watched, monkeypatch)
    before = await neighbour.picture()
    neighbour.time.frame_timeout = watched.time.frame_timeout = 60
    looking = asyncio.create_task(watched.picture())
    await asyncio.wait_for(asked.wait(), 30)
    await watched.close()
    async with asyncio.timeout(30):
        assert await neighbour.picture() == before
        with pytest.raises(BrowserFailed):
            await looking


async def test_a_page_that_never_draws_costs_its_neighbours_nothing(exact: Engine) -> None:
    hung, neighbour = [await opened(exact, {"/": DRAWN}) for _ in range(2)]
    before = await neighbour.picture()
    await hung.evaluate("requestAnimationFrame(() => { for (;;); })")
    hung.time.frame_timeout = 1
    with pytest.raises(PageHung):
        await hung.advance(100)
    assert await neighbour.picture() == before
    assert await neighbour.evaluate("pen.isContextLost()") is False


ONE = FilePayload("a.txt", "text/plain", b"one")


async def test_a_field_gets_its_files(engine: Engine) -> None:
    body = f"""<input type=file id=field multiple style="{BUTTON}"><script>let got = null;
    const read = async (file) => [file.name, file.type, await file.text()];
    field.onchange = async () => {{ got = await Promise.all([...field.files].map(read)) }};
    </script>"""
    session = await opened(engine, {"/": body})
    assert not await session.set_input_files([ONE])
    await click(session, 20, 20)
    await session.settle(1000)
    assert [each.kind for each in session.take_events() if each.kind == "file_chooser"] == ["file_chooser"]
    assert await session.set_input_files([ONE, FilePayload("b.txt", "text/plain", b"zwei")])
    async with asyncio.timeout(30):
        while await session.evaluate("got") is None:
            await session.advance(17)
    assert await session.evaluate("got") == [["a.txt", "text/plain", "one"], ["b.txt", "text/plain", "zwei"]]
