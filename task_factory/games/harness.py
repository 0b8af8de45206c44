"""Runs the rules of a made game in a browser without its page: random play, the expert, replays, forged states."""

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from protocol.base import FrozenModel
from vm_bridge.browser import Engine, Request, Response, Session
from vm_bridge.suites.web.task_folder import TaskFolder
from vm_bridge.suites.web.tasks import TaskVariant, page_parameters

HARNESS = (Path(__file__).parent / "js" / "harness.js").read_text(encoding="utf-8")
SCRIPT_SECONDS = 120.0
MAX_MOVES = 1_000
"""A random playout that goes on for longer has no end."""

Parameters = dict[str, JsonValue]
"""What a page, its rules and its verifier are told: the global TASK."""


class LevelPlay(FrozenModel):
    """Random play at one level; `steps` and `score` are sums."""

    count: int
    won: int
    steps: int
    score: float
    most: int
    """Moves of the longest playout."""

    @property
    def mean_score(self) -> float:
        """What a random playout earns (0 to 1)."""
        return self.score / self.count


class PlayoutResult(FrozenModel):
    """Random play at all levels."""

    faults: dict[str, str]
    """Words by code."""
    levels: dict[int, LevelPlay]
    digest: str
    """SHA-256 over the chains of state hashes of all playouts."""
    playouts: int


class ExpertResult(FrozenModel):
    """One episode of the expert."""

    level: int
    seed: int
    won: bool
    steps: int
    score: float
    history: tuple[str, ...]
    why: str
    """Why it did not win."""


class DerivedState(FrozenModel):
    """A state that follows from moves."""

    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    score: float
    level: int
    done: bool
    reward: float
    """The verifier's score, 0 to 1."""
    success: bool


class ForgedState(FrozenModel):
    """A forged state that the verifier did not see through."""

    name: str
    why: str


class EmptySite:
    """A site whose every page is empty."""

    async def answer(self, request: Request) -> Response:
        return Response(200, b"<!doctype html>", {"content-type": "text/html"})


class Harness:
    """Calls functions of harness.js in a world of their own. Made by `open_harness`."""

    def __init__(self, session: Session, source: str) -> None:
        self._session, self._source = session, source

    async def playouts(
        self,
        tasks: Sequence[Parameters],
        count: int,
        *,
        checks: bool = False,
        judge: bool = False,
        backwards: bool = False,
    ) -> PlayoutResult:
        """Random play of `count` games, each of the next of these tasks. Raises ScriptFailed."""
        options = {"tasks": list(tasks), "count": count, "bound": MAX_MOVES}
        options |= {"checks": checks, "judge": judge, "backwards": backwards}
        return PlayoutResult.model_validate(await self._call("playouts", options))

    async def experts(self, tasks: Sequence[Parameters], bounds: Sequence[int]) -> tuple[ExpertResult, ...]:
        """The expert in each task, for at most so many moves. Raises ScriptFailed."""
        found = await self._call("experts", list(tasks), list(bounds))
        return tuple(ExpertResult.model_validate(one) for one in found)

    async def derive(self, task: Parameters, history: Sequence[str]) -> tuple[DerivedState, ...]:
        """The start and the state after each move, up to the first that is not legal. Raises ScriptFailed."""
        found = await self._call("derive", task, list(history))
        return tuple(DerivedState.model_validate(one) for one in found)

    async def forged(self, task: Parameters, history: Sequence[str]) -> tuple[ForgedState, ...]:
        """Forged states that the verifier believes, or at which it throws. Raises ScriptFailed."""
        found = await self._call("forged", task, list(history))
        return tuple(ForgedState.model_validate(one) for one in found)

    async def verifier_ms(self, task: Parameters, history: Sequence[str], times: int = 50) -> float:
        """What a call of the verifier takes (ms), without the way to the browser: the least of three measurements."""
        walls = [await self._wall(task, history, many) for many in (1, 1 + times) * 3]
        return max(0.0, 1_000 * (min(walls[1::2]) - min(walls[::2])) / times)

    async def _wall(self, task: Parameters, history: Sequence[str], times: int) -> float:
        began = time.perf_counter()
        await self._call("repeat", task, list(history), times)
        return time.perf_counter() - began

    async def state_hash(self, state: JsonValue) -> str:
        """The hash of a state that a page gave. Raises ScriptFailed."""
        return str(await self._call("hashed", state))

    async def sha256(self, text: str) -> str:
        """The hash of a text as the harness computes it."""
        return str(await self._evaluate(f"harness.sha256({json.dumps(text)})"))

    async def _call(self, name: str, *given: Any) -> Any:
        words = ", ".join(json.dumps(one, ensure_ascii=False) for one in (self._source, *given))
        return await self._evaluate(f"harness.{name}({words})")

    async def _evaluate(self, expression: str) -> Any:
        script = f"(() => {{ {HARNESS}\nreturn {expression}; }})()"
        return await self._session.evaluate(script, world="own", seconds=SCRIPT_SECONDS)


@asynccontextmanager
async def open_harness(
    engine: Engine, source: str, *, seed: int = 1, start_time: float = 1.7e9
) -> AsyncIterator[Harness]:
    """A harness with this game in a fresh session; the game must not notice its seed and time. Raises BrowserFailed."""
    session = await engine.open(EmptySite(), size=(320, 240), seed=seed, start_time=start_time)
    try:
        await session.goto("http://harness.test/")
        yield Harness(session, source)
    finally:
        await session.close()


def make_parameters(folder: TaskFolder, seeds: Sequence[int]) -> tuple[Parameters, ...]:
    """Each seed at each level, levels taking turns, in English at the usual size."""
    levels = range(1, len(folder.manifest.levels) + 1)
    variants = (TaskVariant(seed, level, "en", folder.manifest.size) for seed in seeds for level in levels)
    return tuple(page_parameters(folder, variant) for variant in variants)


def max_steps(folder: TaskFolder, tasks: Sequence[Mapping[str, JsonValue]]) -> tuple[int, ...]:
    """How many moves the expert has in each task."""
    levels = folder.manifest.levels
    return tuple(levels[int(str(task["level"])) - 1].max_steps for task in tasks)
