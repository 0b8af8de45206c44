"""What a researcher does with the demo: make a flywheel in the browser, annotate, have the pool refilled with what the
policy fails at, annotate that, watch a cycle, get its policy's help.

How often the bundled policy is right is measured by `bench nano`; here that what it proposes comes to the desk, is
learned from, and that what was learned proposes.
"""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from annotation_app.operations.runtime.temporary_platform import temporary_platform
from tests.e2e.conftest import Sessions, open_signed_in
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from tests.e2e.screenshots import take_screenshot
from tests.e2e.test_simulated import WITHIN, annotating, read_log

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

POOL, NAME = "Small screens", "mine"
EPISODES = 10
CYCLE_MS = 600_000
REFILLED_FIRST = (
    "from annotation_app.tasks.models import Task; Task.objects.filter(refills__isnull=False).update(position=-1)"
)
"""The queue begins with what the refill added."""
OFFERED = "sum(one.document.action is not None for one in Proposal.objects.filter(policy='nano 7'))"
OFFERED_BY_THE_FIRST = f"from annotation_app.episodes.models import Proposal; print({OFFERED})"


async def test_a_flywheel_made_in_the_browser_promotes_what_it_learned(browser: Browser, tmp_path: Path) -> None:
    sessions: Sessions = {}
    with temporary_platform(tmp_path / "p", nano=True) as whole:
        log = tmp_path / "log"
        program = annotating(whole, POOL, "--episodes", str(EPISODES), "--aim", "1", log=log)
        admin = await open_signed_in(browser, whole.url, sessions, "admin", "/flywheel")
        await expect(admin.get_by_role("button", name=f"Run a cycle of {POOL}")).to_be_visible(timeout=BOUND_MS)
        await make_flywheel(admin)
        await accept_what_is_not_worse(admin, whole.url)

        assert program.wait(timeout=WITHIN) == 0, log.read_text()
        done = read_log(log)
        assert [one["ended"] for one in done] == ["success"] * EPISODES, log.read_text()
        assert not any(one["shown"] for one in done), "candidates were there at every step"
        assert int(whole.manage("shell", "-v", "0", "-c", OFFERED_BY_THE_FIRST)) > 0

        kind = await refill(admin, whole.url)
        whole.manage("shell", "-c", REFILLED_FIRST)
        program = annotating(whole, POOL, "--episodes", "1", "--aim", "10", log=log)
        assert program.wait(timeout=WITHIN) == 0, log.read_text()
        assert [(one["task"], one["ended"]) for one in read_log(log)] == [(kind, "success")], log.read_text()

        await admin.goto(f"{whole.url}/flywheel")
        await admin.get_by_role("button", name=f"Run a cycle of {NAME}").click()
        row = admin.get_by_role("row").filter(has_text="Cycle 1")
        await expect(row.get_by_text(f"nano {NAME}-0001")).to_be_visible(timeout=CYCLE_MS)
        await expect(row.get_by_text(re.compile("^passed"))).to_be_visible()
        await admin.get_by_role("link", name="Cycle 1").click()
        await expect(admin.get_by_text(f"{EPISODES + 1} trajectories taken in")).to_be_visible(timeout=BOUND_MS)
        judged = re.compile(rf"Episodes: {EPISODES + 1}\. Proposals judged: \d+")
        await expect(admin.get_by_text(judged)).to_be_visible()
        await expect(admin.get_by_role("figure", name="Imitation: Loss over 2 updates")).to_be_visible()
        await take_screenshot(admin, "cycle")

        annotator = await open_signed_in(browser, whole.url, sessions, "annotator", "/queue")
        desk = EpisodePage(annotator)
        await desk.take(POOL)
        await expect(annotator.get_by_text(f"nano {NAME}-0001").first).to_be_visible(timeout=BOUND_MS)


async def accept_what_is_not_worse(page: Page, url: str) -> None:
    """Two updates gain nothing at so few tasks: have the gate let through what is not worse."""
    await page.goto(f"{url}/policies")
    await page.get_by_role("button", name=f"Set the gate of {POOL}").click()
    gate = page.get_by_role("dialog", name=f"What a report must show in {POOL}")
    await gate.get_by_role("combobox", name="Better than the active revision").select_option("none")
    await gate.get_by_role("button", name="Save").click()
    await expect(gate).to_have_count(0, timeout=BOUND_MS)


async def refill(page: Page, url: str) -> str:
    """Have one task of the kind added that the policy needs most; the name of that kind's task."""
    await page.goto(f"{url}/pools")
    await page.get_by_role("button", name=f"Refill of {POOL}").click()
    dialog = page.get_by_role("dialog", name=f"Refill of {POOL}")
    await dialog.get_by_role("textbox", name="Tasks a day").fill("1")
    await dialog.get_by_role("textbox", name="Waiting tasks of a kind").fill("1000")
    await dialog.get_by_role("textbox", name="Need").fill("0.3")
    await dialog.get_by_role("button", name="Save").click()
    await dialog.get_by_role("button", name="Add 1 task now").click()
    added = dialog.get_by_role("row").filter(has=page.get_by_role("cell", name="drills/"))
    await expect(added.last).to_have_text(re.compile(r"^drills/.*1100$"), timeout=BOUND_MS)
    text = await added.last.get_by_role("cell").first.inner_text()
    return text.removeprefix("drills/").partition(" level ")[0]


async def make_flywheel(page: Page) -> None:
    """Make one by the form, with the shortest training and gate, and tasks in order; the gate's tasks as JSON."""
    await page.get_by_role("button", name="New flywheel…").click()
    dialog = page.get_by_role("dialog", name="New flywheel")
    await expect(dialog.get_by_role("combobox", name="Pool", exact=True)).to_be_visible(timeout=BOUND_MS)
    await dialog.get_by_role("combobox", name="Pool", exact=True).select_option(POOL)
    await dialog.get_by_role("textbox", name="Name").fill(NAME)
    await dialog.get_by_role("textbox", name="Updates").fill("2")
    await dialog.get_by_role("checkbox", name="Give people the tasks that the policy needs most").uncheck()
    await dialog.get_by_text("JSON", exact=True).click()
    written = dialog.get_by_role("textbox", name="JSON")
    recipe = json.loads(await written.input_value())
    assert recipe["sft"]["updates"] == 2
    recipe["sft"]["settings"] = {"batch": 4, "ahead": 0, "shown": 1.0, "spelled": 0}
    recipe["trials"] |= {"tasks": ["press"], "seeds": 4}
    await written.fill(json.dumps(recipe))
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
