"""Runs one task after another on one machine: the shared part of the environments."""

import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from protocol.actions.types import FINAL_ACTIONS, INFEASIBLE_ANSWER, Action, Finish, Infeasible
from protocol.trajectory.observations import Observation
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError, MachineGone, VerifierFailed
from vm_bridge.gym.browser_pool import BrowserPool
from vm_bridge.local_browser import FENCING_TOKEN, BrowserSandbox, read_page_instruction

Image = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What Gymnasium wants to know after a reset or a step."""

    picture: Image
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class EnvRunner:
    """Not for two callers at once. The reward is by how much the score rose: a whole episode's is its last score."""

    def __init__(self, browser_pool: BrowserPool) -> None:
        self._browser_pool = browser_pool
        self._sandbox: BrowserSandbox | None = None
        self._task: Task | None = None
        self._instruction = ""
        self._score, self._steps = 0.0, 0
        self._picture: Image = np.zeros((1, 1, 3), np.uint8)

    async def reset(self, task: Task) -> StepResult:
        """Set up a task. Raises BridgeError."""
        sandbox = await self._machine()
        try:
            observation = await sandbox.bind(FENCING_TOKEN).prepare(task)
        except MachineGone:
            sandbox = await self._machine(anew=True)
            observation = await sandbox.bind(FENCING_TOKEN).prepare(task)
        self._task, self._steps = task, 0
        self._instruction = await read_page_instruction(sandbox, task)
        self._score = _score(observation, 0.0)
        await self._update_image(sandbox, observation)
        return StepResult(self._picture.copy(), 0.0, False, False, self._info(observation))

    async def step(self, action: Action) -> StepResult:
        """Act. A failed machine or verifier ends the episode as truncated."""
        assert self._sandbox is not None, "reset comes first"
        assert self._task is not None, "reset comes first"
        self._steps += 1
        try:
            if isinstance(action, FINAL_ACTIONS):
                return await self._finish(self._sandbox, action)
            return await self._act(self._sandbox, self._task, action)
        except BridgeError as failure:
            info = {"error": failure.code, "error_text": str(failure), "instruction": self._instruction}
            return StepResult(self._picture.copy(), 0.0, False, True, info)

    async def close(self) -> None:
        """Release the machine. Idempotent."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await sandbox.destroy()

    async def _act(self, sandbox: BrowserSandbox, task: Task, action: Action) -> StepResult:
        done = await sandbox.bind(FENCING_TOKEN).perform(uuid.uuid4().hex, action)
        await self._update_image(sandbox, done.after)
        page = done.after.page
        assert page is not None, "a browser says how its page stands"
        if page.verifier_error is not None:
            raise VerifierFailed(page.verifier_error)
        reward = self._reward(_score(done.after, self._score))
        truncated = page.truncated or (not page.done and self._steps >= task.max_steps)
        info = self._info(done.after)
        if done.error is not None:
            info |= {"error": done.error.code, "error_text": done.error.message}
        return StepResult(self._picture.copy(), reward, page.done, truncated, info)

    async def _finish(self, sandbox: BrowserSandbox, action: Finish | Infeasible) -> StepResult:
        machine = sandbox.bind(FENCING_TOKEN)
        answer = action.answer if isinstance(action, Finish) else INFEASIBLE_ANSWER
        verdict = await machine.evaluate(answer=answer)
        info = self._info(await machine.observe())
        if verdict.success is None:
            raise VerifierFailed(verdict.reason)
        info |= {"success": verdict.success, "score": verdict.score, "reason": verdict.reason}
        return StepResult(self._picture.copy(), self._reward(verdict.score), True, False, info)

    async def _machine(self, *, anew: bool = False) -> BrowserSandbox:
        if anew:
            await self.close()
        if self._sandbox is None:
            self._sandbox = await self._browser_pool.machine()
        return self._sandbox

    async def _update_image(self, sandbox: BrowserSandbox, observation: Observation) -> None:
        assert observation.screenshot is not None, "a browser has a picture"
        data = await sandbox.bind(FENCING_TOKEN).blob(observation.screenshot)
        self._picture = simplejpeg.decode_jpeg(data, colorspace="RGB")

    def _reward(self, score: float) -> float:
        reward, self._score = score - self._score, score
        return reward

    def _info(self, observation: Observation) -> dict[str, Any]:
        assert observation.page is not None, "a browser says how its page stands"
        assert self._task is not None, "reset comes first"
        page = observation.page
        return {
            "task": self._task.id,
            "instruction": self._instruction,
            "seed": self._task.seed,
            "steps": self._steps,
            "score": self._score,
            "level": page.level,
            "success": page.success,
            "url": observation.url,
            "time_ms": page.time_ms,
            "clock": page.clock,
        }


def _score(observation: Observation, otherwise: float) -> float:
    known = None if observation.page is None else observation.page.score
    return otherwise if known is None else known
