"""An annotator's day: every task of the demo, by accepting and overriding, from sign-in to the trainer's reader."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, expect

from agent_backend.scripted_policy.__main__ import DESKTOP
from agent_backend.scripted_policy.script import Script, load_scripts
from annotation_app.demo.demo_data import FIRST_POOL_TASKS
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import Finish
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage
from trainer.data.trajectories import open_folder

SCRIPTS = load_scripts(DESKTOP)
POOLS = ("Desktop basics", "Desktop office")


async def solve(episode_page: EpisodePage, script: Script) -> int:
    """Do the right thing at every stage: accept it where it is offered, override where not. Counts overrides."""
    overrides = 0
    for stage in script.stages:
        line = next(line for line in stage.lines if not line.mistake)
        card = episode_page.card(line.thought)
        before = await episode_page.step()
        if isinstance(line.action, Finish):
            if await card.count():
                await episode_page.accept(card)
            else:
                await episode_page.finish(answer=line.action.answer)
            break
        if await card.count():
            await episode_page.accept(card)
        else:
            await episode_page.override(line.action, line.thought)
            overrides += 1
        await episode_page.stepped(before)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    return overrides


async def script_on(page: Page) -> Script:
    """The script of the task that is open."""
    text = await page.get_by_role("main").inner_text()
    return max((s for s in SCRIPTS if s.instruction in text), key=lambda s: len(s.instruction))


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_all_tasks_by_accepting_and_overriding(sign_in: SignIn, platform: TemporaryPlatform) -> None:
    page = await sign_in("annotator2")
    episode_page, done, overrides = EpisodePage(page), set[str](), 0
    while len(done) < len(SCRIPTS) - 1:
        await episode_page.take(POOLS[0] if len(done) < FIRST_POOL_TASKS else POOLS[1])
        script = await script_on(page)
        overrides += await solve(episode_page, script)
        await expect(episode_page.ended).to_contain_text("100", timeout=BOUND_MS)
        assert await episode_page.ended.get_by_role("alert").count() == 0, "verifier and annotator disagree"
        done.add(script.task)
    assert done == {script.task for script in SCRIPTS} - {"say_hello"}
    assert overrides > 0


@pytest.mark.slow
async def test_from_the_workspace_to_the_trainer(sign_in: SignIn, platform: TemporaryPlatform, tmp_path: Path) -> None:
    """Practice is for trying; a real task is accepted by a reviewer, exported by a researcher, read by the trainer."""
    reviewer = await sign_in("reviewer")
    found = await reviewer.request.get("/api/episodes?status=finished")
    episode = next(one for one in (await found.json())["items"] if one["pool"] in POOLS)
    await reviewer.goto(f"/episodes/{episode['id']}")
    await reviewer.get_by_role("button", name=re.compile("^Accept Shift")).click()
    await expect(reviewer.get_by_text("Accepted").first).to_be_visible(timeout=BOUND_MS)

    folder = tmp_path / "export"
    platform.manage("export_trajectories", str(folder))
    exported = {trajectory.id: trajectory for trajectory in open_folder(folder).trajectories()}
    trajectory = exported[episode["id"]]
    assert [step.index for step in trajectory.steps] == list(range(episode["steps"]))
    assert trajectory.verdict is not None
    assert trajectory.verdict.success


def test_the_platform_says_it_is_well(platform: TemporaryPlatform) -> None:
    answer = httpx.get(f"{platform.url}/api/health")
    assert answer.json()["ok"] is True
