"""One environment: one browser task on one machine."""

from typing import Any

import gymnasium

from protocol.trajectory.tasks import Language
from vm_bridge.gym.actions import ActionInput, to_action
from vm_bridge.gym.browser_pool import BrowserPool, acquire_pool, release_pool
from vm_bridge.gym.runner import EnvRunner, Image
from vm_bridge.gym.task_spec import TaskSpec

SEED_COUNT = 2**31


class BrowserEnv(gymnasium.Env[Image, ActionInput]):
    """Observations are the page's pixels; acts are of `acts.action_space`, or of the vocabulary as they are.

    `reset(seed=n)` sets up the task with the seed n, `reset()` with the next one drawn. `terminated` is said by the
    task, `truncated` by its bounds on steps and on the page's time, or where the machine or the verifier failed
    (`info["error"]`).
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(
        self,
        suite: str,
        task: str,
        *,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
        clock: str = "exact",
        render_mode: str | None = None,
        engines: int | None = None,
    ) -> None:
        """`engines` bounds the browser processes of this process; the first environment decides. Raises UnknownTask."""
        self.render_mode = render_mode
        self._task_spec = TaskSpec(suite, task, level, language, size, clock)
        self.observation_space, self.action_space = self._task_spec.spaces()
        self._browser_pool: BrowserPool | None = acquire_pool(engines)
        self._runner = EnvRunner(self._browser_pool)
        self._picture: Image | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Image, dict[str, Any]]:
        """Begin an episode; `options` may name a level or a language for it and those after it."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(SEED_COUNT)) if seed is None else seed
        self._task_spec = self._task_spec.with_options(options)
        result = self._open().call(self._runner.reset(self._task_spec.task(chosen)))
        self._picture = result.picture
        return result.picture, result.info

    def step(self, action: ActionInput) -> tuple[Image, float, bool, bool, dict[str, Any]]:
        """Act, and see the page at rest, or after the time an act takes in its game."""
        result = self._open().call(self._runner.step(to_action(action)))
        self._picture = result.picture
        return result.picture, result.reward, result.terminated, result.truncated, result.info

    def render(self) -> Image | None:
        """What was seen last."""
        return self._picture if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Idempotent."""
        browser_pool, self._browser_pool = self._browser_pool, None
        if browser_pool is not None:
            browser_pool.call(self._runner.close())
            release_pool(browser_pool)

    def _open(self) -> BrowserPool:
        if self._browser_pool is None:
            raise gymnasium.error.ClosedEnvironmentError("this environment is closed")
        return self._browser_pool
