"""MiniWoB++ as a suite: a task is one of its pages and a seed, and what judges it is the page's own reward."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.browser import ScriptFailed, Session, StaticSite
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.miniwob.clicker import suggest_action
from vm_bridge.suites.miniwob.pages import (
    BARE,
    HOST,
    checksum,
    minimum_size,
    page_paths,
    pages_folder,
    read_instructions,
)
from vm_bridge.suites.web.manifest import offered_sizes
from vm_bridge.suites.web_suite import Scene, TaskProgress

NAME = "miniwob"
EPISODE_MS = 1_000_000
"""The page's own limit, set far off because steps limit the attempt."""
READY_MS, POLL_MS = 20_000, 100
"""Maximum time for a page to become ready, in its own time, and the polling interval."""
MAX_SIDE = 4_000
STEPS = 30
FLIGHT_STEPS = 60
THRESHOLD = 0.7
"""From which reward on a task counts as solved where nearness is rewarded; elsewhere the whole reward is needed."""
DISTANCE_REWARD_TASKS = frozenset(
    {
        *("bisect-angle", "circle-center", "draw-circle", "draw-line", "find-midpoint", "right-angle"),
        *("use-colorwheel", "use-colorwheel-2"),
    }
)
LOADED_SCRIPT = "window.core !== undefined && core.cover_div !== null && document.readyState === 'complete'"
START_SCRIPT = "Math.seedrandom({seed}); core.EPISODE_MAX_TIME = {limit}; core.startEpisodeReal();"
READY_FLAG = "WOB_TASK_READY"
STATE_SCRIPT = "({done: WOB_DONE_GLOBAL, reward: WOB_RAW_REWARD_GLOBAL, why: WOB_REWARD_REASON})"
UTTERANCE_SCRIPT = "core.getUtterance()"


@dataclass(frozen=True, slots=True)
class Reward:
    """What the page says of the episode: `raw` lies between -1 and 1 and is no longer weighed by time."""

    done: bool
    raw: float
    why: str


class MiniWob:
    """Implements `WebSuite` over the pages of the package."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task with the seed 0."""
        return tuple(self.make(name) for name in page_paths())

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """A task as it is offered: of one level, in English. Raises UnknownTask, InvalidAction."""
        if name not in page_paths():
            raise UnknownTask(f"there is no task {name} in the suite {NAME}")
        if level != 1 or language != "en":
            raise InvalidAction("these pages have one level, and speak English")
        parameters: dict[str, JsonValue] = {}
        marks = [f"s{seed}"] if seed else []
        if size is not None:
            parameters["size"] = list(size)
            _size(parameters, size)
            marks += [f"{size[0]}x{size[1]}"] if size not in (minimum_size(name), BARE) else []
        return Task(
            id="-".join((f"{NAME}/{name}", *marks)),
            instruction=_instruction(name, seed),
            platform="browser",
            suite=NAME,
            name=name,
            seed=seed,
            parameters=parameters,
            max_steps=FLIGHT_STEPS if name.startswith("flight") else STEPS,
        )

    def sizes(self, name: str) -> tuple[tuple[int, int], ...]:
        """The sizes that a page is chosen from, its own first: it shows all of its task at each."""
        return offered_sizes(minimum_size(name), minimum_size(name))

    def scene(self, task: Task) -> Scene:
        """The package's own files, under a host of their own."""
        name = self._known(task)
        return Scene(
            site=StaticSite({HOST: pages_folder()}),
            url=f"http://{HOST}{page_paths()[name]}",
            size=_size(task.parameters, minimum_size(name)),
        )

    async def set_up(self, task: Task, session: Session) -> None:
        """Start the episode as the package's own environment does: seed first, then the problem."""
        await _wait_until(session, LOADED_SCRIPT)
        await session.evaluate(START_SCRIPT.format(seed=json.dumps(str(task.seed)), limit=EPISODE_MS))
        await _wait_until(session, READY_FLAG)

    async def progress(self, task: Task, session: Session) -> TaskProgress:
        """The page's reward as the score: below 0 for the wrong thing."""
        reward = await read_reward(session)
        success = _is_solved(self._known(task), reward) if reward.done else None
        return TaskProgress(score=reward.raw, done=reward.done, success=success)

    async def judge(self, task: Task, session: Session, answer: str) -> Verdict:
        """The page's reward, cut at 0; the answer is not used."""
        reward = await read_reward(session)
        if not reward.done:
            return Verdict(
                success=False,
                score=0.0,
                reason="the page has not ended the episode",
                verifier=checksum(self._known(task)),
            )
        why = f": {reward.why}" if reward.why else ""
        return Verdict(
            success=_is_solved(self._known(task), reward),
            score=min(1.0, max(0.0, reward.raw)),
            reason=f"the page's reward is {reward.raw:g}{why}",
            verifier=checksum(self._known(task)),
        )

    async def suggest_expert_action(self, task: Task, session: Session) -> ExpertSuggestion | None:
        """For the simple clicking and typing tasks; None for others."""
        if (await read_reward(session)).done:
            return None
        return await suggest_action(self._known(task), session)

    def _known(self, task: Task) -> str:
        if task.name not in page_paths():
            raise UnknownTask(f"there is no task {task.name} in the suite {NAME}")
        return task.name or ""


async def read_instruction(session: Session) -> str:
    """What the page says is to be done; some tasks name its parts as well, and these are left out."""
    said = await session.evaluate(UTTERANCE_SCRIPT)
    if isinstance(said, dict):
        return str(said["utterance"])
    return _in_words(said) if str(said).startswith("{") else str(said)


async def read_reward(session: Session) -> Reward:
    """Progress of the episode by the page's own count. Raises ScriptFailed."""
    told: Any = await session.evaluate(STATE_SCRIPT)
    if not isinstance(told, dict) or not isinstance(told.get("reward"), int | float):
        raise ScriptFailed("the page tells no reward")
    return Reward(done=bool(told["done"]), raw=float(told["reward"]), why=str(told.get("why") or ""))


def _instruction(name: str, seed: int) -> str:
    """The page alone tells that of a seed nobody noted."""
    said = read_instructions().get(name, ())
    if len(said) == 1:
        return said[0]
    return said[seed] if 0 <= seed < len(said) else "Do what is asked on top of the page."


def _in_words(fields: str) -> str:
    """The flight pages tell a search as JSON."""
    return "Search for a flight: " + ", ".join(f"{key}: {value}" for key, value in json.loads(fields).items()) + "."


def _is_solved(name: str, reward: Reward) -> bool:
    return reward.raw >= (THRESHOLD if name in DISTANCE_REWARD_TASKS else 1.0)


async def _wait_until(session: Session, condition: str) -> None:
    """Raises ScriptFailed when it does not come true in the page's time."""
    for _ in range(READY_MS // POLL_MS):
        if await session.evaluate(condition) is True:
            return
        await session.advance(POLL_MS)
    raise ScriptFailed(f"the page was not ready after {READY_MS} ms of its time")


def _size(parameters: Mapping[str, JsonValue], plain: tuple[int, int]) -> tuple[int, int]:
    """Raises InvalidAction."""
    match parameters.get("size"):
        case None:
            return plain
        case [int(width), int(height)] if 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE:
            return width, height
        case other:
            raise InvalidAction(f"{other} is no size of a page")
