"""A drawn screen as the serving side asks about it: the dialect's own conversation, with what was done before."""

from collections.abc import Iterable
from datetime import UTC, datetime

from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, Dialect, ScreenSize
from protocol.dialects.families import get_dialect
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from trainer.nano.synthetic.instructions import format_thought

NAME = "ui_tars_1_5"
KINDS = frozenset(
    {"click", "double_click", "right_click", "drag", "press_keys", "type_text", "scroll", "wait", "finish"}
)
"""What a browser of the bundled suites can do of it, among other things."""


def nano_dialect() -> Dialect:
    """The one it speaks."""
    return get_dialect(NAME)


def build_conversation(
    instruction: str, size: tuple[int, int], *, steps: tuple[Step, ...] = (), kinds: frozenset[str] | None = KINDS
) -> tuple[ChatMessage, ...]:
    """What is asked on a screen of this size; its picture stands for itself."""
    task = Task(id="", instruction=instruction, platform="browser")
    return nano_dialect().render(task, steps, _observed(size), images=1, kinds=kinds)


def format_reply(action: Action, size: tuple[int, int]) -> str:
    """A turn that does it."""
    return nano_dialect().write(format_thought(action, size), action, ScreenSize(width=size[0], height=size[1]))


def build_steps(actions: Iterable[Action], size: tuple[int, int]) -> tuple[Step, ...]:
    """These, done one after another."""
    seen = _observed(size)
    return tuple(
        Step(
            index=number,
            command_id=str(number),
            actor="policy",
            decision="auto",
            thought=format_thought(action, size),
            action=action,
            before=seen,
            after=seen,
            started_at=seen.captured_at,
            ended_at=seen.captured_at,
        )
        for number, action in enumerate(actions)
    )


def _observed(size: tuple[int, int]) -> Observation:
    width, height = size
    return Observation(
        screenshot=BlobRef.of(b"", "image/png"),
        width=width,
        height=height,
        captured_at=datetime.fromtimestamp(0, UTC),
        settled=True,
        rest="rested",
        settle_ms=0,
    )
