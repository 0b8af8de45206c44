"""Dialects that answer `Thought: …`, `Action: function(argument='value')`: the code they share, their data apart.

A step whose action the family cannot say (a command run in the terminal, a gesture, a triple click) stands in the
history as a turn of words, `Thought: …` and `Action_Summary: …`, with points in the family's own grid. It is no
call, so that no model learns to write one that its grammar lacks.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vocabulary.actions import Action, Point
from vocabulary.calls import Unreadable, write_call
from vocabulary.conversations import conversation, plain
from vocabulary.descriptions import describe
from vocabulary.dialect import ChatMessage, Parsed, Screen, Unparsed
from vocabulary.functions import read_action
from vocabulary.grids import to_grid
from vocabulary.observations import Observation, Platform
from vocabulary.replies import split_reply, write_reply
from vocabulary.steps import Step
from vocabulary.styles import Style, write_action
from vocabulary.tasks import Task
from vocabulary.tools import Tool

MOST_TOOLS, LONGEST_SCHEMA, LONGEST_DESCRIPTION = 64, 2_000, 500
"""How much a prompt tells of tools: how many, and characters of each."""


@dataclass(frozen=True)
class Grammar:
    """What one family may say on one platform: the prompt's line for each kind of action."""

    opening: str
    """Who the model is and what it is given."""
    lines: Mapping[str, str]


@dataclass(frozen=True)
class ThoughtActionDialect:
    """A dialect of this shape; see `vocabulary.dialect.Dialect` for what each method promises."""

    name: str
    style: Style
    grammars: Mapping[Platform, Grammar]
    frame: str
    """The prompt, with {opening}, {actions}, {language} and {instruction} to be filled in."""
    instead: Mapping[str, Callable[[Any], Action]] = field(default_factory=dict)
    """Kinds this family says by another kind that means the same."""
    kinds: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        said = frozenset(kind for grammar in self.grammars.values() for kind in grammar.lines)
        object.__setattr__(self, "kinds", said)

    def render(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        images: int = 5,
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
        return conversation(prompt, steps, observation, images=images, turn=lambda step: self._turn(step, language))

    def write(self, thought: str, action: Action, screen: Screen) -> str:
        """One assistant turn. Raises ValueError for a kind outside `kinds`."""
        if action.kind not in self.kinds:
            raise ValueError(f"{self.name} cannot say {action.kind}")
        return write_reply(thought, write_call(write_action(action, screen, self.style)))

    def parse(self, text: str, screen: Screen) -> Parsed | Unparsed:
        """Read a reply; never raises."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        thought, action_text, calls = split_reply(text)
        try:
            if isinstance(calls, Unreadable):
                raise calls
            if len(calls) > 1:
                raise Unreadable("several_actions", f"The reply holds {len(calls)} actions; one is expected.")
            action = read_action(calls[0], screen, self.style.grid)
        except Unreadable as unreadable:
            return Unparsed(thought=thought, action_text=action_text, error=unreadable.error)
        return Parsed(thought=thought, action=action, action_text=action_text)

    def sayable(self, action: Action) -> Action | None:
        """The action as this family says it, None where it cannot."""
        if action.kind in self.kinds:
            return action
        other = self.instead.get(action.kind)
        return other(action) if other else None

    def _turn(self, step: Step, language: str) -> str:
        """A step as the assistant's own turn, in the grid of the screen it acted on."""
        screen = Screen.of(step.before)
        said = self.sayable(step.action)
        if said is not None:
            return self.write(step.thought, said, screen)

        def in_grid(pixel: Point) -> str:
            return "({}, {})".format(*to_grid(pixel, screen, self.style.grid(screen)))

        summary = describe(step.action, "zh" if language == "Chinese" else "en", point=in_grid)
        return f"Thought: {step.thought}\nAction_Summary: {summary}"


def _tool_line(tool: Tool) -> str:
    """A tool as the prompt tells of it: its name, the JSON Schema of its arguments, and what it does."""
    arguments = json.dumps(tool.parameters.get("properties", {}), ensure_ascii=False)
    description = " ".join(tool.description.split())
    return plain(f"- {tool.name} {arguments[:LONGEST_SCHEMA]}: {description[:LONGEST_DESCRIPTION]}")
