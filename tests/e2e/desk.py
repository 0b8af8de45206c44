"""The desk as a person uses it: what a test reads on the page and which keys it presses."""

import re

from playwright.async_api import Locator, Page, expect

from vocabulary.actions import Action, Click, DoubleClick, PressKeys, RightClick, TypeText

BOUND_MS = 20_000


def call_of(action: Action) -> str:
    """An action as the command line writes it."""
    match action:
        case Click() | DoubleClick() | RightClick():
            return f"{action.kind}({action.x}, {action.y})"
        case TypeText():
            return f'type_text("{action.text}")'.replace("\n", "\\n")
        case PressKeys():
            return f'press_keys("{"+".join(action.keys)}")'
        case _:
            raise ValueError(f"no test writes {action.kind}")


class Desk:
    """One open desk; every wait is bounded."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.cards = page.get_by_role("article")
        self.ended = page.get_by_role("region", name="End of the task")
        self.steps_shown = page.get_by_text(re.compile(r"^Step \d+ of \d+$"))

    async def opened(self) -> None:
        """Wait until the desktop is up and candidates are offered."""
        await self.page.wait_for_url("**/desk/**", timeout=BOUND_MS)
        await expect(self.cards.first).to_be_visible(timeout=BOUND_MS)

    async def step(self) -> int:
        """The number of the step that comes next, from 1."""
        return int(re.findall(r"\d+", await self.steps_shown.inner_text())[0])

    async def stepped(self, before: int) -> None:
        """Wait until the step after `before` is due, and offered candidates for."""
        await expect(self.steps_shown).to_have_text(re.compile(rf"^Step {before + 1} of"), timeout=BOUND_MS)
        await expect(self.cards.first).to_be_visible(timeout=BOUND_MS)

    def card(self, grammar: str) -> Locator:
        """The candidate whose action reads exactly so in the model's own grammar."""
        return self.cards.filter(has=self.page.get_by_text(grammar, exact=True))

    async def accept(self, card: Locator) -> None:
        """Press the candidate's digit."""
        await self.page.keyboard.press(await card.get_by_role("button", name="Accept candidate").inner_text())

    async def override(self, action: Action, thought: str) -> None:
        """Write an action and a thought by keyboard alone, and do it."""
        await self._write("e", self.page.get_by_role("textbox", name="Thought"), thought)
        await self.page.keyboard.press("Escape")
        line = self.page.get_by_role("textbox", name="Action", exact=True)
        await self._write("o", line, call_of(action))
        await expect(line).to_have_text(call_of(action))
        await self.page.keyboard.press("Enter")

    async def _write(self, key: str, field: Locator, text: str) -> None:
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
