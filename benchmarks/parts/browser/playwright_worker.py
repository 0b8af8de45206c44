"""Plain Playwright at work on MiniWoB++ in a process of its own: a click, then a JPEG screenshot, waiting for nothing.

Run by `peers.py`; arguments and output are those of `browsergym_worker.py`.
"""

import json
import random
import sys
import time

from playwright.sync_api import Page, sync_playwright

SHELL = "/usr/bin/chromium-headless-shell"
FLAGS = ["--no-sandbox", "--disable-gpu"]
REACH = (160, 210)
BEGIN = "seed => { Math.seedrandom(seed); core.EPISODE_MAX_TIME = 1e6; core.startEpisodeReal(); }"


def main(address: str, task: str, seconds: float) -> None:
    address = f"{address}/miniwob/{task}.html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=SHELL, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        _reset(page, address, 0)
        _step(page, 5, 5)
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(_play(page, address, seconds)))
        browser.close()


def _play(page: Page, address: str, seconds: float) -> dict[str, object]:
    rng, steps, spent, seed = random.Random(7), 0, 0.0, 0
    resets: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        _step(page, rng.randrange(REACH[0]), rng.randrange(REACH[1]))
        steps, spent = steps + 1, spent + time.monotonic() - began
        if page.evaluate("WOB_DONE_GLOBAL"):
            seed, began = seed + 1, time.monotonic()
            _reset(page, address, seed)
            resets.append(1000 * (time.monotonic() - began))
    return {"steps": steps, "seconds": spent, "resets_ms": resets}


def _step(page: Page, x: int, y: int) -> None:
    page.mouse.click(x, y)
    page.screenshot(type="jpeg", quality=90)


def _reset(page: Page, address: str, seed: int) -> None:
    page.goto(address)
    page.evaluate(BEGIN, str(seed))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[4]))
