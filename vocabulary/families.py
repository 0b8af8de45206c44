"""A dialect as data: what one family may say on each platform, in which frame, and how its turns are written.

What families share is here: the prompt, the history, and what becomes of a step that cannot be said. How one turn
looks is a `Writing`: `vocabulary.thought_action` has the one most UI-TARS models use, other dialects bring their own.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from vocabulary.actions import Action, NoAction, Point
from vocabulary.calls import Unreadable
from vocabulary.conversations import conversation, plain, shortened
from vocabulary.descriptions import describe
from vocabulary.dialect import ChatMessage, Parsed, Screen, Unparsed
from vocabulary.episodic import Memory
from vocabulary.grids import Grid, thousandths, to_grid
from vocabulary.observations import Observation, Platform
from vocabulary.proposals import ImageLimits
from vocabulary.resize import MAX_PIXELS, MIN_PIXELS
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.tools import Tool

MOST_TOOLS, LONGEST_SCHEMA, LONGEST_DESCRIPTION = 64, 2_000, 500
"""How much a prompt tells of tools: how many, and characters of each."""
QWEN_LIMITS = ImageLimits(min_pixels=MIN_PIXELS, max_pixels=MAX_PIXELS)
"""Those of UI-TARS 1.5, which its coordinates presuppose."""


@dataclass(frozen=True)
class Grammar:
    """What one family may say on one platform: the prompt's line for each kind of action."""

    opening: str
    """Who the model is and what it is given."""
    lines: Mapping[str, str]


@dataclass(frozen=True)
class Reading:
    """A reply taken apart: its thought, the text of its action, and the action or why there is none."""

    thought: str
    text: str
    action: Action | Unreadable


class Writing(Protocol):
    """How one family writes a turn."""

    @property
    def grid(self) -> Grid:
        """Where its coordinates lie."""
        ...

    def write(self, thought: str, action: Action, screen: Screen) -> str:
        """One assistant turn."""
        ...

    def tell(self, thought: str, summary: str) -> str:
        """A turn whose action the family cannot say, told in words; it reads as no action."""
        ...

    def read(self, text: str, screen: Screen) -> Reading:
        """Take a reply apart; never raises."""
        ...


@dataclass(frozen=True)
class FamilyDialect:
    """A dialect of this shape; see `vocabulary.dialect.Dialect` for what each method promises."""

    name: str
    writing: Writing
    grammars: Mapping[Platform, Grammar]
    frame: str
    """The prompt, with {opening}, {actions}, {language} and {instruction} to be filled in."""
    instead: Mapping[str, Callable[[Any], Action]] = field(default_factory=dict)
    """Kinds this family says by another kind that means the same."""
    limits: ImageLimits = QWEN_LIMITS
    kinds: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        said = frozenset(kind for grammar in self.grammars.values() for kind in grammar.lines)
        object.__setattr__(self, "kinds", said)

    @property
    def absolute(self) -> bool:
        """Whether it names pixels of the scaled picture."""
        return self.writing.grid is not thousandths

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
    ) -> tuple[ChatMessage, ...]:
        """The conversation that asks for the next action."""
        grammar = self.grammars[task.platform]
        offered = {kind for kind in grammar.lines if kinds is None or kind in kinds}
        if not tools:
            offered.discard("call_tool")
        lines = [line for kind, line in grammar.lines.items() if kind in offered]
        callable_tools = tools if "call_tool" in offered else ()
        prompt = self.frame.format(
            opening=grammar.opening,
            actions="\n".join([*lines, *map(_tool_line, callable_tools[:MOST_TOOLS])]),
            language=language,
            instruction=plain(task.instruction),
        )
        return conversation(
            prompt,
            steps,
            observation,
            images=images,
            stride=min(stride, images),
            earlier=earlier,
            memories=memories,
            turn=lambda step: self._turn(step, language),
        )

    def write(self, thought: str, action: Action, screen: Screen) -> str:
        """One assistant turn. Raises ValueError for a kind outside `kinds`."""
        if action.kind not in self.kinds:
            raise ValueError(f"{self.name} cannot say {action.kind}")
        return self.writing.write(thought, action, screen)

    def parse(self, text: str, screen: Screen) -> Parsed | Unparsed:
        """Read a reply; never raises."""
        reading = self.writing.read(text.encode("utf-8", "replace").decode("utf-8"), screen)
        if isinstance(reading.action, Unreadable):
            return Unparsed(thought=reading.thought, action_text=reading.text, error=reading.action.error)
        return Parsed(thought=reading.thought, action=reading.action, action_text=reading.text)

    def sayable(self, action: Action) -> Action | None:
        """The action as this family says it, None where it cannot."""
        if action.kind in self.kinds:
            return action
        other = self.instead.get(action.kind)
        return other(action) if other else None

    def _turn(self, step: Step, language: str) -> str:
        """A step as the assistant's own turn, in the grid of the screen it acted on; what was no action, as it was
        said."""
        if isinstance(step.action, NoAction):
            return shortened(plain(step.action.said))
        screen = Screen.of(step.before)
        said = self.sayable(step.action)
        if said is not None:
            return self.write(step.thought, said, screen)

        def in_grid(pixel: Point) -> str:
            return "({}, {})".format(*to_grid(pixel, screen, self.writing.grid(screen)))

        summary = describe(step.action, "zh" if language == "Chinese" else "en", point=in_grid)
        return self.writing.tell(step.thought, summary)


def _tool_line(tool: Tool) -> str:
    """A tool as the prompt tells of it: its name, the JSON Schema of its arguments, and what it does."""
    arguments = json.dumps(tool.parameters.get("properties", {}), ensure_ascii=False)
    description = " ".join(tool.description.split())
    return plain(f"- {tool.name} {arguments[:LONGEST_SCHEMA]}: {description[:LONGEST_DESCRIPTION]}")
