"""MiniWoB++ over a real bridge: leased, prepared and solved by acts of every kind, and every other task of it loads."""

import itertools
import json
import re
from calendar import month_name
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import Action, Click, Drag, Point, Press, PressKeys, Release, Scroll, TripleClick, TypeText
from protocol.trajectory.observations import BrowserPage
from tests.integration.bridge.conftest import SECRET, RunningBridge
from vm_bridge.api.client import BridgeClient
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.machine import Lease, Machine
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites.miniwob import MiniWob
from vm_bridge.suites.miniwob.clicker import SCRIPTED_PAGES

SUITE = MiniWob()
NAMES = [task.name or "" for task in SUITE.tasks]
PARTS = 4
"""In how many tests it does, and all other tasks are loaded."""


class Watched(BrowserHost):
    """Its machines can be asked where something is on their page."""

    def __init__(self, data: Path) -> None:
        super().__init__(data, {"miniwob": SUITE})
        self.made: dict[str, BrowserSandbox] = {}

    async def create(self, image: str) -> Sandbox:
        made = await super().create(image)
        assert isinstance(made, BrowserSandbox)
        self.made[made.id] = made
        return made


class PageActor:
    """Acts on a leased machine as everybody does, over the bridge; only where to aim it asks the page itself."""

    def __init__(self, machine: Machine, lease: Lease, sandbox: BrowserSandbox) -> None:
        self._machine, self._lease, self._sandbox = machine, lease, sandbox
        self._commands = itertools.count()
        self.said = ""
        self.page: BrowserPage | None = None

    async def begin(self, name: str, seed: int) -> None:
        seen = await self._machine.prepare(SUITE.make(name, seed=seed))
        assert seen.screenshot is not None
        self.page = seen.page
        self.said = str(await self.ask("document.getElementById('query').textContent.replace(/\\s+/g, ' ').trim()"))

    async def ask(self, script: str) -> Any:
        return await self._sandbox.browser.read(self._lease.fencing_token, lambda session: session.evaluate(script))

    async def point(self, element: str, across: float = 0.5, down: float = 0.5) -> Point:
        x, y = await self.ask(
            f"(() => {{ const box = ({element}).getBoundingClientRect();"
            f" return [box.x + box.width * {across}, box.y + box.height * {down}].map(Math.round); }})()"
        )
        return Point(x=x, y=y)

    async def do(self, action: Action) -> None:
        done = await self._machine.perform(f"{next(self._commands)}-{self._lease.fencing_token}", action)
        assert done.error is None, done.error
        self.page = done.after.page

    async def click(self, element: str, across: float = 0.5, down: float = 0.5) -> None:
        point = await self.point(element, across, down)
        await self.do(Click(x=point.x, y=point.y))

    async def submit(self) -> None:
        await self.click("document.querySelector('#area button')")

    async def advised(self) -> None:
        advice = await self._machine.suggest_expert_action()
        assert advice is not None, "the script knows no way on"
        await self.do(advice.action)


def one(selector: str, text: str = "") -> str:
    """The element of a selector; with a text, the one that says just this."""
    all_of = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return f"{all_of}.find((e) => e.textContent.trim() === {json.dumps(text)})" if text else f"{all_of}[0]"


async def drag_box(actor: PageActor) -> None:
    await actor.do(Drag(start=await actor.point(one("#draggableSmall")), end=await actor.point(one("#draggableLarge"))))
    await actor.submit()


async def choose_list(actor: PageActor) -> None:
    wanted = actor.said.removeprefix("Select ").removesuffix(" from the list and click Submit.")
    await actor.do(PressKeys(keys=("tab",)))
    await actor.do(TypeText(text=wanted))
    await actor.submit()


async def scroll_list(actor: PageActor) -> None:
    wanted = actor.said.removeprefix("Select ").removesuffix(" from the scroll list and click Submit.")
    for name in wanted.split(", "):
        await actor.do(Scroll(point=await actor.point(one("#options")), direction="up", amount=10))
        option, box = one("#options option", name), one("#options")
        while (await actor.point(option)).y > (await actor.point(box, down=1)).y:
            await actor.do(Scroll(point=await actor.point(one("#options")), direction="down", amount=1))
        await actor.do(Press(key="ctrl"))
        await actor.click(option, across=0.3)
        await actor.do(Release(key="ctrl"))
    await actor.submit()


async def enter_date(actor: PageActor) -> None:
    found = re.search(r"\d\d/\d\d/\d{4}", actor.said)
    assert found
    await actor.click(one("#tt"), across=0.1)
    await actor.do(TypeText(text=found[0].replace("/", "")))
    await actor.submit()


async def choose_date(actor: PageActor) -> None:
    found = re.search(r"(\d\d)/(\d\d)/(\d{4})", actor.said)
    assert found
    month, day, year = map(int, found.groups())
    await actor.click(one("#datepicker"))
    for _ in range(12):
        shown = await actor.ask("document.querySelector('.ui-datepicker-title').textContent")
        if shown.split() == [month_name[month], str(year)]:
            break
        await actor.click(one(".ui-datepicker-prev"))
    await actor.click(one(".ui-datepicker-calendar a", str(day)))
    await actor.submit()


