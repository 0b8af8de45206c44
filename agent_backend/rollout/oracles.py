"""Solves tasks that include their solution when their machine has no expert script to play."""

from protocol.actions.types import Finish
from protocol.benchmarks.forms import oracle_actions
from protocol.evaluation.judge_prompts import reference_answers
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.machine import ExpertSuggestion


def task_oracle(task: Task, steps: tuple[Step, ...]) -> ExpertSuggestion | None:
    """The next recorded action of the task, and a finish after the last one. A task without recorded actions finishes
    with its first reference answer; a task without either gets None."""
    acts = oracle_actions(task)
    if len(steps) < len(acts):
        return ExpertSuggestion(thought="I go on as the recorded solution does.", action=acts[len(steps)])
    if acts:
        return ExpertSuggestion(thought="The recorded solution ends here.", action=Finish())
    references = reference_answers(task)
    if not references:
        return None
    return ExpertSuggestion(thought="I give the task's own answer.", action=Finish(answer=references[0]))
