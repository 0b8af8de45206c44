"""Tracks which keys and buttons are down, as the inputs that release them."""

from collections.abc import Sequence

from protocol.actions.types import CONTROL_KINDS, Gesture, InputEvent, MouseDown, MouseUp, NoAction, Press, Release
from protocol.trajectory.steps import Step, drop_undone_steps


class HeldInputs:
    """The keys and buttons that inputs hold down, in the order of the inputs."""

    def __init__(self) -> None:
        self._buttons: list[MouseUp] = []
        self._keys: list[Release] = []

    @property
    def releases(self) -> tuple[InputEvent, ...]:
        """The inputs that release everything, the latest first; buttons before keys."""
        return (*reversed(self._buttons), *reversed(self._keys))

    def note(self, event: object) -> None:
        """Track one input; other actions hold nothing."""
        match event:
            case MouseDown(button=button):
                self._buttons.append(MouseUp(button=button))
            case MouseUp(button=button):
                self._buttons = [held for held in self._buttons if held.button != button]
            case Press(key=key):
                self._keys.append(Release(key=key))
            case Release(key=key):
                self._keys = [held for held in self._keys if held.key != key]

    def clear(self) -> None:
        """Forget everything: all inputs were released."""
        self._buttons, self._keys = [], []


def held_after(steps: Sequence[Step]) -> HeldInputs:
    """What single actions hold down after these steps. A takeover or a failed action releases everything."""
    holds = HeldInputs()
    for step in drop_undone_steps(tuple(steps)):
        if isinstance(step.action, NoAction) or step.action.kind in CONTROL_KINDS:
            continue
        if isinstance(step.action, Gesture) or (step.error is not None and step.after is not None):
            holds.clear()
        else:
            holds.note(step.action)
    return holds
