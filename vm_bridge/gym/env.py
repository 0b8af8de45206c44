"""One environment: one browser task on one machine."""

from typing import Any

import gymnasium

from vm_bridge.gym.acts import Given, act_of
from vm_bridge.gym.choice import Choice
from vm_bridge.gym.player import Picture, Player
from vm_bridge.gym.runtime import Runtime, acquire, release
from vocabulary.tasks import Language

SEEDS = 2**31


class BrowserEnv(gymnasium.Env[Picture, Given]):
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
        self._choice = Choice(suite, task, level, language, size, clock)
        self.observation_space, self.action_space = self._choice.spaces()
        self._runtime: Runtime | None = acquire(engines)
        self._player = Player(self._runtime)
        self._picture: Picture | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Picture, dict[str, Any]]:
        """Begin an episode; `options` may name a level or a language for it and those after it."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(SEEDS)) if seed is None else seed
        self._choice = self._choice.changed(options)
        turn = self._open().call(self._player.reset(self._choice.task(chosen)))
        self._picture = turn.picture
        return turn.picture, turn.info

    def step(self, action: Given) -> tuple[Picture, float, bool, bool, dict[str, Any]]:
        """Act, and see the page at rest, or after the time an act takes in its game."""
        turn = self._open().call(self._player.step(act_of(action)))
        self._picture = turn.picture
        return turn.picture, turn.reward, turn.terminated, turn.truncated, turn.info

    def render(self) -> Picture | None:
        """What was seen last."""
        return self._picture if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Idempotent."""
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.call(self._player.close())
            release(runtime)

    def _open(self) -> Runtime:
        if self._runtime is None:
            raise gymnasium.error.ClosedEnvironmentError("this environment is closed")
        return self._runtime
