"""One client's session: a leased machine, and one episode on it at a time."""

import time
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field

from agent_backend.environments.errors import STEP_ERRORS, EnvironmentRefusal, lost_episode, refusal_of
from agent_backend.environments.observations import (
    UNSUPPORTED_KINDS,
    EnvironmentObservation,
    EnvironmentState,
    EnvironmentStep,
    screen_fields,
)
from agent_backend.environments.task_catalog import TaskCatalog
from agent_backend.episode.unattended_secrets import fill_task_secrets, without_secrets
from agent_backend.errors import AgentError
from agent_backend.rollout.attempts import leased_machine
from protocol.actions.types import INFEASIBLE_ANSWER, Action, Finish, Infeasible, Screenshot
from protocol.base import FrozenModel
from protocol.trajectory.observations import ActionError, Observation, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, VerifierFailed
from vm_bridge.machine import Capabilities, Machine

HOLDER = "environment"
DEFAULT_MACHINE_WAIT_SECONDS = 50.0
"""OpenEnv's client waits 60 seconds for an answer."""


class ResetRequest(FrozenModel):
    """The options of a client that begins an episode."""

    seed: int | None = None
    episode_id: str | None = None
    task: str | None = None
    """A task's id or name."""


@dataclass(slots=True)
class Episode:
    """An episode of a session, from its reset to the next."""

    id: str
    task: Task
    steps: int = 0
    score: float = 0.0
    ended: str = ""
    """Why no further step is accepted: `episode_done` or `episode_lost`."""
    last_screen: dict[str, object] = field(default_factory=dict)

    def claim_reward(self, score: float) -> float:
        """The rise of the score since the last call: the rewards of an episode add up to its last score."""
        reward, self.score = score - self.score, score
        return reward


