"""An episode of 500 steps, 318 of them commands, as the mean run of OSWorld 2.0: opened, gone through, begun again.

It is really done, on a desktop, so that its state can be come to once more.
"""

import json
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.rooms.first_pages import TIMER, open_page
from benchmarks.parts.streaming.annotator_page import FLAGS, SCRIPT, WAIT_MS
from benchmarks.parts.streaming.claims import claim, sign_in

STEPS, COMMANDS, BRANCH_STEP = 500, 318, 480
"""Steps in all, how many run a command, and the step before which the task is begun again."""
POOL = "Long episodes"
LOADS, NEXT_STEPS, JUMPS = 8, 60, 20
BRANCH_MS = 600_000
LOOK = Path(__file__).with_name("long_episode.js").read_text()
LOAD = f"""
from annotation_app.accounts.models import User
from annotation_app.demo.demo_data import TASKS, TASKS_FILE
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.services import pool_ensure, tasks_add
task = next(task for task in TASKS.validate_json(TASKS_FILE.read_bytes()) if task.name == "say_hello")
pool = pool_ensure(
    name={POOL!r}, members=[User.objects.get(username="annotator")], image="desktop", record=False,
    max_steps={2 * STEPS}, policy=PolicyRevision.objects.get(name="scripted"),
)
tasks_add(pool=pool, definitions=[task.model_copy(update={{"id": "long", "max_steps": {2 * STEPS}}})])
"""
BRANCH = """
from uuid import UUID
from annotation_app.accounts.models import User
from annotation_app.episodes.services import episode_branch
episode_branch(user=User.objects.get(username="admin"), episode_id=UUID({episode!r}), step={step})
"""
POINTED: tuple[dict[str, Any], ...] = (
    {"kind": "click", "x": 700, "y": 400},
    {"kind": "type_text", "text": "a"},
    {"kind": "press_keys", "keys": ["left"]},
    {"kind": "press_keys", "keys": ["end"]},
)


def measure(platform: TemporaryPlatform) -> dict[str, Any]:
    """Play it, look at it, and have it begun again."""
    platform.manage("shell", "-v", "0", "-c", LOAD)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        try:
            return _measure(browser, platform)
        finally:
            browser.close()


def _measure(browser: Browser, platform: TemporaryPlatform) -> dict[str, Any]:
    # The page's policy forbids the evaluation that waiting for a condition needs.
    context = browser.new_context(base_url=platform.url, viewport={"width": 1280, "height": 800}, bypass_csp=True)
    work, replay = context.new_page(), context.new_page()
    work.add_init_script(SCRIPT)
    work.add_init_script(LOOK)
    for script in (TIMER, LOOK):
        replay.add_init_script(script)
    sign_in(work, platform.url)
    episode = _play(work)
    address = f"/episodes/{episode}"
    opened = [open_page(replay, address) for _ in range(LOADS + 1)][1:]
    scrubbed = _scrub(replay)
    platform.manage("shell", "-v", "0", "-c", BRANCH.format(episode=episode, step=BRANCH_STEP - 1))
    work.goto("/queue")
    began = time.monotonic()
    claim(work, POOL, timeout=BRANCH_MS)
    branched = round((time.monotonic() - began) * 1_000, 1)
    print_progress(f"begun again at step {BRANCH_STEP} after {branched} ms")
    branch = json.loads(work.request.get(f"/api/episodes/{work.url.rsplit('/', 1)[-1]}").body())["state"]["branch_of"]
    print_progress(f"the branch was {branch['state']} {branch['reason']}")
    reached = branch["state"] == "reached"
    workspaces = [_open_workspace(work) for _ in range(LOADS)] if reached else []
    first_paint, scrub = percentile(opened, 0.95), percentile(scrubbed, 0.95)
    print_progress(f"opened in {first_paint} ms, gone through in {scrub} ms (p95)")
    context.close()
    return {
        "long_episode_steps": STEPS,
        "long_episode_first_paint_p95_ms": first_paint,
        "long_episode_desk_p95_ms": percentile(workspaces, 0.95) if workspaces else None,
        "long_episode_scrub_p50_ms": percentile(scrubbed, 0.5),
        "long_episode_scrub_p95_ms": scrub,
        "long_episode_branch_ms": branched,
        "long_episode_branch_reached": reached,
    }


def _play(page: Page) -> str:
    """Do all steps and finish; the episode's id."""
    claim(page, POOL)
    began = time.monotonic()
    for number in range(STEPS):
        is_command = (number + 1) * COMMANDS // STEPS > number * COMMANDS // STEPS
        action = {"kind": "run_command", "command": f"echo {number}"} if is_command else POINTED[number % len(POINTED)]
        done = page.evaluate("action => __bench.act(action, 'Measured.', false)", action)
        assert done["step"]["error"] is None, done["step"]["error"]
    print_progress(f"{STEPS} steps done in {time.monotonic() - began:.0f} s")
    page.keyboard.press("f")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Failure").check()
    dialog.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("Task finished")).to_be_visible(timeout=WAIT_MS)
    return page.url.rsplit("/", 1)[-1]


def _scrub(page: Page) -> list[float]:
    """Milliseconds from a key or a click on a tile to the step's picture: step by step, then far away."""
    took: list[float] = []

    def note() -> None:
        page.wait_for_function(f"__scrubs.length > {len(took)}", timeout=WAIT_MS)
        took.append(float(page.evaluate("__scrubs.at(-1)")))

    page.keyboard.press("Home")
    page.wait_for_function("__shown() === 1", timeout=WAIT_MS)
    page.evaluate("__scrubs.length = 0")
    for _ in range(NEXT_STEPS):
        page.keyboard.press("ArrowRight")
        note()
    for number in range(JUMPS):
        # Beyond what lies beside the tile that was shown before, and at last the one that is begun at.
        step = BRANCH_STEP if number == JUMPS - 1 else (number * 211 + 97) % STEPS + 1
        tile = page.get_by_role("button", name=f"Step {step}:")
        tile.scroll_into_view_if_needed()
        tile.click()
        note()
    return took


def _open_workspace(page: Page) -> float:
    """Milliseconds from opening the desk's address to its steps and candidates."""
    page.reload()
    page.wait_for_function("__deskShown() !== null", timeout=WAIT_MS)
    expect(page.locator("footer ol > li")).to_have_count(BRANCH_STEP - 1, timeout=WAIT_MS)
    return float(page.evaluate("__deskShown()"))
