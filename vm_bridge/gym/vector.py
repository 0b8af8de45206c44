"""Several machines at once: their acts are done together, over all browser processes."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from vm_bridge.gym.acts import Given, act_of
from vm_bridge.gym.choice import Choice
from vm_bridge.gym.env import SEEDS
from vm_bridge.gym.player import Player, Turn
from vm_bridge.gym.runtime import Runtime, acquire, release
from vocabulary.tasks import Language

Pictures = NDArray[np.uint8]
Flags = NDArray[np.bool_]


class BrowserVectorEnv(VectorEnv[Pictures, Any, Any]):
    """One task in several episodes, each with its own seed. An episode that ended is begun anew by the next step, whose
    act is not looked at (Gymnasium's NEXT_STEP)."""

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
        self._choice = Choice(suite, task, level, language, size, clock)
        self.single_observation_space, self.single_action_space = self._choice.spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._runtime: Runtime | None = acquire(engines)
        self._players = [Player(self._runtime) for _ in range(num_envs)]
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Pictures, dict[str, Any]]:
        """A single seed is that of the first episode; the others get those after it."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._choice = self._choice.changed(options)
        seeds = self._seeds(seed)
        turns = self._together(self._begun(player, one) for player, one in zip(self._players, seeds, strict=True))
        self._over[:] = False
        return self._pictures(turns), self._infos(turns)

    def step(self, actions: Any) -> tuple[Pictures, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """An act for each episode: a batch of the action space, or as many acts in the vocabulary's words."""
        acts = actions if isinstance(actions, list | tuple) else tuple(iterate(self.action_space, actions))
        turns = self._together(
            self._turn(number, player, act)
            for number, (player, act) in enumerate(zip(self._players, acts, strict=True))
        )
        rewards = np.array([turn.reward for turn in turns], np.float64)
        terminated = np.array([turn.terminated for turn in turns], np.bool_)
        truncated = np.array([turn.truncated for turn in turns], np.bool_)
        self._over = terminated | truncated
        return self._pictures(turns), rewards, terminated, truncated, self._infos(turns)

    def close_extras(self, **kwargs: Any) -> None:
        """Give the machines up."""
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.call(_all(player.close() for player in self._players))
            release(runtime)

    def _turn(self, number: int, player: Player, act: Given) -> Coroutine[Any, Any, Turn]:
        if self._over[number]:
            return self._begun(player, int(self.np_random.integers(SEEDS)))
        return player.step(act_of(act))

    def _begun(self, player: Player, seed: int) -> Coroutine[Any, Any, Turn]:
        return player.reset(self._choice.task(seed))

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int]:
        given = [seed + number for number in range(self.num_envs)] if isinstance(seed, int) else seed
        return [int(self.np_random.integers(SEEDS)) if one is None else one for one in given or [None] * self.num_envs]

    def _together(self, work: Iterable[Coroutine[Any, Any, Turn]]) -> list[Turn]:
        if self._runtime is None:
            raise gymnasium.error.ClosedEnvironmentError("these environments are closed")
        return self._runtime.call(_all(work))

    def _pictures(self, turns: Sequence[Turn]) -> Pictures:
        return np.stack([turn.picture for turn in turns])

    def _infos(self, turns: Sequence[Turn]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for number, turn in enumerate(turns):
            infos = self._add_info(infos, turn.info, number)
        return infos


async def _all(work: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
    return list(await asyncio.gather(*work))
