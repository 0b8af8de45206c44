"""What the engine is made of, without a browser."""

import asyncio
import os
from pathlib import Path

import pytest

from vm_bridge.browser import BrowserEnded, BrowserEvent, BrowserFailed, Request, StaticSite
from vm_bridge.browser.clocks import frame_time, next_frame_time
from vm_bridge.browser.events import MAX_EVENTS, EventBuffer
from vm_bridge.browser.page import evaluation_value
from vm_bridge.browser.pipe import Pipe


def test_sixty_frames_are_a_second_and_fall_on_whole_milliseconds() -> None:
    assert [frame_time(frame) for frame in range(7)] == [0, 17, 33, 50, 67, 83, 100]
    now, frames = 0, 0
    while now < 60_000:
        now, frames = next_frame_time(now), frames + 1
    assert (now, frames) == (60_000, 3600)


@pytest.mark.parametrize("now", [0, 1, 16, 17, 18, 32, 33, 99, 100, 101, 999_983])
def test_the_next_frame_is_the_first_after_now(now: int) -> None:
    due = next_frame_time(now)
    assert now < due <= now + 17


def test_events_are_bounded_and_what_is_lost_is_counted() -> None:
    browser_events = EventBuffer()
    for number in range(MAX_EVENTS + 5):
        browser_events.add(BrowserEvent("console", str(number), 0))
    taken = browser_events.drain()
    assert len(taken) == MAX_EVENTS + 1
    assert (taken[-1].kind, taken[-1].text) == ("dropped", "5 more events")
    assert browser_events.drain() == ()


async def test_a_folder_gives_its_files_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("hello")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "site" / "way").symlink_to(tmp_path / "secret.txt")
    folder = StaticSite({"site.test": tmp_path / "site"})

    async def ask(url: str) -> tuple[int, bytes, str]:
        answer = await folder.answer(Request("GET", url, {}, b"", "Document"))
        return answer.status, answer.body, answer.failure

    assert await ask("http://site.test/") == (200, b"hello", "")
    assert (await ask("http://other.test/"))[2] == "NameNotResolved"
    for path in ("../secret.txt", "%2e%2e/secret.txt", "way", "missing"):
        assert (await ask(f"http://site.test/{path}"))[0] == 404


def test_what_a_script_throws_is_raised() -> None:
    assert evaluation_value({"result": {"value": 3}}) == 3
    with pytest.raises(BrowserFailed, match="no"):
        evaluation_value({"result": {}, "exceptionDetails": {"exception": {"description": "Error: no"}}})


async def piped() -> tuple[Pipe, int, int]:
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    return await Pipe.open(ours_in, ours_out), theirs_in, theirs_out


async def test_answers_find_their_calls_and_events_their_listeners() -> None:
    pipe, read, write = await piped()
    heard: list[str] = []
    pipe.listen("one", lambda event, told: heard.append(event + told["x"]))
    first, second = pipe.send("A.a"), pipe.send("B.b", "one", y=1)
    os.write(write, b'{"id":2,"result":{"b":1}}\0{"method":"C.c","sessionId":"one","params":{"x":"!"}}\0{"id":1,"err')
    assert await second == {"b": 1}
    os.write(write, b'or":{"message":"bad"}}\0')
    with pytest.raises(BrowserFailed, match=r"A\.a: bad"):
        await first
    assert heard == ["C.c!"]
    assert os.read(read, 1000).count(b"\0") == 2
    pipe.close()
    os.close(read)
    os.close(write)


async def test_a_pipe_that_ends_ends_what_waits() -> None:
    pipe, read, write = await piped()
    call = pipe.send("A.a")
    os.close(write)
    with pytest.raises(BrowserEnded):
        await asyncio.wait_for(call, 10)
    assert pipe.ended.is_set()
    with pytest.raises(BrowserEnded):
        await pipe.call("B.b")
    pipe.close()
    os.close(read)
