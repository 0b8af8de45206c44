"""Pages that do harm: bounded, reported, and nobody else's trouble."""

import pytest

from protocol.actions.types import Navigate, NavigateBack
from protocol.trajectory.observations import Observation
from tests.integration.browser.machine.conftest import Do
from tests.integration.browser.machine.pages import GO, page_of, task
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.machine import Machine

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOST_PAGES = 40
"""More than any page may open."""


def event_kinds(seen: Observation) -> set[str]:
    """The kinds of events an observation tells of."""
    return {event.kind for event in page_of(seen).events}


async def test_a_page_that_never_settles_is_not_waited_for_long(machine: Machine, do: Do) -> None:
    began = page_of(await machine.prepare(task("never"))).time_ms
    done = await do(machine, GO)
    assert done.error is None
    assert page_of(done.after).time_ms - began < 5_000


@pytest.mark.timeout(300)
async def test_a_thousand_windows_are_a_few(machine: Machine, do: Do) -> None:
    await machine.prepare(task("windows"))
    done = await do(machine, GO)
    assert len(page_of(done.after).tabs) < MOST_PAGES
    # Where a thousand take too long, the page has hung, and is as it was before.
    assert event_kinds(done.after) & {"popup_refused", "restored"}


async def test_dialogs_are_answered_and_told(machine: Machine, do: Do) -> None:
    await machine.prepare(task("dialogs"))
    done = await do(machine, GO)
    assert done.error is None
    assert "dialog" in event_kinds(done.after)


async def test_who_leaves_a_page_is_not_held_back(machine: Machine, do: Do) -> None:
    await machine.prepare(task("leaving"))
    await do(machine, GO)
    assert (await do(machine, Navigate(url="/counter"))).after.url == "http://pages.test/counter"


async def test_a_download_is_refused_and_told(machine: Machine, do: Do) -> None:
    await machine.prepare(task("download"))
    assert "download" in event_kinds((await do(machine, GO)).after)


async def test_a_page_that_leads_away_leads_nowhere(machine: Machine, do: Do) -> None:
    await machine.prepare(task("away"))
    assert (await do(machine, GO)).error is None
    back = await do(machine, NavigateBack())
    assert back.after.url == "http://pages.test/away"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["hang", "hog"])
async def test_a_page_that_ends_itself_is_put_back_and_its_neighbours_go_on(
    host: BrowserHost, machine: Machine, do: Do, name: str
) -> None:
    neighbour = (await host.create("browser")).bind(1)
    await neighbour.prepare(task("counter"))
    beside = (await do(neighbour, GO)).after
    start = await machine.prepare(task(name))
    done = await do(machine, GO)
    assert done.error is not None
    assert done.error.code in ("page_hung", "page_lost", "browser_ended")
    assert "restored" in event_kinds(done.after)
    assert done.after.screenshot == start.screenshot
    assert (await neighbour.observe()).screenshot == beside.screenshot
    assert page_of((await do(neighbour, GO)).after).score == 2
