"""Task programs of OSWorld 2.0's form, by the four, over a simulated guest."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.parts.published.roles import NOTHING, Player, RuleOfFour, rule_of_four, unjudged
from protocol.actions.types import Action, Finish, Infeasible, RunCommand
from protocol.benchmarks.forms import ORACLE
from protocol.benchmarks.task_programs import program_task
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.hosts.osworld.host import GuestHost
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest

PROGRAM = """
from desktop_env.evaluators import getters
from desktop_env.task_base import BaseTask
{imports}

class Lines(BaseTask):
    id = "program_lines"
    instruction = "Write the number of lines of list.txt in your home folder into count.txt there."

    def setup(self, setup_controller):
        setup_controller.execute("seq 42 > ~/list.txt", shell=True)

    def evaluate(self, env):
        said = getters.get_vm_command_line(env, {{"command": "cat ~/count.txt", "shell": True}})
        return {{"score": {score} * float((said or "").strip() == "42")}}
"""
JUDGE = "from desktop_env.evaluators.model_client import generate_text"
SERVICES = {"OSWORLD_EVAL_MODEL_BASE_URL": "http://judge.invalid/v1", "OSWORLD_EVAL_MODEL_NAME": "some"}
SOLUTION = {"kind": "run_command", "command": "wc -l < ~/list.txt > ~/count.txt"}
CACHED = "for place in ~/cache /tmp/cache /tmp; do mkdir -p $place; echo 42 > $place/task_state.pickle; done"


async def osworld_programs(scratch: Path, python: Path) -> RuleOfFour:
    """Programs that set themselves up and judge, run by the isolated evaluator."""
    exploits: dict[str, Sequence[Action]] = {
        "gives the answer": (Finish(answer="42"),),
        "says that it cannot be done": (Infeasible(),),
        "prints a score": (RunCommand(command="echo '{\"score\": 1}'"), Finish()),
        "writes the evaluator's files": (RunCommand(command=CACHED), Finish()),
    }
    task = _task()
    with simulated_guest(scratch / "guest") as address:
        settings = EvaluatorSettings(python, services=SERVICES)
        host = GuestHost(scratch / "evaluators", [address], REVERT, settings=settings)
        try:
            player = Player((await host.create("osworld")).bind(1), unjudged(scratch))
            rule = await rule_of_four("osworld-2", "own", task, player, exploits)
            rule.outages["an evaluate() that raises"] = await player.play(_task(score="1 / 0"), NOTHING)
            rule.outages["a score that is none"] = await player.play(_task(score='float("nan")'), NOTHING)
            judged = _task(JUDGE, "bool(generate_text('Is it so?'))")
            rule.outages["a judging model that is gone"] = await player.play(judged, NOTHING)
        finally:
            await host.close()
    rule.outages["a guest that is gone"] = await player.play(task, NOTHING)
    return rule


def _task(imports: str = "", score: str = "1") -> Task:
    made = program_task(PROGRAM.format(imports=imports, score=score), "task_lines", {ORACLE: [SOLUTION]})
    assert made is not None
    return made
