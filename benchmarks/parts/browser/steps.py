"""The driver at work: acts a second, what a page costs, and how long a crash or a way back takes."""

import asyncio
import os
import signal
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from benchmarks.parts.browser.peers import TASKS
from benchmarks.parts.concurrency import run_together
from benchmarks.parts.figures import percentile, print_progress
from protocol.actions.types import Action, Click, PressKeys
from vm_bridge.browser import Session
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.isolation.resource_usage import measure_usage
from vm_bridge.machine import Machine
from vm_bridge.suites.miniwob import MiniWob
from vm_bridge.suites.registry import WEB_SUITES

PAGES = (1, 4, 16)
SECONDS = 8.0
SCREEN, REACH = (1280, 720), (160, 210)
TIMES, ACTS = 7, 5
GAME = "2048"
CRASH_SECONDS = 60.0
"""Longest until a killed browser is replaced."""


async def measure(folder: Path) -> dict[str, object]:
    """Over as many browser processes as there are processors."""
    rates, resets, memory = {}, list[float](), 0.0
    for pages in PAGES:
        async with machines(folder / str(pages), pages) as sandboxes:
            rates[str(pages)] = round(await _measure_rate(sandboxes, resets), 1)
            memory = await _memory(sandboxes)
        print_progress(f"{pages} pages: {rates[str(pages)]} steps a second, {memory} MB a page")
    return {
        "steps_per_s": max(rates.values()),
        "steps_per_s_at": rates,
        "reset_p50_ms": percentile(resets, 0.5) if resets else None,
        "rss_mb_per_page": memory,
        **await _measure_recovery(folder / "back"),
    }


@asynccontextmanager
async def machines(folder: Path, count: int) -> AsyncIterator[list[BrowserSandbox]]:
    """Machines of a host in this process."""
    host = BrowserHost(folder, WEB_SUITES, engines=os.cpu_count() or 1)
    try:
        made = [await host.create(IMAGE) for _ in range(count)]
        yield [sandbox for sandbox in made if isinstance(sandbox, BrowserSandbox)]
    finally:
        await host.close()


async def _measure_rate(sandboxes: Sequence[BrowserSandbox], resets: list[float]) -> float:
    """Steps a second of all together, the time of resets left out, as with the peers."""
    views = [sandbox.bind(1) for sandbox in sandboxes]
    names = [TASKS[number % len(TASKS)] for number in range(len(views))]
    await run_together(*(_reset(view, name, 0) for view, name in zip(views, names, strict=True)))
    until = time.monotonic() + SECONDS
    told = await run_together(
        *(_click_until(view, name, until, Random(7), resets) for view, name in zip(views, names, strict=True))
    )
    return sum(steps / spent for steps, spent in told)


async def _click_until(view: Machine, name: str, until: float, rng: Random, resets: list[float]) -> tuple[int, float]:
    steps, spent, seed = 0, 0.0, 0
    while time.monotonic() < until or not steps:
        began = time.monotonic()
        done = await _act(view, Click(x=rng.randrange(REACH[0]), y=rng.randrange(REACH[1])))
        steps, spent = steps + 1, spent + time.monotonic() - began
        if done:
            seed, began = seed + 1, time.monotonic()
            await _reset(view, name, seed)
            resets.append(1000 * (time.monotonic() - began))
    return steps, spent


async def _act(view: Machine, action: Action) -> bool:
    """Act, and fetch the picture as a policy would; whether the task has ended."""
    seen = (await view.perform(uuid.uuid4().hex, action)).after
    assert seen.screenshot is not None, "a browser has a picture"
    assert (await view.blob(seen.screenshot)).startswith(b"\xff\xd8"), "it is a JPEG"
    return seen.page is not None and seen.page.done


async def _reset(view: Machine, name: str, seed: int) -> None:
    await view.prepare(MiniWob().make(name, seed=seed, size=SCREEN))


async def _memory(sandboxes: Sequence[BrowserSandbox]) -> float:
    """Proportional set size of all browser processes, by page (MB)."""
    pids = {await sandbox.browser.read(1, _process) for sandbox in sandboxes}
    costs = [await asyncio.to_thread(measure_usage, pid) for pid in pids]
    return round(sum(cost.pss for cost in costs) / len(sandboxes) / 1e6, 1)


async def _process(session: Session) -> int:
    """Of a browser that answers."""
    await session.evaluate("0", world="own")
    return session.engine.pid


async def _measure_recovery(folder: Path) -> dict[str, float]:
    """A game with a few moves made: its browser killed, and an earlier state asked for."""
    async with machines(folder, 1) as (sandbox,):
        view = sandbox.bind(1)
        await view.prepare(next(task for task in WEB_SUITES["games"].tasks if task.name == GAME))
        crashes = [await _time_crash_recovery(sandbox, view) for _ in range(TIMES)]
        restores = [await _time_restore(view) for _ in range(TIMES)]
    figures = {
        "crash_to_restored_p50_ms": percentile(crashes, 0.5),
        "checkpoint_restore_p50_ms": percentile(restores, 0.5),
    }
    print_progress(str(figures))
    return figures


async def _play_moves(view: Machine) -> None:
    for number in range(ACTS):
        await _act(view, PressKeys(keys=(("left", "up", "right", "down")[number % 4],)))


async def _time_crash_recovery(sandbox: BrowserSandbox, view: Machine) -> float:
    """From the kill until the same picture is shown again."""
    if (await view.snapshot()).acts < ACTS:
        await _play_moves(view)
    before = (await view.observe()).screenshot
    pid = await sandbox.browser.read(1, _process)
    began = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(CRASH_SECONDS):
        while await sandbox.browser.read(1, _process) == pid:
            continue
    after = (await view.observe()).screenshot
    took = 1000 * (time.monotonic() - began)
    assert after == before, "the episode came out differently"
    return took


async def _time_restore(view: Machine) -> float:
    """Back over a few moves."""
    kept, before = await view.snapshot(), (await view.observe()).screenshot
    await _play_moves(view)
    began = time.monotonic()
    after = await view.restore(kept)
    assert after.screenshot == before, "the episode came out differently"
    return 1000 * (time.monotonic() - began)