async def spinner(actor: PageActor) -> None:
    found = re.search(r"-?\d+", actor.said)
    assert found
    way = ".ui-spinner-up" if int(found[0]) > 0 else ".ui-spinner-down"
    for _ in range(abs(int(found[0]))):
        await actor.click(one(way))
    await actor.submit()


async def slider(actor: PageActor) -> None:
    found = re.search(r"-?\d+", actor.said)
    assert found
    await actor.click(one(".ui-slider-handle"))
    away = int(found[0]) - int(await actor.ask("document.getElementById('val').textContent"))
    for _ in range(abs(away)):
        await actor.do(PressKeys(keys=("right" if away > 0 else "left",)))
    await actor.submit()


async def grid(actor: PageActor) -> None:
    found = re.search(r"\(.*\)", actor.said)
    assert found
    await actor.click(f"document.getElementById({json.dumps(found[0])})")


async def copy_paste(actor: PageActor) -> None:
    await actor.click(one("#to-copy"))
    await actor.do(PressKeys(keys=("ctrl", "a")))
    await actor.do(PressKeys(keys=("ctrl", "c")))
    await actor.click(one("#answer-input"))
    await actor.do(PressKeys(keys=("ctrl", "v")))
    await actor.click(one("#subbtn"))


async def highlight(actor: PageActor) -> None:
    point = await actor.point(one("#area > div"), down=0.2)
    await actor.do(TripleClick(x=point.x, y=point.y))
    await actor.submit()


async def delete_mail(actor: PageActor) -> None:
    found = re.search(r"by (\w+)", actor.said)
    assert found
    thread = f"({one('.email-thread .email-sender', found[1])}).closest('.email-thread')"
    list_ = await actor.point(one("#area"), down=0.7)
    for _ in range(20):
        if (await actor.point(thread)).y < 200:
            break
        await actor.do(Scroll(point=list_, direction="down", amount=1))
    await actor.click(f"{thread}.querySelector('.trash')")


BY_PAGE_ACTOR: dict[str, tuple[int, Callable[[PageActor], Awaitable[None]]]] = {
    "drag-box": (1, drag_box),
    "choose-list": (1, choose_list),
    "click-scroll-list": (1, scroll_list),
    "enter-date": (1, enter_date),
    "choose-date": (1, choose_date),
    "use-spinner": (1, spinner),
    "use-slider": (1, slider),
    "grid-coordinate": (1, grid),
    "copy-paste": (1, copy_paste),
    "highlight-text": (1, highlight),
    "email-inbox-delete": (1, delete_mail),
}
"""What takes more than clicks and words: the seed, and how it is done."""
OTHERS = [name for name in NAMES if name not in {*SCRIPTED_PAGES, *BY_PAGE_ACTOR}]
"""The tasks that no test here solves."""


@pytest.fixture
async def fake_host(tmp_path: Path) -> AsyncIterator[Watched]:
    """Real browsers in place of the fakes."""
    host = Watched(tmp_path / "browsers")
    yield host
    await host.close()


@asynccontextmanager
async def leased(bridge: RunningBridge, host: Watched) -> AsyncIterator[PageActor]:
    async with BridgeClient(bridge.url, SECRET) as client:
        lease = await client.allocate(image=IMAGE, holder="tests", user="ada", session="episode-1", ttl=600, wait=60)
        try:
            yield PageActor(client.machine(lease), lease, host.made[lease.machine_id])
        finally:
            await client.release(lease)


def ended(actor: PageActor) -> tuple[bool, bool | None, float | None]:
    assert actor.page is not None
    return actor.page.done, actor.page.success, actor.page.score


@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", [list(BY_PAGE_ACTOR)[part::3] for part in range(3)], ids=",".join)
async def test_tasks_of_every_kind_are_solved_by_acts(
    bridge: RunningBridge, fake_host: Watched, names: list[str]
) -> None:
    async with leased(bridge, fake_host) as actor:
        for name in names:
            seed, play = BY_PAGE_ACTOR[name]
            await actor.begin(name, seed)
            assert ended(actor)[0] is False
            await play(actor)
            assert ended(actor) == (True, True, 1), (name, actor.said)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
async def test_the_script_solves_its_tasks_over_the_bridge(
    bridge: RunningBridge, fake_host: Watched, part: int
) -> None:
    async with leased(bridge, fake_host) as actor:
        for name in SCRIPTED_PAGES[part::PARTS]:
            await actor.begin(name, 2)
            assert ended(actor)[0] is False, name
            for _ in range(30):
                await actor.advised()
                if ended(actor)[0]:
                    break
            done, success, score = ended(actor)
            assert (done, success) == (True, True), (name, score, actor.said)


def test_sixty_tasks_and_more_are_solved() -> None:
    assert set(SCRIPTED_PAGES) | set(BY_PAGE_ACTOR) <= set(NAMES)
    assert len({*SCRIPTED_PAGES, *BY_PAGE_ACTOR}) >= 60


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_other_task_loads_and_takes_an_act(bridge: RunningBridge, fake_host: Watched, part: int) -> None:
    async with leased(bridge, fake_host) as actor:
        for name in OTHERS[part::PARTS]:
            await actor.begin(name, 0)
            assert (actor.page is not None, ended(actor)[0]) == (True, False), name
            await actor.do(Click(x=330, y=210))
            assert ended(actor)[2] is not None, name
