"""Which policies an attempt had."""

from tests.unit.vocabulary.examples import POLICY, step
from vocabulary.actions import Wait
from vocabulary.steps import policies_of


def test_an_attempt_that_spans_two_revisions_names_both() -> None:
    newer = POLICY.model_copy(update={"revision": "13"})
    steps = tuple(step(index, Wait(), policy=policy) for index, policy in enumerate((POLICY, None, newer, POLICY)))
    assert policies_of(steps) == (POLICY, newer)
