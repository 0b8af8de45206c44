"""Steps as they are read: the stored document, and the rows beside it that say what became of it later."""

from protocol.trajectory.steps import Step, write_thought_later

STEP_COLUMNS = ("document", "undoing", "late_thought__thought")
"""What `step_of_row` takes, as names for `values_list`."""


def step_of_row(document: Step, undoing: int | None, late_thought: str | None) -> Step:
    """A step with the thought that was written later, and whether it was taken back."""
    step = document if late_thought is None else write_thought_later(document, late_thought)
    return step if undoing is None else step.model_copy(update={"undone": True})
