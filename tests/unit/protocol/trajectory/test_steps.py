"""Which policies an attempt had."""

from protocol.actions.types import Wait
from protocol.trajectory.steps import step_policies
from tests.unit.protocol.examples import POLICY, step


def test_an_attempt_that_spans_two_revisions_names_both() -> None:
    newer = POLICY.model_copy(update={"revision": "13"})
    steps = tuple(step(index, Wait(), policy=policy) for index, policy in enumerate((POLICY, None, newer, POLICY)))
    assert step_policies(steps) == (POLICY, newer)
