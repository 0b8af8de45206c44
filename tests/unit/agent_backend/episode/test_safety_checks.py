"""What a provider wants a person to look at is done after they did, and by nobody else."""

import pytest

from agent_backend.episode.commands import check_accept, check_autopilot_action
from agent_backend.errors import CommandRejected
from protocol.actions.types import Click
from protocol.messages.commands import Accept
from protocol.messages.events import EpisodeState
from protocol.trajectory.proposals import Proposal, SafetyCheck
from tests.unit.protocol.examples import episode, proposal

CHECKS = (SafetyCheck(id="c1", code="malicious_instructions", message="The page asks for something else."),)


def checked(**fields: object) -> tuple[EpisodeState, Proposal]:
    offered = proposal(1, Click(x=1, y=2), safety_checks=(*CHECKS, SafetyCheck(id="c2")))
    return episode(proposals=(offered,), **fields), offered


def accept(offered: Proposal, *acknowledged: str) -> Accept:
    return Accept(command_id="command-1", proposal_id=offered.id, base_version=0, acknowledged=acknowledged)


@pytest.mark.parametrize("acknowledged", [(), ("c1",), ("c3",)])
def test_it_is_not_done_before_every_check_is_acknowledged(acknowledged: tuple[str, ...]) -> None:
    state, offered = checked()
    with pytest.raises(CommandRejected) as refused:
        check_accept(state, accept(offered, *acknowledged))
    assert refused.value.code == "safety_check_unacknowledged"


def test_it_is_done_once_they_are() -> None:
    state, offered = checked()
    check_accept(state, accept(offered, "c1", "c2"))


def test_the_autopilot_does_it_only_where_the_pool_allows_it() -> None:
    state, offered = checked()
    with pytest.raises(CommandRejected) as refused:
        check_autopilot_action(state, offered)
    assert refused.value.code == "safety_check_unacknowledged"
    check_autopilot_action(state.model_copy(update={"unattended_safety_checks": True}), offered)
