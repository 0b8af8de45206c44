"""A policy uses a secret once a person has confirmed it; a person's own acts need no confirmation."""

from itertools import repeat

import pytest

from agent_backend.episode.runner import EpisodeRunner
from protocol.actions.secrets import SecretUse, find_secret_names
from protocol.actions.types import Action, TypeText
from protocol.messages.events import Act, Autopilot, ConfirmSecrets
from protocol.trajectory.observations import Observation
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act
from tests.unit.agent_backend.policy.fake_policy import FakePolicy

ON = Autopilot(command_id="autopilot-on", on=True)
PASSWORD = TypeText(text="secret:PASSWORD")


class SecretDesk(EpisodeHarness):
    """A desk whose policy types a password again and again."""

    moves_after = 1_000
    """Steps after which the page is at another host."""

    def to_confirm(self, action: Action, observation: Observation) -> tuple[SecretUse, ...]:
        """Every secret is to be confirmed."""
        host = "shop.test" if len(self.store.state.steps) < self.moves_after else "other.test"
        return tuple(SecretUse(name=name, host=host) for name in find_secret_names(action))

    def holds_value(self, text: str) -> bool:
        """The one password is in it."""
        return "hunter2" in text

    def new_runner(self) -> EpisodeRunner:
        return EpisodeRunner(self.store, self._open, lambda: self.current, self.hear, self.limits, secrets=self)

    def answer_with(self, number: int, *, allow: bool) -> ConfirmSecrets:
        (request,) = self.store.state.secret_requests
        return ConfirmSecrets(command_id=f"secrets-{number}", proposal_id=request.proposal_id, allow=allow)


@pytest.fixture
async def harness() -> object:
    made = SecretDesk()
    made.policy = made.current = FakePolicy(repeat((("I sign in", PASSWORD),)))
    await made.started()
    yield made
    await made.kill()


async def asked(harness: SecretDesk) -> None:
    await harness.until(lambda: bool(harness.store.state.secret_requests))


async def test_the_autopilot_waits_for_a_person_once_and_again_at_another_host(harness: SecretDesk) -> None:
    harness.moves_after = 3
    await harness.answer(ON)
    await asked(harness)
    (request,) = harness.store.state.secret_requests
    assert (request.uses, request.autopilot) == ((SecretUse(name="PASSWORD", host="shop.test"),), True)
    assert (request.kind, request.thought) == ("type_text", "I sign in")
    assert harness.sandbox.acts == []
    assert await harness.code(harness.answer_with(1, allow=True)) == ""
    await harness.steps(3)
    await asked(harness)
    assert len(harness.store.state.steps) == 3
    assert harness.store.state.secret_requests[0].uses == (SecretUse(name="PASSWORD", host="other.test"),)
    assert await harness.code(harness.answer_with(2, allow=False)) == ""
    assert not harness.store.state.autopilot
    assert len(harness.store.state.steps) == 3
    assert harness.store.state.secret_requests == ()


async def test_an_accepted_proposal_waits_and_is_done_after_the_answer(harness: SecretDesk) -> None:
    assert await harness.code(accept(harness, 1)) == "secret_unconfirmed"
    assert harness.sandbox.acts == []
    assert await harness.code(accept(harness, 2, thought="in other words")) == "secret_unconfirmed", (
        "the act is the same"
    )
    (request,) = harness.store.state.secret_requests
    assert (request.autopilot, request.thought) == (False, "in other words")
    assert await harness.code(harness.answer_with(1, allow=True)) == ""
    assert await harness.code(accept(harness, 3)) == ""
    await harness.steps(1)
    assert harness.sandbox.acts == [PASSWORD]


async def test_the_policys_action_sent_as_an_act_waits_as_well(harness: SecretDesk) -> None:
    copied = Act(command_id="command-copied", action=PASSWORD, thought="because")
    assert await harness.code(copied) == "secret_unconfirmed"
    assert harness.store.state.secret_requests[0].proposal_id == harness.store.state.proposals[0].id


async def test_a_persons_own_act_does_not_wait(harness: SecretDesk) -> None:
    assert await harness.code(act(1, text="secret:PASSWORD\n")) == ""
    await harness.steps(1)
    assert harness.store.state.secret_requests == ()
    await harness.ready()
    assert await harness.code(accept(harness, 2)) == "secret_unconfirmed", "it confirms nothing for the policy"


async def test_an_answer_to_a_question_that_is_over_is_refused(harness: SecretDesk) -> None:
    gone = ConfirmSecrets(command_id="secrets-gone", proposal_id="gone", allow=True)
    assert await harness.code(gone) == "no_secret_request"
    assert harness.store.state.secrets_confirmed == ()


async def test_question_and_confirmation_outlive_the_runner(harness: SecretDesk) -> None:
    assert await harness.code(accept(harness, 1)) == "secret_unconfirmed"
    await harness.kill()
    harness.start()
    await harness.until(lambda: getattr(harness.runner, "state", None) is not None)
    assert await harness.code(harness.answer_with(1, allow=True)) == ""
    await harness.kill()
    harness.start()
    await harness.until(lambda: bool(harness.store.state.proposals))
    assert await harness.code(accept(harness, 2)) == ""
