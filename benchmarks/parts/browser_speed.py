"""How much faster than everybody's the time of a page can go."""

import time
from pathlib import Path

from benchmarks.parts.figures import say
from vm_bridge.browser import Engine, Session
from vm_bridge.suites.bundled import WEB_SUITES

GAME = "snake"
SECONDS = 4.0
SLICE_MS = 1000.0
FRAME_MS = 1000 / 60
EVERY = 10
"""Frames between two pictures."""


async def measure(folder: Path) -> dict[str, object]:
    """Game seconds a second, by clock; of a game that draws in every frame."""
    figures = {
        "frame_exact": await _speed(folder / "exact", exact=True),
        "script_clock": await _speed(folder / "script", exact=False),
        "with_screenshot": await _speed(folder / "pictures", exact=True, pictures=True),
    }
    say(str(figures))
    return {"virtual_speedup": figures}


async def _speed(folder: Path, *, exact: bool, pictures: bool = False) -> float:
    suite = WEB_SUITES["games"]
    task = next(task for task in suite.tasks if task.name == GAME)
    scene = suite.scene(task)
    engine = await Engine.start(folder, exact=exact)
    try:
        session = await engine.open(scene.site, size=scene.size, seed=1, start_time=scene.start_time)
        await session.go(scene.url)
        await _pass(session, pictures)
        began, from_ms = time.monotonic(), session.now_ms
        while time.monotonic() < began + SECONDS:
            await _pass(session, pictures)
        return round((session.now_ms - from_ms) / 1000 / (time.monotonic() - began), 1)
    finally:
        await engine.close()


async def _pass(session: Session, pictures: bool) -> None:
    if not pictures:
        return await session.advance(SLICE_MS)
    for _ in range(int(SLICE_MS / FRAME_MS / EVERY)):
        await session.advance(FRAME_MS * EVERY)
        await session.picture("jpeg", 90)
