"""The interface of every dialect: write a prompt, write an action, read a reply."""

from functools import lru_cache
from typing import Annotated, Literal, Protocol, Self

from pydantic import Field

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import ImageLimits, ParseError
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task


class ScreenSize(FrozenModel):
    """The size of the picture a model sees, in pixels."""

    width: int = Field(gt=0)
    height: int = Field(gt=0)

    @classmethod
    def of(cls, observation: Observation) -> "ScreenSize":
        """The size of an observation's picture; 1x1 where it has none."""
        return _screen_size(max(observation.width, 1), max(observation.height, 1))


@lru_cache(maxsize=256)
def _screen_size(width: int, height: int) -> ScreenSize:
    return ScreenSize(width=width, height=height)


class TextPart(FrozenModel):
    """Text of a chat message."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(FrozenModel):
    """A picture of a chat message, by digest; the sender fetches the bytes."""

    type: Literal["image"] = "image"
    image: BlobRef


class ChatMessage(FrozenModel):
    """One turn of the conversation a model reads."""

    role: Literal["system", "user", "assistant"]
    content: tuple[Annotated[TextPart | ImagePart, Field(discriminator="type")], ...]


class ParsedReply(FrozenModel):
    """A reply that is an action."""

    thought: str
    action: Action
    action_text: str
    further_actions: tuple[Action, ...] = ()
    """What the reply says to do after `action`, in order; only where several actions were allowed."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """All of them, in order."""
        return (self.action, *self.further_actions)


class UnparsedReply(FrozenModel):
    """A reply that is not: what could be read of it, and why not more."""

    thought: str
    action_text: str
    error: ParseError


class Dialect(Protocol):
    """How one model family writes screens and actions.

    Law, property-tested for every supported kind: `parse(write(thought, action, screen), screen)` gives back
    `thought` and `action` exactly wherever the model's grid can name the pixel (`protocol.dialects.coordinates`), the
    thought has no space around it, none of its lines begins like an action or a turn, and it holds no wrapper (thinking
    tags, fences, boxes, end-of-text tokens).
    """

    @property
    def name(self) -> str:
        """What `get_dialect` finds it by."""
        ...

    @property
    def kinds(self) -> frozenset[str]:
        """Action kinds this family can say."""
        ...

    @property
    def limits(self) -> ImageLimits:
        """The sizes its processor scales pictures to; the served one's must be these."""
        ...

    @property
    def absolute(self) -> bool:
        """Whether it names pixels of the scaled picture: a processor with other limits then shifts every point."""
        ...

    @property
    def template(self) -> PromptTemplate:
        """Its prompt."""
        ...

    def with_template(self, template: PromptTemplate | None) -> Self:
        """The same dialect with another prompt; None: with its own."""
        ...

    def render(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        images: int = 5,
        stride: int = 1,
        earlier: int = 0,
        memories: tuple[Memory, ...] = (),
        kinds: frozenset[str] | None = None,
        tools: tuple[Tool, ...] = (),
        language: str = "English",
        max_actions: int = 1,
    ) -> tuple[ChatMessage, ...]:
        """The conversation that asks for the next action.

        Args:
            task: The instruction, and the platform whose grammar is used.
            steps: Done so far, oldest first.
            observation: The present screen.
            images: The last screenshots that are shown in full, from 1; older steps are text.
            stride: How many screenshots leave the conversation at a time, so that prompts share a prefix.
            earlier: Steps before `steps`, which `memories` tell of; `stride` counts with them.
            memories: Notes on earlier steps.
            kinds: Kinds of action that are offered; None: all that the family has.
            tools: What `call_tool` may name.
            language: Of the thoughts, as the prompt names it.
            max_actions: How many actions a reply may hold; with more than 1 the prompt says so.
        """
        ...

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        """One assistant turn. Raises ValueError for a kind outside `kinds`."""
        ...

    def supported_form(self, action: Action) -> Action | None:
        """The action as this family says it: itself, one of another kind that means the same, or None."""
        ...

    def parse(
        self,
        text: str,
        screen: ScreenSize,
        *,
        reasoning: str = "",
        finish_reason: str | None = None,
        max_actions: int = 1,
    ) -> ParsedReply | UnparsedReply:
        """Read a reply; never raises, whatever the text.

        Args:
            text: What the server sent as the reply's content.
            screen: The size of the picture the model saw.
            reasoning: What the server sent apart from it as reasoning; it is the thought, and never an action.
            finish_reason: Why the server stopped. A reply that ended by `length`, `content_filter` or `cut` is
                refused, whatever it looks like.
            max_actions: How many actions a reply may hold. One with more is refused (`several_actions`), as is one
                of a family whose grammar has no way to say several.
        """
        ...
