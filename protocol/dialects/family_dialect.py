"""A dialect as data: a family's actions on each platform, its reply frame, and its turns.

What families share is here: the prompt, the history, and what becomes of a step that cannot be written. A `TurnCodec`
says how one turn looks: `protocol.dialects.thought_action` has the one most UI-TARS models use, other dialects bring
their own.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol, Self, runtime_checkable

from protocol.actions.descriptions import describe_action
from protocol.actions.tools import Tool
from protocol.actions.types import CONTROL_KINDS, Action, NoAction, Point
from protocol.dialects.conversations import break_special_tokens, build_conversation, count_unseen, truncate_middle
from protocol.dialects.coordinates import MAX_PIXELS, MIN_PIXELS, CoordinateGrid, pixel_to_grid, thousandths_grid
from protocol.dialects.dialect import ChatMessage, ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.reply_wrappers import NAMED_CALL
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation, Platform
from protocol.trajectory.proposals import ImageLimits, ParseError
from protocol.trajectory.steps import Step, actions_of_reply, group_by_reply, is_later_of_reply
from protocol.trajectory.tasks import Task

MAX_TOOLS, MAX_SCHEMA_CHARACTERS, MAX_DESCRIPTION_CHARACTERS = 64, 2_000, 500
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
class ParsedTurn:
    """A reply taken apart: its thought, the text of its action, and the action or why there is none."""

    thought: str
    text: str
    action: Action | ReplyParseError
    further_actions: tuple[Action, ...] = ()
    """Actions after the first, if the reply may have several."""


class TurnCodec(Protocol):
    """How one family writes a turn."""

    @property
    def grid(self) -> CoordinateGrid:
        """Where its coordinates lie."""
        ...

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        """One assistant turn."""
        ...

    def write_summary(self, thought: str, summary: str) -> str:
        """A turn in words for an action that the family cannot express; it parses as no action."""
        ...

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Take a reply apart; never raises."""
        ...


