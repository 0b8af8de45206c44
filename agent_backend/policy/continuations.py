"""Continues a half-written reply: sends the request and reads the continuation from its answer."""

import logging
import time
from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from agent_backend.errors import ContinuationUnsupported, PolicyRejected
from agent_backend.policy.completions import RequestRejected
from agent_backend.policy.samples import Samples
from protocol.dialects.dialect import Dialect, ScreenSize
from protocol.dialects.reply_prefixes import ReplyPrefix, continued_thought, thought_prefix

MAX_TEXT_TOKENS = 48
"""Most tokens of a continuation: a sentence or two, and their end."""
MIN_REPEATED_CHARACTERS = 12
"""A server that repeats this many characters of the prefix wrote a new reply."""

RETRY_AFTER_SECONDS = 600.0
"""Seconds until a server that could not continue replies is tried again."""
UNFIT_REPLIES = 2
"""New replies in a row, instead of continuations, after which a server counts as unable to continue replies."""
REFUSING_STATUSES = frozenset({400, 422})
CONTINUATION_FIELDS = ("continue_final_message", "add_generation_prompt")

logger = logging.getLogger(__name__)

Complete = Callable[[str, dict[str, JsonValue]], Awaitable[Samples]]
"""Sends the conversation with the beginning of a reply and these options. Raises PolicyError."""


class NewReply(PolicyRejected):
    """The server began a new reply instead of continuing one; another request may be continued."""


class ContinuationSupport:
    """Whether a server continues replies, as its answers show. Only a refusal that names the fields, or two new replies
    in a row, count against it, and it is asked again after ten minutes."""

    def __init__(self, name: str, now: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._now = now
        self._unfit = 0
        self._retry_at: float | None = None

    @property
    def available(self) -> bool:
        """Whether a request may be sent now."""
        return self._retry_at is None or self._now() >= self._retry_at

    async def watch(self, answer: Awaitable[str]) -> str:
        """Wait for a continuation and update the support. Raises what it raises, and ContinuationUnsupported after too
        many new replies in a row."""
        try:
            text = await answer
        except NewReply as error:
            self._unfit += 1
            if self._unfit < UNFIT_REPLIES:
                raise
            self._pause(str(error))
            raise ContinuationUnsupported(str(error)) from None
        except ContinuationUnsupported as error:
            self._pause(str(error))
            raise
        self._unfit = 0
        return text

    def _pause(self, reason: str) -> None:
        self._unfit = 0
        self._retry_at = self._now() + RETRY_AFTER_SECONDS
        minutes = RETRY_AFTER_SECONDS / 60
        logger.warning("%s gets no requests to continue thoughts for %.0f minutes: %s", self._name, minutes, reason)


async def continue_reply(dialect: Dialect, typed: str, screen: ScreenSize, complete: Complete) -> str:
    """What the model adds to a half-written thought; empty if it adds nothing readable. Raises PolicyError:
    ContinuationUnsupported if the server refuses the fields of such a request, NewReply if it ignores them."""
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
        names_fields = any(name in error.body for name in CONTINUATION_FIELDS)
        if error.status not in REFUSING_STATUSES or not names_fields:
            raise
        raise ContinuationUnsupported(str(error)) from None
    sample = samples.by_index.get(0)
    if sample is None:
        return "", False
    if _is_new_reply(prefix, sample.text):
        raise NewReply("the model server begins a new reply instead of continuing one")
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
