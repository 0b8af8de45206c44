"""A smaller action space, for learners that begin from nothing."""

from typing import Any

import gymnasium
from gymnasium import spaces

from protocol.actions.types import Click
from vm_bridge.gym.actions import ActionInput
from vm_bridge.gym.runner import Image


class GridClicks(gymnasium.ActionWrapper[Image, int, ActionInput]):
    """One click on the middle of one of `columns` x `rows` fields of the screen."""

    def __init__(self, env: gymnasium.Env[Image, ActionInput], columns: int = 16, rows: int = 12) -> None:
        super().__init__(env)
        self._columns, self._rows = columns, rows
        shape: Any = env.observation_space.shape
        self._height, self._width = int(shape[0]), int(shape[1])
        self.action_space: Any = spaces.Discrete(columns * rows)

    def action(self, action: int) -> ActionInput:
        """Fields are counted along the rows."""
        row, column = divmod(int(action), self._columns)
        return Click(
            x=int((column + 0.5) * self._width / self._columns), y=int((row + 0.5) * self._height / self._rows)
        )