@runtime_checkable
class BatchCodec(Protocol):
    """A `TurnCodec` whose grammar can say several actions in one turn."""

    batch_hint: str
    """The prompt's sentence that allows it, with {count} for the most actions."""

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Take a reply with several actions apart; never raises. Several turns are refused (`several_actions`)."""
        ...

    def write_batch(self, thought: str, actions: tuple[Action, ...], screen: ScreenSize) -> str:
        """One assistant turn with several actions; `read_batch` gives them back."""
        ...


@dataclass(frozen=True)
class FamilyDialect:
    """A dialect of this shape; see `protocol.dialects.dialect.Dialect` for what each method promises."""

    name: str
    codec: TurnCodec
    grammars: Mapping[Platform, Grammar]
    template: PromptTemplate
    """Its prompt; another one is `with_template`."""
    substitutes: Mapping[str, Callable[[Any], Action]] = field(default_factory=dict)
    """Kinds this family says by another kind that means the same."""
    limits: ImageLimits = QWEN_LIMITS
    kinds: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        said = frozenset(kind for grammar in self.grammars.values() for kind in grammar.lines)
        object.__setattr__(self, "kinds", said)

    @property
    def absolute(self) -> bool:
        """Whether it names pixels of the scaled picture."""
        return self.codec.grid is not thousandths_grid

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

        `Dialect.render` explains `images`, `stride`, `earlier` and `max_actions`.
        """
        grammar = self.grammars[task.platform]
        offered = {kind for kind in grammar.lines if kinds is None or kind in kinds}
        if not tools:
            offered.discard("call_tool")
        lines = [line for kind, line in grammar.lines.items() if kind in offered]
        callable_tools = tools if "call_tool" in offered else ()
        hints: list[str] = []
        if max_actions > 1 and isinstance(self.codec, BatchCodec):
            hints.append(self.codec.batch_hint.format(count=max_actions))
        replies = self._replies(steps)
        stride = min(stride, images)
        older = count_unseen(replies, images=images, stride=stride, earlier=earlier) if self.template.lists_steps else 0
        columns_and_rows = cache(lambda: self.codec.grid(ScreenSize.of(observation)))
        prompt, first_message = self.template.fill(
            {
                "opening": lambda: grammar.opening,
                "actions": lambda: "\n".join(
                    [*filter(None, lines), *map(_tool_line, callable_tools[:MAX_TOOLS]), *hints]
                ),
                "language": lambda: language,
                "instruction": lambda: break_special_tokens(task.instruction),
                "width": lambda: str(columns_and_rows()[0]),
                "height": lambda: str(columns_and_rows()[1]),
                "steps": lambda: self._list_steps(replies[:older], earlier, language),
            }
        )
        return build_conversation(
            prompt,
            replies[older:],
            observation,
            images=images,
            stride=stride,
            earlier=earlier + older,
            memories=memories,
            task=first_message,
            turn=lambda reply: self._turn(reply, language),
        )

    def with_template(self, template: PromptTemplate | None) -> Self:
        """The same dialect with another prompt; None: with its own."""
        return self if template is None else replace(self, template=template)

    def _list_steps(self, replies: tuple[tuple[Step, ...], ...], earlier: int, language: str) -> str:
        """Steps as a list of sentences: the thought of each, or what it did; "None" where there is none."""
        lines = []
        for number, reply in enumerate(replies, earlier + 1):
            words = " ".join(reply[0].thought.split())
            said = words or "; ".join(self._describe(step, language) for step in reply)
            lines.append(f"Step {number}: {truncate_middle(break_special_tokens(said))}")
        return "\n".join(lines) or "None"

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        """One assistant turn. Raises ValueError for a kind outside `kinds`."""
        if action.kind not in self.kinds:
            raise ValueError(f"{self.name} cannot say {action.kind}")
        return self.codec.write(thought, action, screen)

    def parse(
        self,
        text: str,
        screen: ScreenSize,
        *,
        reasoning: str = "",
        finish_reason: str | None = None,
        max_actions: int = 1,
    ) -> ParsedReply | UnparsedReply:
        """Read a reply that may hold `max_actions` actions; never raises. See `Dialect.parse`."""
        text, reasoning = _without_surrogates(text), _without_surrogates(reasoning).strip()
        reading = self._read(text, screen, max_actions)
        thought = "\n".join(filter(None, (reasoning, reading.thought))) if reasoning else reading.thought
        error = _truncation_error(finish_reason, self._error_with_hint(reading, text, reasoning))
        if error is not None:
            return UnparsedReply(thought=thought, action_text=reading.text, error=error)
        assert not isinstance(reading.action, ReplyParseError)
        return ParsedReply(
            thought=thought,
            action=reading.action,
            action_text=reading.text,
            further_actions=reading.further_actions,
        )

    def _read(self, text: str, screen: ScreenSize, max_actions: int) -> ParsedTurn:
        """A reply as one action, or as several where it holds more and may."""
        reading = self.codec.read(text, screen)
        is_one = not isinstance(reading.action, ReplyParseError) or reading.action.error.code != "several_actions"
        if is_one or max_actions < 2 or not isinstance(self.codec, BatchCodec):
            return reading
        batch = self.codec.read_batch(text, screen)
        if isinstance(batch.action, ReplyParseError):
            return batch
        actions = (batch.action, *batch.further_actions)
        if len(actions) > max_actions:
            return replace(batch, action=several_actions_error(f"{len(actions)}, and {max_actions} are allowed"))
        if any(action.kind in CONTROL_KINDS for action in actions[:-1]):
            return replace(batch, action=several_actions_error("an action follows the one that ends the turn"))
        return batch

    def _error_with_hint(self, reading: ParsedTurn, text: str, reasoning: str) -> ParseError | None:
        """Why a reading is no action, with what would help; None where it is one."""
        if not isinstance(reading.action, ReplyParseError):
            return None
        error = reading.action.error
        hint = ""
        if error.code == "no_action" and reasoning and not text.strip():
            hint = (
                "The server sent reasoning and no content: let the model write more tokens, or start the server "
                "without its reasoning parser."
            )
        elif error.code in ("no_action", "unknown_action", "unfinished_call"):
            fitting = [name for name, form in _REPLY_PATTERNS if name != self.name and form.search(text)]
            if fitting and not _REPLY_PATTERN_BY_DIALECT.get(self.name, _REPLY_PATTERNS[-1][1]).search(text):
                hint = f"It looks like a reply of the dialect {fitting[0]}."
        return error.model_copy(update={"message": f"{error.message} {hint}"}) if hint else error

    def supported_form(self, action: Action) -> Action | None:
        """The action as this family says it, None where it cannot."""
        if action.kind in self.kinds:
            return action
        other = self.substitutes.get(action.kind)
        return other(action) if other else None

    def _replies(self, steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], ...]:
        """The steps by the turns that tell of them: those of one reply share one, where the family can say them."""
        if not isinstance(self.codec, BatchCodec) or not any(map(is_later_of_reply, steps)):
            return tuple((step,) for step in steps)
        groups = group_by_reply(steps)
        return tuple(
            part
            for group in groups
            for part in ((group,) if self._can_say_all(group) else tuple((step,) for step in group))
        )

    def _can_say_all(self, group: tuple[Step, ...]) -> bool:
        return all(self.supported_form(action) is not None for action in actions_of_reply(group))

    def _turn(self, reply: tuple[Step, ...], language: str) -> str:
        """Steps of one reply as the assistant's own turn, in the grid of the screen it acted on; what was no action, as
        it was said."""
        if len(actions_of_reply(reply)) > 1 and isinstance(self.codec, BatchCodec) and self._can_say_all(reply):
            return self._batch_turn(reply)
        step = reply[0]
        if isinstance(step.action, NoAction):
            return truncate_middle(break_special_tokens(step.action.said))
        screen = ScreenSize.of(step.before)
        said = self.supported_form(step.action)
        if said is not None:
            return self.write(step.thought, said, screen)

        return self.codec.write_summary(step.thought, self._describe(step, language))

    def _describe(self, step: Step, language: str) -> str:
        """What a step did, in words, with its points as this family names them."""
        if isinstance(step.action, NoAction):
            return step.action.said
        screen = ScreenSize.of(step.before)

        def in_grid(pixel: Point) -> str:
            return "({}, {})".format(*pixel_to_grid(pixel, screen, self.codec.grid(screen)))

        return describe_action(step.action, "zh" if language == "Chinese" else "en", point=in_grid)

    def _batch_turn(self, reply: tuple[Step, ...]) -> str:
        """A turn with several actions: what was said, also where it was not done."""
        assert isinstance(self.codec, BatchCodec)
        return self.codec.write_batch(reply[0].thought, self._supported_actions(reply), ScreenSize.of(reply[0].before))

    def _supported_actions(self, reply: tuple[Step, ...]) -> tuple[Action, ...]:
        forms = map(self.supported_form, actions_of_reply(reply))
        return tuple(form for form in forms if form is not None)


