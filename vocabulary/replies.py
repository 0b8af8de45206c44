"""The frame of a reply, `Thought: …` and `Action: …`, in all the forms models give it.

Also read: `Reflection:` and `Action_Summary:` before the action, a full-width colon, bold labels, `Action:` without a
thought, without a space or missing altogether, thinking tags (open ones too), fences, boxes, answer wrappers,
end-of-text tokens.
"""

import re

from vocabulary.calls import Call, Unreadable, read_call, several
from vocabulary.turns import (
    CALL_AT_LINE,
    NAMED_CALL,
    Reply,
    follows_another,
    no_action,
    plain_thought,
    trimmed,
    unwrapped,
)

_MARK = r"(?:Action\s*[:：]|\*\*Action\s*[:：]\s*\*\*|\*\*Action\*\*\s*[:：]|#{1,4}[ \t]*Action\s*[:：])\s*"
_MARK_AT_LINE = _MARK.replace("Action", r"(?i:Action|动作|行动|操作)[ \t]*\d*")
_CALL = r"(?:(?:<\|begin_of_box\|>|<(?:answer|action|output|tool_call)>|```\w*|`|\*\*)\s*)*(?=[A-Za-z_]\w*\s*[(（])"
_MARKED_AT_LINE = re.compile(rf"^[ \t]*{_MARK_AT_LINE}{_CALL}", re.MULTILINE)
_MARKED = re.compile(rf"(?<![A-Za-z_]){_MARK}{_CALL}")
_HEAD = re.compile(rf"{_MARKED_AT_LINE.pattern}|{CALL_AT_LINE.pattern}|{_MARKED.pattern}", re.MULTILINE)
_ACTION_LINE = re.compile(r"^[ \t]*(?:\*\*)?Action[ \t]*(?:\*\*)?[ \t]*[:：]", re.MULTILINE)
_EARLIER_ACT = re.compile(rf"{_ACTION_LINE.pattern}|{NAMED_CALL.pattern}", re.MULTILINE)
_NEXT_TURN = re.compile(r"^[ \t]*(?:\*\*)?(?:Thought|Observation)[ \t]*(?:\*\*)?[ \t]*[:：]", re.MULTILINE)
_SAID = r"(?i:Thought|思考|想法)[ \t]*\d*"
_THOUGHT = re.compile(
    rf"(?:\*\*{_SAID}\s*[:：]\s*\*\*|\*\*{_SAID}\*\*\s*[:：]|#{{1,4}}[ \t]*{_SAID}\s*[:：]|{_SAID}\s*[:：])\s*"
)
_LABEL = re.compile(r"\b(?:Thought|Observation|Reflection|Action_Summary)\s*[:：]\s*")


def write_reply(thought: str, action: str) -> str:
    """One assistant turn; without a thought the action alone."""
    return f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}"


def split_reply(text: str) -> tuple[str, str, Call | Unreadable]:
    """(thought, action text, its call or why it cannot be read).

    The action begins at the first line `Action:` that a call follows, or the first line that is a call, so that a
    thought may hold the word.
    """
    reply = unwrapped(text.replace("\r\n", "\n"), _HEAD)
    begin = _beginning(reply.text)
    if begin is None:
        return _thought(reply, len(reply.text)), "", Unreadable("no_action", no_action(reply))
    start, at = begin
    thought, action = _thought(reply, start), reply.text[at:].strip()
    earlier = _EARLIER_ACT.search(reply.text, 0, start)
    if (earlier and _NEXT_TURN.search(reply.text, earlier.end(), start)) or follows_another(reply.text[:start]):
        return thought, action, several("an earlier turn stands before it")
    try:
        call, said = read_call(action)
    except Unreadable as error:
        return thought, action, error
    if reply.open and said != action:
        return (
            thought,
            action,
            Unreadable("unfinished_call", "The thinking tag never closes, and text follows the call."),
        )
    return thought, said, call


def _beginning(text: str) -> tuple[int, int] | None:
    """(end of the thought, begin of the call) of the first call; None where there is none."""
    found = [mark.span() for mark in (_MARKED_AT_LINE.search(text), CALL_AT_LINE.search(text)) if mark]
    if found:
        return min(found)
    mark = _MARKED.search(text)
    return mark.span() if mark else None


def _thought(reply: Reply, end: int) -> str:
    text = trimmed(reply.text[:end])
    if labelled := _THOUGHT.match(text):
        text = text[labelled.end() :].strip()
    elif ":" in text or "：" in text:
        text = "\n".join(filter(None, map(str.strip, _LABEL.split(text))))
    return plain_thought(reply.thinking, text) if reply.thinking else text
