"""What a policy adds to a half-written reply: the request, and what is read of its answer."""

from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from agent_backend.errors import ContinuationUnsupported
from agent_backend.policy.completions import CONTEXT_LENGTH_ERROR, RequestRejected
from agent_backend.policy.samples import Samples
from protocol.dialects.dialect import Dialect, ScreenSize
from protocol.dialects.reply_prefixes import ReplyPrefix, continued_thought, thought_prefix

MAX_TEXT_TOKENS = 48
"""Tokens of a continuation: a sentence or two, and what shows that they have ended."""
MIN_REPEATED_CHARACTERS = 12
"""A server that repeats so much of the prefix began its reply anew."""

Complete = Callable[[str, dict[str, JsonValue]], Awaitable[Samples]]
"""Sends the conversation with the beginning of a reply and these options. Raises PolicyError."""


async def continue_reply(dialect: Dialect, typed: str, screen: ScreenSize, complete: Complete) -> str:
    """What the model adds to a half-written thought; empty where it adds nothing that can be read. Raises PolicyError,
    and ContinuationUnsupported where the server refuses such a request or answers with a new reply."""
    thought = typed.strip()
    prefix = thought_prefix(dialect, thought, screen)
    if prefix is None:
        return ""
    generated, ended = await _generate(prefix, complete)
    reply = prefix.complete(generated, ended=ended)
    return _fit(typed, continued_thought(dialect, reply, thought, screen))


async def _generate(prefix: ReplyPrefix, complete: Complete) -> tuple[str, bool]:
    """What the model adds, and whether it ended the reply itself."""
    options: dict[str, JsonValue] = {
        "n": 1,
        "temperature": 0,
        "max_tokens": MAX_TEXT_TOKENS,
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
