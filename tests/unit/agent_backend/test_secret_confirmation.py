"""A policy uses a secret once a person has confirmed it; a person's own acts need no confirmation."""

from itertools import repeat

import pytest

from agent_backend.policy.fake import FakePolicy
from agent_backend.runner import EpisodeRunner
from tests.unit.agent_backend.conftest import Desk, accept, act
from vocabulary.actions import Action, TypeText
from vocabulary.messages import Act, Autopilot, ConfirmSecrets
from vocabulary.observations import Observation
from vocabulary.secrets import SecretUse, secret_names

ON = Autopilot(command_id="autopilot-on", on=True)
PASSWORD = TypeText(text="secret:PASSWORD")


class SecretDesk(Desk):
    """A desk whose policy types a password again and again."""

    moves_after = 1_000
    """Steps after which the page is at another host."""

    def to_confirm(self, action: Action, observation: Observation) -> tuple[SecretUse, ...]:
        """Every secret is to be confirmed."""
        host = "shop.test" if len(self.store.state.steps) < self.moves_after else "other.test"
        return tuple(SecretUse(name=name, host=host) for name in secret_names(action))

    def new_runner(self) -> EpisodeRunner:
        return EpisodeRunner(self.store, self._open, lambda: self.current, self.hear, self.limits, secrets=self)

    def answer_with(self, number: int, *, allow: bool) -> ConfirmSecrets:
        (request,) = self.store.state.secret_requests
        return ConfirmSecrets(command_id=f"secrets-{number}", proposal_id=request.proposal_id, allow=allow)


@pytest.fixture
async def desk() -> object:
    made = SecretDesk()
    made.policy = made.current = FakePolicy(repeat((("I sign in", PASSWORD),)))
    await made.started()
    yield made
    await made.kill()


async def asked(desk: SecretDesk) -> None:
    await desk.until(lambda: bool(desk.store.state.secret_requests))


async def test_the_autopilot_waits_for_a_person_once_and_again_at_another_host(desk: SecretDesk) -> None:
    desk.moves_after = 3
    await desk.answer(ON)
    await asked(desk)
    (request,) = desk.store.state.secret_requests
    assert (request.uses, request.autopilot) == ((SecretUse(name="PASSWORD", host="shop.test"),), True)
    assert (request.kind, request.thought) == ("type_text", "I sign in")
    assert desk.sandbox.acts == []
    assert await desk.code(desk.answer_with(1, allow=True)) == ""
    await desk.steps(3)
    await asked(desk)
    assert len(desk.store.state.steps) == 3
    assert desk.store.state.secret_requests[0].uses == (SecretUse(name="PASSWORD", host="other.test"),)
    assert await desk.code(desk.answer_with(2, allow=False)) == ""
    assert not desk.store.state.autopilot
    assert len(desk.store.state.steps) == 3
    assert desk.store.state.secret_requests == ()


async def test_an_accepted_proposal_waits_and_is_done_after_the_answer(desk: SecretDesk) -> None:
    assert await desk.code(accept(desk, 1)) == "secret_unconfirmed"
    assert desk.sandbox.acts == []
    assert await desk.code(accept(desk, 2, thought="in other words")) == "secret_unconfirmed", "the act is the same"
    (request,) = desk.store.state.secret_requests
    assert (request.autopilot, request.thought) == (False, "in other words")
    assert await desk.code(desk.answer_with(1, allow=True)) == ""
    assert await desk.code(accept(desk, 3)) == ""
    await desk.steps(1)
    assert desk.sandbox.acts == [PASSWORD]


async def test_the_policys_action_sent_as_an_act_waits_as_well(desk: SecretDesk) -> None:
    copied = Act(command_id="command-copied", action=PASSWORD, thought="because")
    assert await desk.code(copied) == "secret_unconfirmed"
    assert desk.store.state.secret_requests[0].proposal_id == desk.store.state.proposals[0].id


async def test_a_persons_own_act_does_not_wait(desk: SecretDesk) -> None:
    assert await desk.code(act(1, text="secret:PASSWORD\n")) == ""
    await desk.steps(1)
    assert desk.store.state.secret_requests == ()
    await desk.ready()
    assert await desk.code(accept(desk, 2)) == "secret_unconfirmed", "it confirms nothing for the policy"


async def test_an_answer_to_a_question_that_is_over_is_refused(desk: SecretDesk) -> None:
    gone = ConfirmSecrets(command_id="secrets-gone", proposal_id="gone", allow=True)
    assert await desk.code(gone) == "no_secret_request"
    assert desk.store.state.secrets_confirmed == ()


async def test_question_and_confirmation_outlive_the_runner(desk: SecretDesk) -> None:
    assert await desk.code(accept(desk, 1)) == "secret_unconfirmed"
    await desk.kill()
    desk.start()
    await desk.until(lambda: getattr(desk.runner, "state", None) is not None)
    assert await desk.code(desk.answer_with(1, allow=True)) == ""
    await desk.kill()
    desk.start()
    await desk.until(lambda: bool(desk.store.state.proposals))
    assert await desk.code(accept(desk, 2)) == ""
