"""A task without a screen at the desk: commands, files, code and tools from the panels, and a step taken back."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import CallTool, ReadFile, RunCode, RunCommand, TypeTerminal, UploadFile, WriteFile
from tests.e2e.completion import list_completions
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, open_queue
from tests.e2e.test_pages import assert_accessible, assert_no_scrolling
from trainer.data.trajectories import open_folder

POOL, TASK = "Tools drill", "terminal/change_port"
START_MS = 90_000
"""Kernels and tool servers start on first use."""
PHOTO = bytes(range(256)) * 16
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Panels:
    """The desk's panels as a person uses them."""

    def __init__(self, episode_page: EpisodePage) -> None:
        self.episode_page, self.page = episode_page, episode_page.page
        self.folder = self.page.get_by_role("list", name="Entries of the folder")

    async def open(self, key: str, name: str) -> None:
        """Go to a panel by its key, from wherever the cursor is."""
        await self.page.keyboard.press("Escape")
        await self.page.keyboard.press(key)
        await expect(self.page.get_by_role("tab", name=re.compile(f"^{name}"))).to_have_attribute(
            "aria-selected", "true"
        )

    async def line(self, field: str, text: str) -> None:
        """Write into a line of the open panel."""
        line = self.page.get_by_role("textbox", name=field)
        await expect(line).to_be_focused(timeout=BOUND_MS)
        await line.fill(text)
        await self.page.keyboard.press("Enter")

    async def because(self, thought: str, *, cut: bool = False, bound: float = START_MS) -> None:
        """Say why, where the cursor has gone by itself, and wait for what comes of it, or cut it short."""
        before = await self.episode_page.step()
        await expect(self.episode_page.thought).to_be_focused(timeout=BOUND_MS)
        await expect(self.episode_page.thought).to_have_value("")  # a candidate's belongs to what the candidate does
        await self.page.keyboard.insert_text(thought)
        await self.page.keyboard.press("Enter")
        if cut:
            await self.page.get_by_role("button", name=re.compile("^Cut short")).click(timeout=BOUND_MS)
        await expect(self.episode_page.steps_shown).to_have_text(re.compile(rf"^Step {before + 1} of"), timeout=bound)
        await expect(self.episode_page.cards.first).to_be_visible(timeout=BOUND_MS)

    async def write(self, editor: Locator, text: str) -> None:
        """Replace what an editor holds."""
        await editor.click()
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.insert_text(text)


async def take(episode_page: EpisodePage) -> None:
    await open_queue(episode_page.page)
    await episode_page.page.get_by_role("button", name=f"Take one from {POOL}", exact=True).click()
    await expect(episode_page.cards.first).to_be_visible(timeout=START_MS)


@pytest.fixture
def pool(platform: TemporaryPlatform) -> None:
    """A pool of copies of the task."""
    platform.manage("shell", "-c", f"from tests.e2e.drills import drills_load; drills_load({(POOL, TASK)!r})")


