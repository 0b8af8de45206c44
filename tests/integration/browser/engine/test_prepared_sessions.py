"""The next session's beginning stands ready: it is taken, and nothing in a page tells whether it was."""

import pytest

import vm_bridge.browser.engine
from tests.integration.browser.engine.conftest import SIZE, START, Pages, hashed, open_site
from vm_bridge.browser import Engine

CLOCK_PAGE = """<p id=told></p><script>
  const told = [Date.now(), performance.now(), Math.random()];
  setTimeout(() => { told.push(performance.now()); document.getElementById("told").textContent = told.join(" ") }, 100);
</script>"""
SITE = Pages({"/": CLOCK_PAGE})


async def contexts(engine: Engine) -> set[str]:
    found = await engine.pipe.call("Target.getBrowserContexts")
    return set(found["browserContextIds"])


async def prepared(engine: Engine) -> str:
    """The context of the next session, once its page is there."""
    assert engine._preparing is not None
    made = await engine._preparing
    assert made.clock_page is not None
    assert made.clock_page.id
    return made.context


async def test_the_next_session_takes_it(exact: Engine) -> None:
    ready = await prepared(exact)
    session = await open_site(exact, SITE)
    assert session.context == ready


async def test_another_one_is_begun_once_a_session_was_opened(exact: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm_bridge.browser.engine, "PREPARE_AFTER_SECONDS", 0.0)
    first = await open_site(exact, SITE)
    following = await prepared(exact)
    assert following != first.context
    assert await contexts(exact) >= {first.context, following}


async def test_pages_are_the_same_with_it_and_without(exact: Engine) -> None:
    ready = await prepared(exact)
    sessions = [await open_site(exact, SITE), await open_site(exact, SITE)]  # the second comes too soon for another
    assert [session.context == ready for session in sessions] == [True, False]
    for session in sessions:
        await session.advance(500)
    told = [await session.evaluate("document.getElementById('told').textContent") for session in sessions]
    assert told[0].startswith(f"{START}000 ")
    assert told[0] == told[1]
    assert await hashed(sessions[0]) == await hashed(sessions[1])


async def test_one_that_has_ended_meanwhile_is_passed_over(exact: Engine) -> None:
    ready = await prepared(exact)
    await exact.pipe.call("Target.disposeBrowserContext", browserContextId=ready)
    session = await open_site(exact, SITE)
    assert session.context != ready
    assert await session.evaluate("1 + 1") == 2


async def test_a_browser_of_one_session_begins_no_other(exact: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm_bridge.browser.engine, "PREPARE_AFTER_SECONDS", 0.0)
    await prepared(exact)
    exact.alone = True
    session = await exact.open(SITE, size=SIZE, seed=1, start_time=START)
    await session.goto("http://site.test/")
    await session.advance(500)
    assert await contexts(exact) == {session.context}
