"""Asking a model for other wordings of an instruction, and reading what it says, within bounds. Pure functions."""

import json
import re

LONGEST_REPLY = 40_000
"""Characters of a reply that are read."""
LONGEST = 2_000
"""Characters of an instruction."""
SHORTEST = 3
NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*•])\s+")
ASKED = """You write tasks for people who work with a computer. Here is a task:

{instruction}

Write {count} other wordings of this very task. What has to be done, every name, number and text in quotes, and the \
language stay the same; length, order, tone and how much is spelled out may differ. Answer with a JSON list of {count} \
strings and nothing else."""


def question(instruction: str, count: int) -> str:
    """What the model is asked."""
    return ASKED.format(instruction=instruction.strip(), count=count)


def wordings_read(reply: str, *, instruction: str, count: int) -> tuple[str, ...]:
    """The wordings in a reply, at most `count`: a JSON list, else its lines that are numbered. What is empty, too long,
    said twice, or the instruction itself is left out; so is one without a text that the instruction has in quotes."""
    reply = reply[:LONGEST_REPLY]
    found: dict[str, str] = {}
    for text in _listed(reply) or _lines(reply):
        text = " ".join(text.split())
        if _usable(text, instruction):
            found.setdefault(_same(text), text)
    return tuple(found.values())[:count]


def _usable(text: str, instruction: str) -> bool:
    return (
        SHORTEST <= len(text) <= LONGEST
        and "\x00" not in text
        and _same(text) != _same(instruction)
        and all(quoted in text for quoted in quotes(instruction))
    )


def quotes(text: str) -> tuple[str, ...]:
    """What stands in quotes."""
    return tuple(re.findall(r"[“\"「]([^”\"」]+)[”\"」]", text))


def _listed(reply: str) -> list[str]:
    """The first JSON list of strings there is."""
    begin = reply.find("[")
    while begin != -1:
        try:
            value, _ = json.JSONDecoder().raw_decode(reply, begin)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return value
        begin = reply.find("[", begin + 1) if reply.count("[") < 100 else -1
    return []


def _lines(reply: str) -> list[str]:
    return [NUMBERED.sub("", line) for line in reply.splitlines() if NUMBERED.match(line)]


def _same(text: str) -> str:
    """What two wordings that differ in nothing that matters have in common."""
    return re.sub(r"\W+", " ", text).strip().casefold()
