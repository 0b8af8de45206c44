"""The prompt with which a policy summarises older steps into a note for itself: text only, in plain words."""

from protocol.actions.descriptions import describe_action
from protocol.dialects.conversations import break_special_tokens
from protocol.dialects.dialect import ChatMessage, TextPart
from protocol.trajectory.memory import Memory
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

MAX_MEMORY_TOKENS = 256
MAX_OUTPUT_CHARACTERS = 800
"""Characters of an action's output that the note's prompt contains."""

MEMORY_PROMPT = """You keep notes for yourself while you work on a task, because you will soon no longer see \
these steps.

Task: {task}
{notes}
Steps:
{steps}

Write down in at most 120 words of {language}: what was done and why, what you found out (names, numbers, places, \
what failed), and what is left to do. Only the notes."""


def render_memory_prompt(
    task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...], *, language: str
) -> tuple[ChatMessage, ...]:
    """Render the conversation that requests a note on these steps."""
    before = "\n".join(break_special_tokens(memory.text) for memory in memories)
    text = MEMORY_PROMPT.format(
        task=break_special_tokens(task.instruction),
        notes=f"\nYour notes so far:\n{before}\n" if before else "",
        steps="\n".join(map(_describe_step, steps)),
        language=language,
    )
    return (ChatMessage(role="user", content=(TextPart(text=text),)),)


def _describe_step(step: Step) -> str:
    """Describe one step in words: the thought, the action, its result."""
    output = step.after.text if step.after is not None and step.after.text else ""
    lines = [
        f"{step.index + 1}. {break_special_tokens(step.thought)}",
        f"   {break_special_tokens(describe_action(step.action))}",
    ]
    if step.error is not None:
        lines.append(f"   It failed: {break_special_tokens(step.error.message)}")
    if output:
        lines.append(f"   Output: {break_special_tokens(output[:MAX_OUTPUT_CHARACTERS])}")
    return "\n".join(lines)