class EnvironmentSession:
    """Handles one request at a time; a concurrent second request is refused (`session_busy`).

    The machine is leased at the first reset. It is kept until `close`, an error of the machine, or a task that needs
    another image.
    """

    def __init__(
        self,
        bridge: BridgeClient,
        catalog: TaskCatalog,
        principal: str,
        *,
        machine_wait_seconds: float = DEFAULT_MACHINE_WAIT_SECONDS,
    ) -> None:
        self.id = uuid.uuid4().hex
        self.principal = principal
        """The owner: only requests with the same token use it."""
        self.attached = False
        """Whether a socket uses it."""
        self.last_used = time.monotonic()
        self._bridge, self._catalog, self._machine_wait_seconds = bridge, catalog, machine_wait_seconds
        self._stack = AsyncExitStack()
        self._machine: Machine | None = None
        self._image = ""
        self._episode: Episode | None = None
        self.busy = False
        self._closed = False

    @property
    def capabilities(self) -> Capabilities | None:
        """The capabilities of its machine; None while it has none."""
        return None if self._machine is None else self._machine.capabilities

    def state(self) -> EnvironmentState:
        """The state of the episode. Asking does not keep a session open."""
        episode = self._episode
        if episode is None:
            return EnvironmentState(session_id=self.id)
        return EnvironmentState(
            episode_id=episode.id,
            step_count=episode.steps,
            session_id=self.id,
            task=episode.task.id,
            seed=episode.task.seed,
            done=bool(episode.ended),
            score=episode.score,
        )

    async def reset(self, request: ResetRequest) -> EnvironmentStep:
        """Begin an episode on a machine in the task's start state. Raises EnvironmentRefusal; an unknown task leaves
        the current episode as it is."""
        with self._exclusive():
            try:
                task = await self._catalog.choose(request.task, request.seed)
            except (AgentError, BridgeError) as error:
                raise error if isinstance(error, EnvironmentRefusal) else refusal_of(error) from error
            try:
                return await self._reset(task, request.episode_id)
            except BridgeError as error:
                await self._lose_machine()
                raise refusal_of(error) from error

    async def step(self, action: Action) -> EnvironmentStep:
        """Do one action. An action that this machine cannot do is a step without effect. Raises EnvironmentRefusal. If
        the machine or the verifier fails, the episode is lost and has no reward."""
        with self._exclusive():
            episode, machine = self._running()
            try:
                return await self._step(episode, machine, action)
            except BridgeError as error:
                await self._lose_machine()
                raise lost_episode(error) from error

    async def close(self) -> None:
        """Give the machine back. Idempotent."""
        self._closed = True
        await self._lose_machine()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        if self._closed:
            raise EnvironmentRefusal("session_closed", "this session has ended")
        if self.busy:
            raise EnvironmentRefusal("session_busy", "another request of this session is running")
        self.busy = True
        try:
            yield
        except BaseException as error:
            if not isinstance(error, EnvironmentRefusal):
                self._end("episode_lost")
            raise
        finally:
            self.busy = False
            self.last_used = time.monotonic()

    def _end(self, how: str) -> None:
        if self._episode is not None and not self._episode.ended:
            self._episode.ended = how

    def _running(self) -> tuple[Episode, Machine]:
        episode, machine = self._episode, self._machine
        if episode is None:
            raise EnvironmentRefusal("no_episode", "reset comes before the first step")
        if episode.ended:
            raise EnvironmentRefusal(episode.ended, "reset begins another episode")
        assert machine is not None, "a running episode has its machine"
        return episode, machine

    async def _reset(self, task: Task, episode_id: str | None) -> EnvironmentStep:
        self._end("episode_lost")
        machine = await self._lease(self._catalog.plan.image_of(task))
        seen = await machine.prepare(fill_task_secrets(task))
        episode = Episode(id=episode_id or uuid.uuid4().hex, task=task, score=_page_score(seen, 0.0))
        observation = await self._observe(episode, machine, seen)
        self._episode = episode
        return EnvironmentStep(observation=observation, reward=None, done=False)

    async def _lease(self, image: str) -> Machine:
        if self._machine is not None and self._image == image:
            return self._machine
        await self._lose_machine()
        leased = leased_machine(self._bridge, image, self.id, holder=HOLDER, wait=self._machine_wait_seconds)
        machine = without_secrets(await self._stack.enter_async_context(leased))
        if self._closed:  # it was closed while it waited for a machine
            await self._stack.aclose()
            raise EnvironmentRefusal("session_closed", "this session has ended")
        self._machine, self._image = machine, image
        return machine

    async def _lose_machine(self) -> None:
        self._end("episode_lost")
        self._machine = None
        await self._stack.aclose()

    async def _step(self, episode: Episode, machine: Machine, action: Action) -> EnvironmentStep:
        if isinstance(action, Finish | Infeasible):
            episode.steps += 1
            answer = action.answer if isinstance(action, Finish) else INFEASIBLE_ANSWER
            return await self._judge(episode, machine, await machine.observe(), answer=answer)
        seen, error = await self._act(machine, action)
        episode.steps += 1
        page = None if seen is None else seen.page
        if page is not None and page.verifier_error is not None:
            raise VerifierFailed(page.verifier_error)
        out_of_steps = episode.steps >= episode.task.max_steps
        if out_of_steps or (page is not None and page.over):
            seen = seen or await machine.observe()
            truncated = page is None or not page.done
            return await self._judge(episode, machine, seen, error=error, truncated=truncated)
        reward = 0.0 if seen is None else episode.claim_reward(_page_score(seen, episode.score))
        observation = await self._observe(episode, machine, seen, error=error)
        return EnvironmentStep(observation=observation, reward=reward, done=False)

    async def _act(self, machine: Machine, action: Action) -> tuple[Observation | None, ActionError | None]:
        """The observation after the action, None if it could not be done, and its error. Raises BridgeError."""
        if isinstance(action, Screenshot):
            return await machine.observe(), None
        if action.kind in UNSUPPORTED_KINDS:
            return None, ActionError(code="unsupported_action", message=f"an environment has no {action.kind}")
        try:
            done = await machine.perform(uuid.uuid4().hex, action)
        except STEP_ERRORS as error:
            return None, ActionError(code=error.code, message=str(error))
        return done.after, done.error

    async def _judge(
        self,
        episode: Episode,
        machine: Machine,
        seen: Observation,
        *,
        answer: str = "",
        error: ActionError | None = None,
        truncated: bool = False,
    ) -> EnvironmentStep:
        """End the episode with the verifier's verdict on the final state, also if the step limit ended it."""
        verdict: Verdict = await machine.evaluate(answer=answer)
        judged = verdict.success is not None
        reward = episode.claim_reward(verdict.score) if judged else None
        observation = await self._observe(episode, machine, seen, error=error)
        more = {"success": verdict.success, "reason": verdict.reason, "truncated": truncated}
        episode.ended = "episode_done"
        return EnvironmentStep(observation=observation.model_copy(update=more), reward=reward, done=True)

    async def _observe(
        self, episode: Episode, machine: Machine, seen: Observation | None, *, error: ActionError | None = None
    ) -> EnvironmentObservation:
        if seen is not None:
            episode.last_screen = await screen_fields(machine, seen)
        return EnvironmentObservation.model_validate(
            {
                **episode.last_screen,
                "instruction": episode.task.instruction,
                "task": episode.task.id,
                "seed": episode.task.seed,
                "error": error,
                "steps": episode.steps,
                "max_steps": episode.task.max_steps,
                "score": episode.score,
            }
        )


def _page_score(seen: Observation, otherwise: float) -> float:
    score = None if seen.page is None else seen.page.score
    return otherwise if score is None else score
