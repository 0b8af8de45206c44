"""A drawn screen as the serving side asks about it: the dialect's own conversation, with what was done before."""

from datetime import UTC, datetime

from trainer.nano.sentences import thought
from vocabulary.actions import Click
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, Dialect, Screen
from vocabulary.dialects import dialect_named
from vocabulary.observations import Observation
from vocabulary.steps import Step
from vocabulary.tasks import Task

NAME = "ui_tars_1_5"
KINDS = frozenset(
    {"click", "double_click", "right_click", "drag", "press_keys", "type_text", "scroll", "wait", "finish"}
)
"""What a browser of the bundled suites can do of it, among other things."""


def dialect() -> Dialect:
    """The one it speaks."""
    return dialect_named(NAME)


def conversation(
    instruction: str, size: tuple[int, int], *, steps: tuple[Step, ...] = (), kinds: frozenset[str] | None = KINDS
) -> tuple[ChatMessage, ...]:
    """What is asked on a screen of this size; its picture stands for itself."""
    task = Task(id="", instruction=instruction, platform="browser")
    return dialect().render(task, steps, _observed(size), images=1, kinds=kinds)


def clicking(point: tuple[float, float], size: tuple[int, int]) -> str:
    """A turn that clicks."""
    x, y = map(round, point)
    click = Click(x=x, y=y)
    return dialect().write(thought(click, size), click, Screen(width=size[0], height=size[1]))


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
