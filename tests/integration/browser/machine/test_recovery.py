"""What outlives a browser, and what outlives a bridge."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest

from protocol.actions.types import Wait
from tests.integration.browser.machine.conftest import Do
from tests.integration.browser.machine.pages import GO, PagesSuite, page_of, task
from tests.waiting import eventually
from vm_bridge.errors import StaleLease
from vm_bridge.hosts.browser.host import BrowserHost, BrowserSandbox
from vm_bridge.machine import Machine

pytestmark = pytest.mark.asyncio(loop_scope="module")


def kill(sandbox: BrowserSandbox) -> None:
    """End the machine's browser as the kernel does when memory runs out."""
    assert sandbox.session is not None
    with contextlib.suppress(ProcessLookupError):  # it may have answered while it ended
        os.kill(sandbox.session.engine.pid, signal.SIGKILL)


async def test_an_episode_outlives_its_browser(sandbox: BrowserSandbox, machine: Machine, do: Do) -> None:
    await machine.prepare(task("moving"))
    await do(machine, Wait(seconds=1))
    before = (await do(machine, GO)).after
    lost = sandbox.session
    kill(sandbox)
    await eventually(lambda: sandbox.session is not lost and not sandbox.browser.busy, 60)
    after = await machine.observe()
    assert after.screenshot == before.screenshot
    assert "restored" in [event.kind for event in page_of(after).events]
    assert page_of((await do(machine, GO)).after).time_ms == page_of(before).time_ms + 100
    assert await sandbox.healthy()


async def test_an_act_whose_browser_ends_is_done_once(sandbox: BrowserSandbox, machine: Machine, do: Do) -> None:
    await machine.prepare(task("counter"))
    await do(machine, GO)
    kill(sandbox)
    done = await do(machine, GO)
    assert done.error is None
    assert page_of(done.after).score == 2


async def test_a_verdict_whose_browser_ends_is_no_failure_of_the_verifier(
    sandbox: BrowserSandbox, machine: Machine, do: Do
) -> None:
    await machine.prepare(task("counter"))
    await do(machine, GO)
    expected = await machine.evaluate()
    for _ in range(3):
        kill(sandbox)
        assert await machine.evaluate() == expected
        assert page_of(await machine.observe()).score == 1


async def test_every_session_of_a_browser_comes_back(host: BrowserHost, do: Do) -> None:
    machines = []
    for clicks in (1, 2, 3):
        made = await host.create("browser")
        assert isinstance(made, BrowserSandbox)
        machine = made.bind(1)
        await machine.prepare(task("counter"))
        for _ in range(clicks):
            await do(machine, GO)
        machines.append((made, machine))
    kill(machines[0][0])
    for clicks, (_, machine) in enumerate(machines, 1):
        assert page_of(await machine.observe()).score == clicks


async def test_a_session_nobody_needs_is_given_up_and_made_again(
    sandbox: BrowserSandbox, machine: Machine, do: Do
) -> None:
    await machine.prepare(task("counter"))
    before = (await do(machine, GO)).after
    assert sandbox.browser.idle
    await sandbox.browser.release_idle_session()
    assert not sandbox.browser.idle
    assert await sandbox.healthy()
    assert (await machine.observe()).screenshot == before.screenshot


async def test_what_was_done_outlives_the_bridge(host: BrowserHost, tmp_path: Path, do: Do) -> None:
    made = await host.create("browser")
    machine = made.bind(7)
    await machine.prepare(task("counter"))
    start = await machine.snapshot()
    done = await machine.perform("command-kept", GO)
    left = tmp_path / "left"  # by a bridge that was killed: what is written, and no browser
    shutil.copytree(host.machines, left / "machines")
    later = BrowserHost(left, {"pages": PagesSuite()})
    try:
        (again,) = await later.adopt({made.id})
        with pytest.raises(StaleLease):
            await again.bind(6).observe()
        machine = again.bind(7)
        assert await machine.perform("command-kept", GO) == done
        assert (await machine.observe()).screenshot == done.after.screenshot
        assert page_of(await machine.restore(start)).score == 0
    finally:
        await later.close()


async def test_what_nobody_asks_for_is_not_kept(host: BrowserHost, tmp_path: Path) -> None:
    await host.create("browser")
    left = tmp_path / "left"
    shutil.copytree(host.machines, left / "machines")
    later = BrowserHost(left, {})
    assert await later.adopt(()) == []
    assert not os.listdir(left / "machines")
    await later.close()
