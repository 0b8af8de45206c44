"""What a policy reads of the act before: a failure, or that nobody knows whether it was done."""

import pytest

from protocol.actions.types import Click
from protocol.dialects.conversations import UNKNOWN_OUTCOME_NOTE
from protocol.dialects.dialect import TextPart
from protocol.dialects.families import get_dialect, list_dialects
from protocol.trajectory.observations import ActionError
from tests.unit.protocol.examples import TASK, observation, step


@pytest.mark.parametrize(
    ("code", "words"), [("no_window", "The last action failed"), ("outcome_unknown", UNKNOWN_OUTCOME_NOTE)]
)
@pytest.mark.parametrize("name", list_dialects())
def test_an_unknown_outcome_is_no_failure(name: str, code: str, words: str) -> None:
    done = step(0, Click(x=1, y=2), after=None, error=ActionError(code=code, message="No answer in time."))
    told = get_dialect(name).render(TASK, (done,), observation("now"))[-1].content[0]
    assert told == TextPart(text=f"{words}: No answer in time.")
