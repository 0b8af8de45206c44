"""What a policy adds to a half-written reply: the request, and what is read of its answer."""

from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from agent_backend.errors import ContinuationUnsupported
from agent_backend.interfaces import Continuation
from agent_backend.policy.completions import CONTEXT_LENGTH_ERROR, RequestRejected
from agent_backend.policy.samples import Samples
from protocol.dialects.dialect import Dialect, ParsedReply, ScreenSize
from protocol.dialects.reply_prefixes import (
    ReplyPrefix,
    action_prefix,
    continued_text,
    continued_thought,
    text_of,
    thought_prefix,
)
from protocol.messages.events import ContinueText

MAX_TEXT_TOKENS = 48
"""Tokens of a continuation: a sentence or two, and what shows that they have ended."""
MAX_ACTION_TOKENS = 96
"""Tokens of a whole action."""
MIN_REPEATED_CHARACTERS = 12
"""A server that repeats so much of the prefix began its reply anew."""

Complete = Callable[[str, dict[str, JsonValue]], Awaitable[Samples]]
"""Sends the conversation with the beginning of a reply and these options. Raises PolicyError."""


async def continue_reply(
    dialect: Dialect, draft: ContinueText, screen: ScreenSize, kinds: frozenset[str], complete: Complete
) -> Continuation:
    """What the model adds to a draft. Raises PolicyError, and ContinuationUnsupported where the server refuses such a
    request or answers with a new reply."""
    thought = draft.thought.strip()
    if draft.part == "thought":
        typed, prefix = draft.thought, thought_prefix(dialect, thought, screen)
    else:
        typed = text_of(draft.action)[1] if draft.action is not None else ""
        prefix = action_prefix(dialect, thought, draft.action, screen, kinds)
    if prefix is None:
        return Continuation()
    max_tokens = MAX_TEXT_TOKENS if prefix.ending else MAX_ACTION_TOKENS
    generated, ended = await _generate(prefix, complete, max_tokens)
    reply = prefix.complete(generated, ended=ended)
    if draft.part == "thought":
        return Continuation(text=_fit(typed, continued_thought(dialect, reply, thought, screen)))
    if draft.action is not None:
        return Continuation(text=continued_text(dialect, reply, draft.action, screen))
    parsed = dialect.parse(reply, screen) if ended else None
    return Continuation(
        action=parsed.action if isinstance(parsed, ParsedReply) and parsed.action.kind in kinds else None
    )


async def _generate(prefix: ReplyPrefix, complete: Complete, max_tokens: int) -> tuple[str, bool]:
    """What the model adds, and whether it ended the reply itself."""
    options: dict[str, JsonValue] = {
        "n": 1,
        "temperature": 0,
        "max_tokens": max_tokens,
        "add_generation_prompt": False,
        "continue_final_message": True,
    }
    try:
        samples = await complete(prefix.text, options)
    except RequestRejected as error:
        if CONTEXT_LENGTH_ERROR.search(error.body):
            raise
        raise ContinuationUnsupported(str(error)) from None
    sample = samples.by_index.get(0)
    if sample is None:
        return "", False
    if _is_new_reply(prefix, sample.text):
        raise ContinuationUnsupported("the model server begins a new reply instead of continuing one")
    return sample.text, sample.finish_reason == "stop"


def _is_new_reply(prefix: ReplyPrefix, text: str) -> bool:
    """Whether a text begins as a reply does, or repeats what it was to continue."""
    opening, repeated = prefix.opening.strip(), prefix.text.strip()
    start = text.lstrip()
    if opening and start.startswith(opening):
        return True
    return len(repeated) >= MIN_REPEATED_CHARACTERS and start.startswith(repeated)


def _fit(typed: str, added: str) -> str:
    """A continuation after what was typed, which may end in a space already."""
    return added.lstrip() if typed[-1:].isspace() else added
