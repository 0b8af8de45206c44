"""Several machines in parallel: their actions run together, over all browser processes."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from protocol.trajectory.tasks import Language
from vm_bridge.gym.actions import ActionInput, to_action
from vm_bridge.gym.browser_pool import BrowserPool, acquire_pool, release_pool
from vm_bridge.gym.env import SEED_COUNT
from vm_bridge.gym.runner import EnvRunner, StepResult
from vm_bridge.gym.task_spec import TaskSpec

ImageBatch = NDArray[np.uint8]
BoolBatch = NDArray[np.bool_]


class BrowserVectorEnv(VectorEnv[ImageBatch, Any, Any]):
    """One task in several episodes, each with its own seed. The step after an episode's end starts it again and ignores
    its action (Gymnasium's NEXT_STEP)."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        suite: str,
        task: str,
        *,
        num_envs: int = 1,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
        clock: str = "exact",
        render_mode: str | None = None,
        engines: int | None = None,
    ) -> None:
        """See `BrowserEnv`. Raises UnknownTask."""
        self.num_envs, self.render_mode = num_envs, render_mode
        self._task_spec = TaskSpec(suite, task, level, language, size, clock)
        self.single_observation_space, self.single_action_space = self._task_spec.spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._browser_pool: BrowserPool | None = acquire_pool(engines)
        self._runners = [EnvRunner(self._browser_pool) for _ in range(num_envs)]
        self._finished = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ImageBatch, dict[str, Any]]:
        """A single seed is that of the first episode; the others get those after it."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._task_spec = self._task_spec.with_options(options)
        seeds = self._seeds(seed)
        results = self._run_all(self._reset_one(runner, one) for runner, one in zip(self._runners, seeds, strict=True))
        self._finished[:] = False
        return self._pictures(results), self._infos(results)

    def step(self, actions: Any) -> tuple[ImageBatch, NDArray[np.float64], BoolBatch, BoolBatch, dict[str, Any]]:
        """An act for each episode: a batch of the action space, or as many acts in the vocabulary's words."""
        acts = actions if isinstance(actions, list | tuple) else tuple(iterate(self.action_space, actions))
        results = self._run_all(
            self._step_one(number, runner, act)
            for number, (runner, act) in enumerate(zip(self._runners, acts, strict=True))
        )
        rewards = np.array([result.reward for result in results], np.float64)
        terminated = np.array([result.terminated for result in results], np.bool_)
        truncated = np.array([result.truncated for result in results], np.bool_)
        self._finished = terminated | truncated
        return self._pictures(results), rewards, terminated, truncated, self._infos(results)

    def close_extras(self, **kwargs: Any) -> None:
        """Release the machines."""
        browser_pool, self._browser_pool = self._browser_pool, None
        if browser_pool is not None:
            browser_pool.call(_gather(runner.close() for runner in self._runners))
            release_pool(browser_pool)

    def _step_one(self, number: int, runner: EnvRunner, act: ActionInput) -> Coroutine[Any, Any, StepResult]:
        if self._finished[number]:
            return self._reset_one(runner, int(self.np_random.integers(SEED_COUNT)))
        return runner.step(to_action(act))

    def _reset_one(self, runner: EnvRunner, seed: int) -> Coroutine[Any, Any, StepResult]:
        return runner.reset(self._task_spec.task(seed))

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int]:
        given = [seed + number for number in range(self.num_envs)] if isinstance(seed, int) else seed
        return [
            int(self.np_random.integers(SEED_COUNT)) if one is None else one for one in given or [None] * self.num_envs
        ]

    def _run_all(self, work: Iterable[Coroutine[Any, Any, StepResult]]) -> list[StepResult]:
        if self._browser_pool is None:
            raise gymnasium.error.ClosedEnvironmentError("these environments are closed")
        return self._browser_pool.call(_gather(work))

    def _pictures(self, results: Sequence[StepResult]) -> ImageBatch:
        return np.stack([result.picture for result in results])

    def _infos(self, results: Sequence[StepResult]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for number, result in enumerate(results):
            infos = self._add_info(infos, result.info, number)
        return infos


async def _gather(work: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
    return list(await asyncio.gather(*work))
