"""An episode with a hosted model: it proposes, a person checks, money ends, and overriding always works."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_backend.errors import BudgetSpent
from benchmarks.parts.models.provider_server import ProviderServer, provider_server
from benchmarks.parts.models.providers import load_cases, open_client
from protocol.actions.types import Click
from protocol.messages.events import Accept, Autopilot
from protocol.providers import Prices, Provider
from tests.unit.agent_backend.conftest import EpisodeHarness, act
from vm_bridge.simulators.fake.sandbox import FakeSandbox

CASES = {(case["provider"], case["name"]): case["answers"] for case in load_cases()}
CLICK = Click(x=640, y=360)


@pytest.fixture
def harness() -> EpisodeHarness:
    """A desk with a screen of the size that the cases are about."""
    desk = EpisodeHarness()
    desk.sandbox = FakeSandbox("desktop", width=1280, height=720)
    return desk


class NoMoney:
    """A budget that is spent."""

    limited = True

    async def reserve(self, amount: int) -> None:
        raise BudgetSpent("The budget of this pool is spent.")

    async def settle(self, reserved: int, spent: int) -> None:
        raise AssertionError("nothing was set aside")


@asynccontextmanager
async def hosted(
    harness: EpisodeHarness, provider: Provider, name: str, *, money: NoMoney | None = None
) -> AsyncIterator[ProviderServer]:
    """A hosted model that answers as a case of the table does."""
    async with provider_server(provider, CASES[provider, name]) as server:
        policy = open_client(server, prices=Prices(input=5, output=25), budget=money)
        harness.current = policy
        yield server
        await harness.kill()
        await policy.aclose()


def accept(harness: EpisodeHarness, number: int, *acknowledged: str) -> Accept:
    (offered,) = harness.store.state.proposals
    steps = len(harness.store.state.steps)
    return Accept(command_id=f"accept-{number}", proposal_id=offered.id, base_version=steps, acknowledged=acknowledged)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
async def test_a_hosted_model_proposes_and_is_told_what_came_of_it(harness: EpisodeHarness, provider: Provider) -> None:
    async with hosted(harness, provider, "click") as server:
        await harness.started("ready")
        assert await harness.code(accept(harness, 1)) == ""
        await harness.until(lambda: len(server.requests) == 2)
        (step,) = harness.store.state.steps
        assert (step.action, step.actor, step.decision) == (CLICK, "human", "accept")
    sent = str(server.requests[1].body)
    assert "I see the menu." in sent
    assert sent.count("tool_result") + sent.count("computer_call_output") + sent.count("functionResponse") == 1


async def test_what_is_to_be_checked_is_done_by_a_person_who_looked(harness: EpisodeHarness) -> None:
    async with hosted(harness, "openai", "safety check"):
        await harness.started("ready")
        assert await harness.code(accept(harness, 1)) == "safety_check_unacknowledged"
        await harness.answer(Autopilot(command_id="autopilot-on", on=True))
        await harness.until(lambda: not harness.store.state.autopilot)
        assert harness.store.state.steps == ()
        assert await harness.code(accept(harness, 2, "cu_sc_1")) == ""
        await harness.steps(1)


async def test_a_spent_budget_is_told_with_its_code_and_overriding_works(harness: EpisodeHarness) -> None:
    async with hosted(harness, "anthropic", "click", money=NoMoney()) as server:
        await harness.started("failed")
        state = harness.runner.state
        assert (state.thinking_code, state.thinking_error) == ("budget_spent", "The budget of this pool is spent.")
        assert await harness.code(act(1)) == ""
        await harness.steps(1)
        assert server.requests == []
