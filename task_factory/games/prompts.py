"""What a model is asked for: a game, and later the same game without its faults."""

from collections.abc import Sequence
from pathlib import Path

from task_factory.games.faults import CODES, Fault
from task_factory.language_models import Message

CONTRACT = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8")
MAX_FAULTS = 12
"""How many faults a model is told of at once."""


def first_messages(idea: str, names: Sequence[str]) -> tuple[Message, ...]:
    """Asks for a game.

    Args:
        idea: What it shall be about; empty leaves that to the model.
        names: Games that exist and are not wanted again.
    """
    wish = f"Write a game about this: {idea}." if idea else "Write a game of your own idea."
    known = f" These exist already; write another one: {', '.join(sorted(names))}." if names else ""
    return (Message(role="system", content=CONTRACT), Message(role="user", content=wish + known))


def repair_messages(before: Sequence[Message], reply: str, faults: Sequence[Fault]) -> tuple[Message, ...]:
    """Asks for all files again, without these faults."""
    told = "\n".join(f"* {fault.code} ({CODES[fault.code]}): {fault.text}" for fault in faults[:MAX_FAULTS])
    asked = f"The check found faults:\n{told}\nMend them and send all five files again."
    return (*before, Message(role="assistant", content=reply), Message(role="user", content=asked))