async def test_a_task_is_done_from_the_panels(
    sign_in: SignIn, platform: TemporaryPlatform, pool: None, tmp_path: Path
) -> None:
    episode_page = EpisodePage(await sign_in("annotator"))
    page, panels = episode_page.page, Panels(episode_page)
    await take(episode_page)

    before = await episode_page.step()
    await episode_page.accept(episode_page.cards.filter(has_text="Read the file settings.ini"))
    await episode_page.stepped(before)
    text = page.get_by_role("textbox", name="Text of settings.ini")
    await expect(text).to_contain_text("port = 8080", timeout=BOUND_MS)

    await panels.open("s", "Terminal")
    await page.get_by_text("Commands", exact=True).click()
    await panels.open("s", "Terminal")
    command = page.get_by_role("textbox", name="Command to run")
    await expect(command).to_be_focused(timeout=BOUND_MS)
    await list_completions(command, "ca")
    await page.keyboard.press("ArrowDown")
    await assert_accessible(page, "list of completions")
    await command.fill("rm sett")
    await page.keyboard.press("Tab")
    await expect(command).to_have_value("rm settings.ini", timeout=BOUND_MS)
    await page.keyboard.type("; ls")
    await page.keyboard.press("Enter")
    await panels.because("I clear the way.")
    await page.keyboard.press("Escape")
    await page.keyboard.press("u")
    await expect(episode_page.steps_shown).to_have_text(re.compile(r"^Step 2 of"), timeout=START_MS)
    assert [step.undone for step in (await episode_page.state()).steps] == [False, True]
    await expect(page.get_by_role("button", name=re.compile(r"^Step 2: .*Undone$"))).to_be_visible()

    await panels.open("b", "Files")
    await expect(panels.folder).to_contain_text("settings.ini", timeout=BOUND_MS)
    seen = (await episode_page.steps())[0].after
    assert seen is not None
    assert seen.text is not None
    await panels.write(text, seen.text.replace("8080", "9090"))
    await page.keyboard.press("ControlOrMeta+s")
    await panels.because("Only the server's port is 8080.")

    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Upload").click()
    await (await chooser.value).set_files({"name": "photo.png", "mimeType": "image/png", "buffer": PHOTO})
    await panels.because("It goes along.")
    await expect(panels.folder).to_contain_text("photo.png", timeout=BOUND_MS)

    await panels.open("j", "Notebook")
    await page.keyboard.insert_text("len(open('photo.png', 'rb').read())")
    await page.keyboard.press("Shift+Enter")
    await panels.because("I count what came in.")
    await expect(page.get_by_role("region", name="Cell 1")).to_contain_text(str(len(PHOTO)), timeout=BOUND_MS)

    await panels.open("w", "Tools")
    await panels.line("Find a tool", "notes.add")
    await page.get_by_label("title").fill("Port")
    await page.get_by_label("text").fill("It is 9090 now.")
    await page.get_by_role("button", name="Call", exact=True).click()
    await panels.because("I keep a note of it.")

    await panels.open("s", "Terminal")
    await page.get_by_text("main", exact=True).click()
    await panels.open("s", "Terminal")
    await panels.line("Line for the session main", "head -3 settings.ini")
    await panels.because("I look once more.")
    shown = page.get_by_role("group", name="Screen of the session main")
    await expect(shown).to_contain_text("port = 9090")

    await page.get_by_role("switch", name="Raw keys").check()
    await expect(episode_page.thought).to_be_focused(timeout=BOUND_MS)
    await page.keyboard.insert_text("Keys go straight to it.")
    await shown.click()
    done = len(await episode_page.steps())
    await page.keyboard.type("echo key by key")
    await page.keyboard.press("Enter")
    await expect(shown).to_contain_text(re.compile("key by key.*key by key", re.DOTALL), timeout=START_MS)
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("textbox", name="Line for the session main")).to_be_visible()
    typed = (await episode_page.steps())[done:]
    assert "".join(step.action.text for step in typed if isinstance(step.action, TypeTerminal)) == "echo key by key\r"
    await page.get_by_role("button", name=re.compile("^Clear")).click()

    await page.get_by_text("Commands", exact=True).click()
    await panels.open("s", "Terminal")
    await panels.line("Command to run", "sleep 600")
    await panels.because("Nobody waits for this.", cut=True)
    last = (await episode_page.steps())[-1]
    assert last.error is not None
    assert last.error.code == "cut_short"
    await assert_no_scrolling(page)
    await assert_accessible(page, "desk without a screen")

    await page.keyboard.press("Escape")
    await episode_page.finish()
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    await expect(episode_page.ended).to_contain_text("100", timeout=BOUND_MS)

    reviewer = await sign_in("reviewer", f"/episodes/{episode_page.episode}")
    accept = reviewer.get_by_role("button", name=re.compile("^Accept Shift"))
    await accept.click()
    await expect(accept).to_have_count(0, timeout=BOUND_MS)
    platform.manage("export_trajectories", str(tmp_path / "standing"))
    exported = {one.id: one for one in open_folder(tmp_path / "standing").trajectories()}[episode_page.episode]
    kinds = [type(step.action) for step in exported.steps]
    assert kinds[:5] == [ReadFile, WriteFile, UploadFile, RunCode, CallTool]
    assert set(kinds[5:-1]) == {TypeTerminal}
    assert kinds[-1] is RunCommand
    assert [step.index for step in exported.steps] == list(range(len(kinds)))
    assert exported.verdict is not None
    assert exported.verdict.success
    platform.manage("export_trajectories", str(tmp_path / "whole"), "--undone")
    whole = {one.id: one for one in open_folder(tmp_path / "whole").trajectories()}[episode_page.episode]
    assert isinstance(whole.steps[1].action, RunCommand)
    assert [step.index for step in whole.steps if step.undone] == [1]


async def test_what_a_program_serves_is_seen(sign_in: SignIn, pool: None) -> None:
    episode_page = EpisodePage(await sign_in("annotator"))
    page, panels = episode_page.page, Panels(episode_page)
    await take(episode_page)
    await panels.open("s", "Terminal")
    await panels.line("Line for the session main", "python3 -m http.server 8000 --bind 127.0.0.1")
    await panels.because("I serve the home folder.")
    await panels.open("z", "Preview")
    await page.get_by_role("button", name="Open", exact=True).click()
    shown = page.frame_locator("iframe")
    await expect(shown.get_by_role("link", name="settings.ini")).to_be_visible(timeout=BOUND_MS)
    await assert_no_scrolling(page)
    await page.keyboard.press("Escape")
    await episode_page.leave()
