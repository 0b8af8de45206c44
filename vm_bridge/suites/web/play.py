"""Plays a task in a browser as its expert, or at random, and writes down how it went."""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import Literal

from vm_bridge.browser import Engine, ScriptFailed, Session
from vm_bridge.browser.hands import ActFailed, Hands
from vm_bridge.suites.scenes import Scene
from vm_bridge.suites.web.records import Record, normalised
from vm_bridge.suites.web.suite import Finding, FolderSuite
from vm_bridge.suites.web.tasks import terms_of
from vocabulary.actions import Action, Click, Drag, Finish, Point, PressKeys, Scroll, TypeText, Wait
from vocabulary.tasks import Task

SETTLE_MS = 3_000.0
"""Longest settle, in the page's time."""
KEYS = ("up", "down", "left", "right", "space", "enter", "tab")
LOST = Finding(success=False, failure=False, done=False, score=0, level=1, reason="no page of the task is open")


class Play:
    """One episode of one task. Made by `begin`, ended by `close`."""

    def __init__(self, suite: FolderSuite, task: Task, scene: Scene, session: Session) -> None:
        self.suite, self.task, self.scene, self.session = suite, task, scene, session
        self.answer: str | None = None
        self.steps = 0
        self.frames: list[str] = []
        self._hands = Hands(session, {file.name: file for file in scene.files})

    @classmethod
    async def begin(cls, engine: Engine, suite: FolderSuite, task: Task) -> "Play":
        """The start state, at rest. Raises BrowserFailed."""
        scene = suite.scene(task)
        session = await engine.open(scene.site, size=scene.size, seed=task.seed, start_time=scene.start_time)
        play = cls(suite, task, scene, session)
        try:
            await session.go(scene.url)
            if not scene.step_ms:
                await session.settle(SETTLE_MS)
        except BaseException:
            await session.close()
            raise
        return play

    async def act(self, action: Action) -> None:
        """Do an act and let the time pass that belongs to it; one that cannot be done changes nothing."""
        self.steps += 1
        began = self.session.now_ms
        if isinstance(action, Finish):
            self.answer = action.answer
            return
        try:
            if isinstance(action, Wait):
                await self.session.advance(action.seconds * 1000)
            else:
                await self._hands.do(action)
        except ActFailed:
            pass
        left = self.scene.step_ms - (self.session.now_ms - began)
        if not self.scene.step_ms:
            await self.session.settle(SETTLE_MS)
        elif left > 0:
            await self.session.advance(left)

    async def look(self) -> None:
        """Note the hash of what is shown."""
        self.frames.append(hashlib.sha256(await self.session.picture("jpeg", 90)).hexdigest())

    async def found(self) -> Finding:
        """What the verifier says now."""
        return await self.suite.find(self.task, self.session, self.answer) or LOST

    async def advised(self) -> Action:
        """The expert's next act. Raises ScriptFailed where it has none."""
        advice = await self.suite.advise(self.task, self.session)
        if advice is None:
            raise ScriptFailed(f"the expert of {self.task.id} knows nothing after {self.steps} steps")
        return advice.action

    async def close(self) -> None:
        """Let go of the browser's pages."""
        await self.session.close()


async def play(
    engine: Engine,
    suite: FolderSuite,
    task: Task,
    actor: Literal["expert", "random"],
    *,
    most: int | None = None,
    frames: bool = False,
) -> tuple[Record, tuple[Action, ...]]:
    """A whole episode, and what was done in it. Raises BrowserFailed; VerifierFailed, and ScriptFailed for an expert
    that throws."""
    episode = await Play.begin(engine, suite, task)
    draw, done = Random(f"{task.id}-{actor}"), list[Action]()
    try:
        finding = await episode.found()
        if frames:
            await episode.look()
        while not finding.done and episode.answer is None and episode.steps < min(task.max_steps, most or 1_000):
            action = await episode.advised() if actor == "expert" else random_act(draw, episode.scene.size)
            done.append(action)
            await episode.act(action)
            if frames:
                await episode.look()
            finding = await episode.found()
            if episode.session.now_ms >= episode.scene.limit_ms:
                break
        return _record(episode, finding, actor), tuple(done)
    finally:
        await episode.close()


async def replayed(engine: Engine, suite: FolderSuite, task: Task, actions: Sequence[Action]) -> tuple[str, ...]:
    """The hashes of all pictures when the same is done again."""
    episode = await Play.begin(engine, suite, task)
    try:
        await episode.look()
        for action in actions:
            await episode.act(action)
            await episode.look()
        return tuple(episode.frames)
    finally:
        await episode.close()


def random_act(draw: Random, size: tuple[int, int]) -> Action:
    """What the random baseline does: any of the acts a policy has, anywhere."""

    def point() -> Point:
        return Point(x=draw.randrange(size[0]), y=draw.randrange(size[1]))

    kind = draw.choices(("click", "key", "drag", "type", "scroll"), (45, 35, 10, 5, 5))[0]
    match kind:
        case "click":
            return Click(**point().model_dump())
        case "key":
            return PressKeys(keys=(draw.choice(KEYS),))
        case "drag":
            return Drag(start=point(), end=point())
        case "type":
            return TypeText(text=draw.choice(("a", "7", "hello")))
        case _:
            return Scroll(point=point(), direction=draw.choice(("up", "down")), amount=draw.randint(1, 5))


def _record(episode: Play, finding: Finding, actor: Literal["expert", "random"]) -> Record:
    folder = episode.suite.folder(episode.task.name)
    terms = terms_of(folder, episode.task)
    terminated = finding.done or episode.answer is not None
    return Record(
        suite=episode.task.suite or "",
        task=folder.manifest.name,
        version=folder.manifest.version,
        verifier=folder.checksum,
        seed=terms.seed,
        level=terms.level,
        language=terms.language,
        size=terms.size,
        clock=episode.session.clock.value,
        actor=actor,
        steps=episode.steps,
        game_ms=episode.session.now_ms,
        reward=finding.score,
        points=finding.points,
        expert_normalised=normalised(finding.score, folder.manifest.reference),
        success=finding.success,
        failure=finding.failure,
        terminated=terminated,
        truncated=not terminated,
        reason=finding.reason,
        frames=tuple(episode.frames),
    )
