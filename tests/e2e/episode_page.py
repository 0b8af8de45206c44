"""The desk as a person uses it: what a test reads on the page and which keys it presses."""

import math
import re
from urllib.parse import urlsplit

from playwright.async_api import Locator, Page, expect

from protocol.actions.types import Action, Click, DoubleClick, OpenApp, PressKeys, RightClick, TypeText
from protocol.messages.events import EpisodeState, Snapshot
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory

BOUND_MS = 40_000


def action_call(action: Action) -> str:
    """An action as the command line writes it."""
    match action:
        case Click() | DoubleClick() | RightClick():
            return f"{action.kind}({action.x}, {action.y})"
        case TypeText():
            return f'type_text("{action.text}")'.replace("\n", "\\n")
        case OpenApp():
            return f'open_app("{action.name}")'
        case PressKeys():
            return f'press_keys("{"+".join(action.keys)}")'
        case _:
            raise ValueError(f"no test writes {action.kind}")


async def open_queue(page: Page) -> None:
    """Go to the queue page; a page that is there stays as it is."""
    if urlsplit(page.url).path != "/queue":
        await page.goto("/queue")


class EpisodePage:
    """One open desk; every wait is bounded."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.cards = page.get_by_role("article")
        self.ended = page.get_by_role("region", name="End of the task")
        self.picture = page.get_by_role("application")
        self.banners = page.get_by_role("region", name="Live picture").get_by_role("status")
        self.thought = page.get_by_role("textbox", name="Thought")
        self.line = page.get_by_role("textbox", name="Action", exact=True)
        self.steps_shown = page.get_by_text(re.compile(r"^Step \d+ of \d+$"))

    async def take(self, pool: str) -> None:
        """Claim a task of this pool on the queue page, and wait until it can be worked on."""
        await open_queue(self.page)
        await self.page.get_by_role("button", name=f"Take one from {pool}", exact=True).click()
        await self.opened()

    async def opened(self) -> None:
        """Wait until the desktop is up and candidates are offered."""
        await self.page.wait_for_url("**/desk/**", timeout=BOUND_MS)
        await expect(self.cards.first).to_be_visible(timeout=BOUND_MS)

    async def rested(self) -> None:
        """Nothing is on its way: the act is done and the next proposals are there, so that no button changes."""
        await expect(self.page.locator("[aria-busy=true]")).to_have_count(0, timeout=BOUND_MS)
        await expect(self.page.get_by_role("article").first).to_be_visible(timeout=BOUND_MS)

    async def step(self) -> int:
        """The number of the step that comes next, from 1."""
        return int(re.findall(r"\d+", await self.steps_shown.inner_text())[0])

    async def stepped(self, before: int) -> None:
        """Wait until the step after `before` is due, and offered candidates for."""
        await expect(self.steps_shown).to_have_text(re.compile(rf"^Step {before + 1} of"), timeout=BOUND_MS)
        await expect(self.cards.first).to_be_visible(timeout=BOUND_MS)

    @property
    def episode(self) -> str:
        """The id of the episode that is open."""
        return self.page.url.rsplit("/", 1)[-1]

    async def state(self) -> EpisodeState:
        """What the server holds."""
        answer = await self.page.request.get(f"/api/episodes/{self.episode}")
        return Snapshot.model_validate_json(await answer.body()).state

    async def steps(self) -> tuple[Step, ...]:
        """What was recorded; that no step was lost or doubled is part of it."""
        answer = await self.page.request.get(f"/api/episodes/{self.episode}/trajectory")
        steps = Trajectory.model_validate_json(await answer.body()).steps
        assert [step.index for step in steps] == list(range(len(steps)))
        assert len({step.command_id for step in steps}) == len(steps)
        return steps

    async def place(self, x: int, y: int) -> tuple[float, float]:
        """Where on the page a pixel of the picture is; the picture must not be shown smaller than it is."""
        box = await self.picture.bounding_box()
        screen = (await self.state()).observation
        assert box is not None
        assert screen is not None
        across, down = box["width"] / screen.width, box["height"] / screen.height
        assert min(across, down) >= 1, "several pixels share a place"
        return math.ceil(box["x"] + x * across), math.ceil(box["y"] + y * down)

    def card(self, text: str) -> Locator:
        """The candidate of which a part, its thought or its action, reads exactly so."""
        return self.cards.filter(has=self.page.get_by_text(text, exact=True))

    async def accept(self, card: Locator) -> None:
        """Press the candidate's digit."""
        await self.page.keyboard.press(await card.get_by_role("button", name="Accept candidate").inner_text())

    async def override(self, action: Action, thought: str) -> None:
        """Write an action and a thought by keyboard alone, and do it."""
        await self.think(thought)
        await self.write("o", self.line, action_call(action))
        await expect(self.line).to_have_text(action_call(action))
        await self.page.keyboard.press("Enter")

    async def think(self, thought: str) -> None:
        """Write the thought, and go back to the picture."""
        await self.write("e", self.thought, thought)
        await self.page.keyboard.press("Escape")

    async def think_when_asked(self, thought: str) -> None:
        """The cursor is in an empty thought, and nothing is done before something is written."""
        await expect(self.thought).to_be_focused(timeout=BOUND_MS)
        await expect(self.thought).to_have_value("")
        before = await self.steps_shown.inner_text()
        await self.page.keyboard.press("Enter")
        await self.page.keyboard.insert_text(thought)
        await expect(self.thought).to_have_value(thought)
        await expect(self.steps_shown).to_have_text(before)
        await self.page.keyboard.press("Enter")

    async def write(self, key: str, field: Locator, text: str) -> None:
        """Go to a field by its key and replace what it holds."""
        await self.page.keyboard.press(key)
        await expect(field).to_be_focused(timeout=BOUND_MS)
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.insert_text(text)

    async def finish(self, *, answer: str = "", success: bool = True) -> None:
        """Say how it ended, in the dialog."""
        await self.page.keyboard.press("f")
        dialog = self.page.get_by_role("dialog")
        await dialog.get_by_role("radio", name="Success" if success else "Failure").check()
        await dialog.get_by_label("Answer").fill(answer)
        await dialog.get_by_role("button", name="Finish").click()

    async def leave(self, how: str = "Release", reason: str = "") -> None:
        """Give the task back, which frees its machine."""
        await self.page.keyboard.press("l")
        dialog = self.page.get_by_role("dialog")
        await dialog.get_by_role("radio", name=how).check()
        await dialog.get_by_label("Reason").fill(reason)
        await dialog.get_by_role("button", name=how).click()
        await expect(self.ended.get_by_text("Task left")).to_be_visible(timeout=BOUND_MS)


async def drag(episode_page: EpisodePage, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Drag with the left button from one pixel of the picture to another."""
    mouse = episode_page.page.mouse
    await mouse.move(*await episode_page.place(*start))
    await mouse.down()
    await mouse.move(*await episode_page.place(*end), steps=4)
    await mouse.up()
