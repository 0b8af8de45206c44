"""What solves a task that brings its solution along, but no script that its machine could play."""

from protocol.actions.types import Finish
from protocol.benchmarks.forms import oracle_actions
from protocol.evaluation.judge_prompts import reference_answers
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.machine import ExpertSuggestion


def task_oracle(task: Task, steps: tuple[Step, ...]) -> ExpertSuggestion | None:
    """The next of the task's recorded acts, then the end; else its reference answer; None where it has neither."""
    acts = oracle_actions(task)
    if len(steps) < len(acts):
        return ExpertSuggestion(thought="I go on as the recorded solution does.", action=acts[len(steps)])
    if acts:
        return ExpertSuggestion(thought="The recorded solution ends here.", action=Finish())
    references = reference_answers(task)
    if not references:
        return None
    return ExpertSuggestion(thought="I give the task's own answer.", action=Finish(answer=references[0]))
