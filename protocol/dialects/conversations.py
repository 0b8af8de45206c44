"""The conversation a model reads: the task, what was done so far, and the screens it may look at.

The last screenshots are included, each followed by its action. Older steps are assistant turns of text alone. Special
tokens in text that comes from outside (a task, a tool's output) are broken up, so that it cannot close a turn.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Literal

from protocol.actions.types import Zoom
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import ActionError, BrowserPage, Observation
from protocol.trajectory.steps import Step

MAX_OUTPUT_CHARACTERS = 4_000
"""Longest text output of an act that is shown (characters); the middle of a longer one is left out."""

MAX_EVENTS = 8
"""Maximum browser events that are listed."""

UNKNOWN_OUTCOME_NOTE = "It is not known whether the last action was done; look at the screen before you repeat it"

MessageCache = dict[tuple[int, ...], ChatMessage]
"""Messages about steps, by the identities of what they are about."""
_MESSAGE_CACHE: ContextVar[MessageCache | None] = ContextVar("messages", default=None)
"""Those that were written already."""

_SPECIAL_TOKEN = re.compile(r"<\|(\w+)\|>")


@contextmanager
def cache_messages(messages: MessageCache) -> Iterator[None]:
    """Write each message about a step once, for conversations about the same steps that are rendered one after another.

    Args:
        messages: What was written so far; for one dialect and language, while the steps are alive.
    """
    token = _MESSAGE_CACHE.set(messages)
    try:
        yield
    finally:
        _MESSAGE_CACHE.reset(token)


def break_special_tokens(text: str) -> str:
    """Text from outside, its special tokens broken up."""
    return _SPECIAL_TOKEN.sub(r"< |\1| >", text)


def truncate_middle(text: str) -> str:
    """Text without its middle, where it is too long."""
    half = MAX_OUTPUT_CHARACTERS // 2
    return text if len(text) <= MAX_OUTPUT_CHARACTERS else f"{text[:half]}\n…\n{text[-half:]}"


def build_conversation(
    prompt: str,
    replies: tuple[tuple[Step, ...], ...],
    observation: Observation,
    *,
    images: int,
    stride: int = 1,
    earlier: int = 0,
    memories: tuple[Memory, ...] = (),
    task: tuple[str, ...] = (),
    turn: Callable[[tuple[Step, ...]], str],
) -> tuple[ChatMessage, ...]:
    """The prompt, the steps as the assistant's own turns, the last `images` screens and the present one among them.

    Where `task` is given, the prompt is the system's and the task the user's first message; two texts of it stand
    before and after the first screen.
    Each of `replies` is a turn: one step, or the steps that did several actions of one reply. A part of the screen that
    the last step asked for stands before the present screen, in place of an older one.
    Raises ValueError for fewer than one image.
    """
    if images < 1:
        raise ValueError("a conversation shows at least the present screen")
    part = _zoomed_screen(replies, images)
    first_screen = count_unseen(replies, images=images, stride=stride, earlier=earlier)
    has_task = any(task)
    messages = [_message("system" if has_task else "user", TextPart(text=prompt))]
    if len(task) == 1 and has_task:
        messages.append(_message("user", TextPart(text=task[0])))
    if memories:
        notes = "\n\n".join(break_special_tokens(memory.text) for memory in memories)
        messages.append(_message("user", TextPart(text=f"Your notes on earlier steps:\n{notes}")))
    for index, steps in enumerate(replies):
        if index >= first_screen:
            messages.append(_cached_observation_message(steps[0].before, replies[index - 1] if index else ()))
        elif steps[0].before.page is not None and steps[0].before.page.description:
            messages.append(_message("user", TextPart(text=describe_page(steps[0].before.page))))
        messages.append(_cached_message(tuple(map(id, steps)), partial(_assistant_message, turn, steps)))
    last = _cached_observation_message(observation, replies[-1] if replies else ())
    messages.append(last if part is None else _prepend_zoomed_image(last, part))
    if len(task) > 1:
        _surround_first_screen(messages, task[0], task[1])
    return tuple(messages)


def count_unseen(replies: tuple[tuple[Step, ...], ...], *, images: int, stride: int = 1, earlier: int = 0) -> int:
    """How many of `replies`, the oldest, stand without their screen: screens leave `stride` at a time, counted from the
    episode's beginning."""
    images -= _zoomed_screen(replies, images) is not None
    begin = max(earlier + len(replies) - images + 1, 0)
    return max(-(-begin // stride) * stride - earlier, 0)


def _surround_first_screen(messages: list[ChatMessage], before: str, after: str) -> None:
    """Put the task into the message of the first screen that is shown."""
    place = next(
        number
        for number, message in enumerate(messages)
        if number == len(messages) - 1 or any(isinstance(part, ImagePart) for part in message.content)
    )
    texts = [(TextPart(text=text),) if text else () for text in (before, after)]
    messages[place] = _message("user", *texts[0], *messages[place].content, *texts[1])


def _zoomed_screen(replies: tuple[tuple[Step, ...], ...], images: int) -> BlobRef | None:
    """The part of the screen that the last step asked for, where there is room for it."""
    if not replies or images < 2:
        return None
    step = replies[-1][-1]
    return step.after.attachment if isinstance(step.action, Zoom) and step.after is not None else None


def _prepend_zoomed_image(look: ChatMessage, part: BlobRef) -> ChatMessage:
    return _message(
        "user", TextPart(text="The part you asked for, and the whole screen:"), ImagePart(image=part), *look.content
    )


def _message(role: Literal["system", "user", "assistant"], *parts: TextPart | ImagePart) -> ChatMessage:
    return ChatMessage.model_construct(role=role, content=parts)  # valid parts: checking them again takes most time


def _cached_message(key: tuple[int, ...], make: Callable[[], ChatMessage]) -> ChatMessage:
    cache = _MESSAGE_CACHE.get()
    if cache is None:
        return make()
    if key not in cache:
        cache[key] = make()
    return cache[key]


def _assistant_message(turn: Callable[[tuple[Step, ...]], str], steps: tuple[Step, ...]) -> ChatMessage:
    return _message("assistant", TextPart(text=turn(steps)))


def _cached_observation_message(observation: Observation, reply: tuple[Step, ...]) -> ChatMessage:
    key = (-1, id(observation), *map(id, reply))
    return _cached_message(key, partial(_observation_message, observation, reply))


def _observation_message(observation: Observation, reply: tuple[Step, ...]) -> ChatMessage:
    """What the user shows: what came of the last reply, where there is more than a picture, and the screen."""
    notes = [note for number, step in enumerate(reply[:-1], 1) for note in _output_notes(step, f"action {number}")]
    last = reply[-1] if reply else None
    notes += [] if last is None else _result_notes(last)
    last_output = last is not None and last.after is not None and last.after.text
    if observation.screenshot is None and observation.text and observation.text != last_output:
        notes.append(f"The terminal shows:\n{truncate_middle(break_special_tokens(observation.text))}")
    if observation.page is not None:
        notes += _page_notes(observation.page)
    parts: list[TextPart | ImagePart] = [TextPart(text="\n".join(notes))] if notes else []
    if observation.screenshot is not None:
        parts.append(ImagePart(image=observation.screenshot))
    return _message("user", *(parts or [TextPart(text="There is nothing to see.")]))


def _error_words(error: ActionError) -> str:
    """What came of an act that has an error. One whose outcome is unknown may have been done: a policy that reads of a
    failure does it again."""
    return UNKNOWN_OUTCOME_NOTE if error.code == "outcome_unknown" else "The last action failed"


def _result_notes(step: Step) -> list[str]:
    notes = []
    if step.error is not None:
        notes.append(f"{_error_words(step.error)}: {break_special_tokens(step.error.message)}")
    if step.not_done:
        some = (
            f"{len(step.not_done)} actions of your reply were" if len(step.not_done) > 1 else "action of your reply was"
        )
        notes.append(f"The last {some} not done.")
    return notes + _output_notes(step, "the last action")


def _output_notes(step: Step, action: str) -> list[str]:
    text = step.after.text if step.after is not None else ""
    return [f"Output of {action}:\n{truncate_middle(break_special_tokens(text))}"] if text else []


def describe_page(page: BrowserPage) -> str:
    """A page's description of its screen, for a prompt."""
    return f"The screen in words:\n{truncate_middle(break_special_tokens(page.description or ''))}"


def _page_notes(page: BrowserPage) -> list[str]:
    """What a picture of a browser's page does not show: what happened by itself, and which other pages are open."""
    notes = [f"The browser reports: {break_special_tokens(event.text)}" for event in page.events[-MAX_EVENTS:]]
    if page.description:
        notes.append(describe_page(page))
    if len(page.tabs) > 1:
        tabs = (
            f"{tab.id}{' (in front)' if tab.active else ''}: {break_special_tokens(tab.title or tab.url)}"
            for tab in page.tabs
        )
        notes.append(truncate_middle("Open pages:\n" + "\n".join(tabs)))
    if page.chooser is not None:
        few = "files" if page.chooser.several else "one file"
        files = ", ".join(f"{break_special_tokens(file.name)} ({file.size} bytes)" for file in page.chooser.files)
        notes.append(truncate_middle(f"The page asks for {few}. It may have: {files or 'nothing, there is no file'}"))
    return notes
