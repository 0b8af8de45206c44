"""A verifier that fails: asked again, then tried on a fresh machine; who is to blame follows from that."""

import pytest

from agent_backend.rollout.verifier_checks import BROKEN_BY_ATTEMPT, judge_again
from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError, MachineGone, VerifierFailed
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

TASK = Task(id="a", instruction="Do.")
FAILS = VerifierFailed("its tests wrote no reward")
Answer = Verdict | BridgeError


class Verifier(FakeMachine):
    """Answers in turn, and notes when it is set up anew."""

    answers: list[Answer]
    prepared = 0

    async def prepare(self, task: Task) -> Observation:
        self.prepared += 1
        return await super().prepare(task)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        found = self.answers.pop(0)
        if isinstance(found, BridgeError):
            raise found
        return found


def machine(*answers: Answer) -> Verifier:
    made = Verifier(FakeSandbox("desktop"), 1)
    made.answers = list(answers)
    return made


async def test_a_verifier_that_failed_once_decides_when_it_is_asked_again() -> None:
    verifier = machine(Verdict(success=True, score=1))
    found = await judge_again(verifier, TASK, "")
    assert found is not None
    assert (found.success, verifier.prepared) == (True, 0)


@pytest.mark.parametrize("control", [Verdict(success=False, score=0), Verdict(success=True, score=1, points=3)])
async def test_a_verifier_that_works_on_a_fresh_machine_was_broken_by_the_attempt(control: Verdict) -> None:
    verifier = machine(FAILS, control)
    found = await judge_again(verifier, TASK, "")
    assert found is not None
    assert (found.success, found.score, found.points, verifier.prepared) == (False, 0, None, 1)
    assert BROKEN_BY_ATTEMPT in found.reason
    assert "no reward" in found.reason


@pytest.mark.parametrize(
    "answers",
    [
        (FAILS, FAILS),
        (FAILS, MachineGone("its host was killed")),
        (MachineGone("its host was killed"),),
        (FAILS, Verdict(success=None, score=0)),
    ],
)
async def test_where_the_verifier_or_the_machine_is_at_fault_nothing_is_known(answers: tuple[Answer, ...]) -> None:
    assert await judge_again(machine(*answers), TASK, "") is None