_REPLY_PATTERNS = (
    ("ui_tars_2", re.compile(r"<function=\w+>|<seed:tool_call>")),
    ("opencua", re.compile(r"\b(?:pyautogui|computer|mobile|browser)\.[A-Za-z_]\w*\(")),
    ("json_calls", re.compile(r"\{\s*\"(?:thought|action|name|arguments)\"\s*:")),
    ("ui_tars_1_5", re.compile(rf"(?:Action\s*[:：]\s*)?{NAMED_CALL.pattern}")),
)
"""What replies look like that other dialects read; the first that fits is named."""
_REPLY_PATTERN_BY_DIALECT = dict(_REPLY_PATTERNS)
_FINISH_REASON_ALIASES = {
    **dict.fromkeys(("max_tokens", "max_length", "model_length"), "length"),
    **dict.fromkeys(("safety", "refusal", "recitation"), "content_filter"),
    **dict.fromkeys(("abort", "aborted", "cancelled", "error"), "cut"),
}
"""What other servers call the reasons below."""
_TRUNCATION_MESSAGES = {
    "length": "The reply was cut at the server's bound of tokens: raise max_tokens, or have the model think less.",
    "content_filter": "The server's content filter cut the reply. Do this step yourself, or ask a server without it.",
    "cut": "The connection to the model server ended before its reply did: ask again.",
}


def _truncation_error(finish_reason: str | None, error: ParseError | None) -> ParseError | None:
    """The refusal of a reply that did not come to its end, however it reads, with what is wrong with it besides; else
    the error it has."""
    reason = (finish_reason or "").lower()
    reason = _FINISH_REASON_ALIASES.get(reason, reason)
    message = _TRUNCATION_MESSAGES.get(reason)
    if message is None:
        return error
    if reason == "content_filter" or error is None:
        return ParseError(code="filtered" if reason == "content_filter" else "unfinished_call", message=message)
    return error.model_copy(update={"message": f"{message} {error.message}"})


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _tool_line(tool: Tool) -> str:
    """A tool as the prompt tells of it: its name, the JSON Schema of its arguments, and what it does."""
    arguments = json.dumps(tool.parameters.get("properties", {}), ensure_ascii=False)
    description = " ".join(tool.description.split())
    return break_special_tokens(
        f"- {tool.name} {arguments[:MAX_SCHEMA_CHARACTERS]}: {description[:MAX_DESCRIPTION_CHARACTERS]}"
    )
