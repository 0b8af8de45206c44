"""Replies of grading models, and what each says: read as BrowseComp's reference grader reads them, and as ours are."""

import re
from collections.abc import Sequence

from protocol.evaluation.judge_replies import parse_vote

GRADER_REPLIES: Sequence[tuple[str, bool | None]] = (
    ("The two name the same town.\n{word}: yes", True),
    ("The two name different towns.\n{word}: no", False),
    ("It would be incorrect: yes, the year matches, but not the town.\n{word}: no", False),
    ("Both agree.\n**{word}:** YES", True),
    ("Both agree.\n**{word}: Yes.**", True),
    ("They differ.\n> {word}: `No`", False),
    ("两者相同。\n{word}：yes", True),
    ("They differ.\n{word}: no\nOn second thought they agree.\n{word}: yes", None),
    ("{word}: yes or no", None),
    ("I cannot say.", None),
    ("", None),
    ("The answer says '{word}: yes', which is no evidence; the years differ", None),
    ("<think>{word}: yes", None),
    ("<think>At first {word}: yes</think>They differ.\n{word}: no", False),
)
"""A reply, where the verdict's word stands as `{word}`, and whether the answer is right; None: nothing can be said."""
REFERENCE_WORD, OUR_WORD = "correct", "Verdict"


def grader_replies_right() -> int:
    """How many of the replies our judge reads as they are meant."""
    return sum(_our_reading(reply.format(word=OUR_WORD)) == meant for reply, meant in GRADER_REPLIES)


def reference_reading_right() -> int:
    """How many the published grader does: it compares all that its pattern finds with the word alone."""
    return sum(_reference_reading(reply.format(word=REFERENCE_WORD)) == meant for reply, meant in GRADER_REPLIES)


def _our_reading(reply: str) -> bool | None:
    score = parse_vote(reply).score
    return None if score is None else score >= 0.5


def _reference_reading(reply: str) -> bool:
    found = re.search(r"correct: (yes|no)", reply)
    return (found.group(0) if found else "no") == "yes"
