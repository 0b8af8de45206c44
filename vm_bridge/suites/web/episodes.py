"""Plays a task in a browser as its expert, or at random, and writes down how it went."""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import Literal

from protocol.actions.types import Action, Click, Drag, Finish, Point, PressKeys, Scroll, TypeText, Wait
from protocol.trajectory.tasks import Task
from vm_bridge.browser import Engine, ScriptFailed, Session
from vm_bridge.browser.action_executor import PageActionExecutor
from vm_bridge.errors import ActionFailed
from vm_bridge.suites.web.records import EpisodeRecord, normalize_score
from vm_bridge.suites.web.suite import FolderSuite, VerifierResult
from vm_bridge.suites.web.tasks import parse_variant
from vm_bridge.suites.web_suite import Scene

SETTLE_MS = 3_000.0
"""Longest settle, in the page's time."""
KEYS = ("up", "down", "left", "right", "space", "enter", "tab")
PAGE_LOST = VerifierResult(
    success=False, failure=False, done=False, score=0, level=1, reason="no page of the task is open"
)


class TaskEpisode:
    """One episode of one task. Made by `begin`, ended by `close`."""

    def __init__(self, suite: FolderSuite, task: Task, scene: Scene, session: Session) -> None:
        self.suite, self.task, self.scene, self.session = suite, task, scene, session
        self.answer: str | None = None
        self.steps = 0
        self.frames: list[str] = []
        self._action_executor = PageActionExecutor(session, {file.name: file for file in scene.files})

    @classmethod
    async def begin(cls, engine: Engine, suite: FolderSuite, task: Task) -> "TaskEpisode":
        """The start state, at rest. Raises BrowserFailed."""
        scene = suite.scene(task)
        session = await engine.open(scene.site, size=scene.size, seed=task.seed, start_time=scene.start_time)
        play = cls(suite, task, scene, session)
        try:
            await session.goto(scene.url)
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
                await self._action_executor.do(action)
        except ActionFailed:
            pass
        left = self.scene.step_ms - (self.session.now_ms - began)
        if not self.scene.step_ms:
            await self.session.settle(SETTLE_MS)
        elif left > 0:
            await self.session.advance(left)

    async def look(self) -> None:
        """Note the hash of what is shown."""
        self.frames.append(hashlib.sha256(await self.session.picture("jpeg", 90)).hexdigest())

    async def verifier_result(self) -> VerifierResult:
        """What the verifier says now."""
        return await self.suite.find(self.task, self.session, self.answer) or PAGE_LOST

    async def suggested_action(self) -> Action:
        """The expert's next act. Raises ScriptFailed where it has none."""
        advice = await self.suite.suggest_expert_action(self.task, self.session)
        if advice is None:
            raise ScriptFailed(f"the expert of {self.task.id} knows nothing after {self.steps} steps")
        return advice.action

    async def close(self) -> None:
        """Let go of the browser's pages."""
        await self.session.close()


async def play_task(
    engine: Engine,
    suite: FolderSuite,
    task: Task,
    actor: Literal["expert", "random"],
    *,
    most: int | None = None,
    frames: bool = False,
) -> tuple[EpisodeRecord, tuple[Action, ...]]:
    """A whole episode, and what was done in it. Raises BrowserFailed; VerifierFailed, and ScriptFailed for an expert
    that throws."""
    episode = await TaskEpisode.begin(engine, suite, task)
    draw, done = Random(f"{task.id}-{actor}"), list[Action]()
    try:
        verifier_result = await episode.verifier_result()
        if frames:
            await episode.look()
        while (
            not verifier_result.done and episode.answer is None and episode.steps < min(task.max_steps, most or 1_000)
        ):
            action = await episode.suggested_action() if actor == "expert" else random_action(draw, episode.scene.size)
            done.append(action)
            await episode.act(action)
            if frames:
                await episode.look()
            verifier_result = await episode.verifier_result()
            if episode.session.now_ms >= episode.scene.limit_ms:
                break
        return _make_record(episode, verifier_result, actor), tuple(done)
    finally:
        await episode.close()


async def replay_frames(engine: Engine, suite: FolderSuite, task: Task, actions: Sequence[Action]) -> tuple[str, ...]:
    """The hashes of all pictures when the same is done again."""
    episode = await TaskEpisode.begin(engine, suite, task)
    try:
        await episode.look()
        for action in actions:
            await episode.act(action)
            await episode.look()
        return tuple(episode.frames)
    finally:
        await episode.close()


def random_action(draw: Random, size: tuple[int, int]) -> Action:
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


def _make_record(
    episode: TaskEpisode, verifier_result: VerifierResult, actor: Literal["expert", "random"]
) -> EpisodeRecord:
    folder = episode.suite.folder(episode.task.name)
    terms = parse_variant(folder, episode.task)
    terminated = verifier_result.done or episode.answer is not None
    return EpisodeRecord(
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
        reward=verifier_result.score,
        points=verifier_result.points,
        expert_normalised=normalize_score(verifier_result.score, folder.manifest.reference),
        success=verifier_result.success,
        failure=verifier_result.failure,
        terminated=terminated,
        truncated=not terminated,
        reason=verifier_result.reason,
        frames=tuple(episode.frames),
    )
