"""What the wall of live sessions costs, and how soon it shows a picture: fifty people act at painted machines."""

import asyncio
import contextlib
import random
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, Page

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import print_progress
from benchmarks.parts.kills.episode_client import EpisodeClient
from benchmarks.parts.processes import cpu_seconds
from benchmarks.parts.rooms.first_pages import WAIT_MS, role_page

ACT_SECONDS = 10.0
"""Between two acts of one person."""
WARM_SECONDS, SECONDS, TURNS = 5.0, 15.0, 2
"""Processor time is counted over so many seconds with the wall open and as many without, in so many turns."""
OPENINGS = 5
START_SECONDS = 180.0
SIZE = 1280, 720
HEIGHT = 6_000
"""Of the browser's window (pixels): every session is in view."""
PICTURES = "[...document.querySelectorAll('main li img')].filter((one) => one.complete && one.naturalWidth > 0)"
TIMER = f"""
(() => {{
  window.__firstPicture = null;
  const look = () => {{
    if ({PICTURES}.length > 0) window.__firstPicture = performance.now();
    else requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}})();
"""


def measure_wall(
    browser: Browser, platform: TemporaryPlatform, reviewer: str, annotators: Sequence[str], pool: int
) -> dict[str, object]:
    """The wall with an episode of each annotator, all in view.

    `wall_cpu_share_50_sessions` is the processor time of the whole platform with the wall open, less that without,
    as a share of one core; the browser's is not counted.
    """
    with live_sessions(platform, annotators, pool):
        print_progress(f"{len(annotators)} sessions are live")
        first = []
        for _ in range(OPENINGS):
            with _wall(browser, platform, reviewer) as page:
                first.append(float(page.evaluate("__firstPicture")))
        open_shares, closed_shares = [], []
        for _ in range(TURNS):
            closed_shares.append(_cores(platform))
            with _wall(browser, platform, reviewer) as page:
                page.wait_for_function(f"{PICTURES}.length >= {len(annotators)}", timeout=WAIT_MS)
                open_shares.append(_cores(platform))
                shown = page.evaluate(f"{PICTURES}.length")
        print_progress(f"cores with the wall open {open_shares}, without {closed_shares}")
    return {
        "wall_cpu_share_50_sessions": round(statistics.mean(open_shares) - statistics.mean(closed_shares), 3),
        "wall_first_picture_ms": round(statistics.median(first)),
        "wall_sessions": len(annotators),
        "wall_pictures": shown,
    }


@contextlib.contextmanager
def live_sessions(platform: TemporaryPlatform, annotators: Sequence[str], pool: int) -> Iterator[None]:
    """An episode of each of these people, by their sessions; all run when the block begins, and each acts now and
    then until it ends. Raises TimeoutError."""
    ready, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_annotate(platform, annotators, pool, ready, over)))
    thread.start()
    try:
        deadline = time.monotonic() + START_SECONDS
        while not ready.wait(1):
            if not thread.is_alive() or time.monotonic() > deadline:
                raise TimeoutError(f"{len(annotators)} sessions did not start")
        yield
    finally:
        over.set()
        thread.join()


async def _annotate(
    platform: TemporaryPlatform, annotators: Sequence[str], pool: int, ready: threading.Event, over: threading.Event
) -> None:
    address, draw = urlsplit(platform.url).netloc, random.Random(5)
    claims = [await _claim(platform, session, pool) for session in annotators]
    clients = [
        EpisodeClient(episode, session, (address,), platform.url, random.Random(number))
        for number, (episode, session) in enumerate(zip(claims, annotators, strict=True))
    ]
    running = [asyncio.create_task(client.run()) for client in clients]
    try:
        while not over.is_set():
            for client in clients:
                if ready.is_set() and client.has_control and client.status == "running":
                    click = {"kind": "click", "x": draw.randrange(SIZE[0]), "y": draw.randrange(SIZE[1])}
                    client.send({"type": "act", "thought": "on", "action": click})
                await asyncio.sleep(ACT_SECONDS / len(clients) if ready.is_set() else 0)
            if not ready.is_set() and all(client.status == "running" and client.has_control for client in clients):
                ready.set()
            await asyncio.sleep(0.1)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _claim(platform: TemporaryPlatform, session: str, pool: int) -> str:
    """The episode of a task of this pool that somebody takes."""
    async with httpx.AsyncClient(
        base_url=f"{platform.url}/api/", cookies={"sessionid": session}, trust_env=False, timeout=START_SECONDS
    ) as client:
        token = (await client.get("session")).raise_for_status().json()["csrf"]
        headers = {"X-CSRFToken": token, "Origin": platform.url}
        answer = await client.post("queue/next", json={"pool_id": pool}, headers=headers)
        return str(answer.raise_for_status().json()["episode_id"])


@contextlib.contextmanager
def _wall(browser: Browser, platform: TemporaryPlatform, session: str) -> Iterator[Page]:
    """The wall, from its first picture on."""
    with role_page(browser, platform, session, TIMER, HEIGHT) as page:
        page.goto("/wall")
        page.wait_for_function("__firstPicture !== null", timeout=WAIT_MS)
        yield page


def _cores(platform: TemporaryPlatform) -> float:
    """Processor seconds of the platform a second, over a while."""
    time.sleep(WARM_SECONDS)
    before, began = cpu_seconds([platform.supervisor]), time.monotonic()
    time.sleep(SECONDS)
    return round((cpu_seconds([platform.supervisor]) - before) / (time.monotonic() - began), 3)
