"""The request with which a policy condenses older steps into a note for itself: text alone, in plain words."""

from vocabulary.conversations import plain
from vocabulary.descriptions import describe
from vocabulary.dialect import ChatMessage, TextPart
from vocabulary.episodic import Memory
from vocabulary.steps import Step
from vocabulary.tasks import Task

NOTE_TOKENS = 256
LONGEST_OUTPUT = 800
"""Characters of what an act said that are read again for the note."""

ASKED = """You keep notes for yourself while you work on a task, because you will soon no longer see these steps.

Task: {task}
{notes}
Steps:
{steps}

Write down in at most 120 words of {language}: what was done and why, what you found out (names, numbers, places, \
what failed), and what is left to do. Only the notes."""


def note_asked(
    task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...], *, language: str
) -> tuple[ChatMessage, ...]:
    """The conversation that asks for a note on these steps."""
    before = "\n".join(plain(memory.text) for memory in memories)
    text = ASKED.format(
        task=plain(task.instruction),
        notes=f"\nYour notes so far:\n{before}\n" if before else "",
        steps="\n".join(map(_told, steps)),
        language=language,
    )
    return (ChatMessage(role="user", content=(TextPart(text=text),)),)


def _told(step: Step) -> str:
    """One step in words: the thought, the act, what came of it."""
    said = step.after.text if step.after is not None and step.after.text else ""
    lines = [f"{step.index + 1}. {plain(step.thought)}", f"   {plain(describe(step.action))}"]
    if step.error is not None:
        lines.append(f"   It failed: {plain(step.error.message)}")
    if said:
        lines.append(f"   Output: {plain(said[:LONGEST_OUTPUT])}")
    return "\n".join(lines)
