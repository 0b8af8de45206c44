"""Hosted models: what their providers are asked, what it costs, and what people are told when it fails."""

import asyncio
import base64
import io
import logging
from datetime import UTC, datetime
from typing import Any

import pytest
from PIL import Image

from agent_backend.errors import BudgetSpent, PolicyError, PolicyRejected
from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.hosted_requests import Usage
from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.policy.providers import open_policy
from benchmarks.parts.models.provider_server import RecordedRequest, provider_server
from benchmarks.parts.models.providers import KEY, Screen, load_cases, measure_cases, open_client, picture, propose
from protocol.actions.types import Action, Click, TypeText
from protocol.providers import DIALECTS, Prices, Provider
from protocol.trajectory.observations import ActionError
from protocol.trajectory.steps import Step

HOSTED: tuple[Provider, ...] = ("anthropic", "openai", "gemini")
PRICES = Prices(input=5.0, output=25.0, cached_input=0.5)
CASES = {(case["provider"], case["name"]): case["answers"] for case in load_cases()}
BEFORE, NOW = (Screen.of(picture(1280, height), 1280, height) for height in (720, 721))
OLDER = Screen.of(picture(1280, 722), 1280, 722)


def step(index: int, action: Action, before: Screen, *, error: ActionError | None = None) -> Step:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    return Step(
        index=index,
        command_id=f"command-{index}",
        actor="human",
        decision="override",
        thought=f"Thought {index}.",
        action=action,
        before=before.observation,
        after=None,
        started_at=moment,
        ended_at=moment,
        error=error,
    )


async def test_every_case_of_the_table_is_told_as_it_must_be() -> None:
    found = await measure_cases()
    assert found["provider_faults"] == []
    assert found["provider_cases_told"] == found["provider_cases"]
    assert found["providers"] == 4


async def asked(provider: Provider, steps: tuple[Step, ...] = (), **settings: Any) -> RecordedRequest:
    async with provider_server(provider, CASES[provider, "click"]) as server:
        policy = open_client(server, **settings)
        await propose(policy, NOW, steps, (BEFORE, OLDER))
        await policy.aclose()
        return server.requests[0]


STEPS = (step(0, Click(x=1, y=2), BEFORE), step(1, TypeText(text="a"), OLDER))


async def test_anthropic_gets_each_call_with_its_result_and_the_picture_in_it() -> None:
    body = (await asked("anthropic", STEPS)).body
    prompt, _, call, result, _, last = body["messages"]
    assert "Open the report" in prompt["content"][0]["text"]
    said, used = call["content"]
    assert said == {"type": "text", "text": "Thought 0."}
    assert (used["name"], used["toolset_name"], used["input"]) == ("left_click", "computer", {"coordinate": [1, 2]})
    (answer,) = result["content"]
    assert (answer["type"], answer["tool_use_id"], answer["toolset_name"]) == ("tool_result", used["id"], "computer")
    shown = last["content"][0]["content"][0]
    assert base64.b64decode(shown["source"]["data"]) == NOW.data
    toolset, *functions = body["tools"]
    assert toolset["type"] == "computer_toolset_20260801"
    assert toolset["configs"]["hold_key"] == {"enabled": False}
    assert "left_click" not in toolset["configs"]
    assert [function["name"] for function in functions] == ["finished", "call_user", "infeasible"]
    assert body["tool_choice"]["disable_parallel_tool_use"]
    assert "temperature" not in body, "the present models refuse it"


async def test_the_older_tool_of_anthropic_names_the_size_and_the_action() -> None:
    request = await asked("anthropic", STEPS, computer_tool="computer_20251124")
    tool = request.body["tools"][0]
    assert (tool["type"], tool["name"]) == ("computer_20251124", "computer")
    assert (tool["display_width_px"], tool["display_height_px"]) == (1280, 721)
    assert request.headers["anthropic-beta"] == "computer-use-2025-11-24"
    used = request.body["messages"][2]["content"][1]
    assert (used["name"], used["input"]) == ("computer", {"action": "left_click", "coordinate": [1, 2]})
    assert request.body["temperature"] == 0.8


async def test_a_failure_without_a_picture_is_an_error_of_the_tool() -> None:
    failed = step(0, Click(x=1, y=2), BEFORE, error=ActionError(code="e", message="It broke."))
    async with provider_server("anthropic", CASES["anthropic", "click"]) as server:
        policy = open_client(server)
        blind = Screen(b"", NOW.observation.model_copy(update={"screenshot": None, "width": 0, "height": 0}))
        await propose(policy, blind, (failed,), (BEFORE,))
        await policy.aclose()
    (result,) = server.requests[0].body["messages"][-1]["content"]
    assert result["is_error"]
    assert "It broke." in result["content"][0]["text"]


async def test_openai_gets_calls_with_their_screens_and_stores_nothing() -> None:
    body = (await asked("openai", STEPS)).body
    kinds = [item.get("type", item.get("role")) for item in body["input"]]
    assert kinds == [
        *("user", "user", "assistant", "computer_call", "computer_call_output"),
        *("assistant", "computer_call", "computer_call_output"),
    ]
    call, output = body["input"][-2:]
    assert call["actions"] == [{"type": "type", "text": "a"}]
    assert output["call_id"] == call["call_id"]
    assert output["output"]["image_url"].endswith(base64.b64encode(NOW.data).decode())
    assert body["store"] is False
    assert body["tools"][0] == {"type": "computer"}


async def test_a_call_whose_screen_is_no_longer_shown_is_told_in_words() -> None:
    steps = tuple(step(index, Click(x=index, y=2), (BEFORE, OLDER)[index % 2]) for index in range(8))
    body = (await asked("openai", steps)).body
    told = [item for item in body["input"] if item.get("role") == "assistant"]
    assert '"type": "click"' in told[0]["content"][0]["text"]
    assert all(
        output["output"]["image_url"] for output in body["input"] if output.get("type") == "computer_call_output"
    )


async def test_gemini_gets_responses_to_its_functions_with_pictures() -> None:
    body = (await asked("gemini", STEPS)).body
    last = body["contents"][-1]["parts"][0]["functionResponse"]
    assert last["name"] == "type"
    assert base64.urlsafe_b64decode(last["parts"][0]["inline_data"]["data"]) == NOW.data
    called = body["contents"][-2]["parts"][1]
    assert called["functionCall"] == {"name": "type", "args": {"text": "a"}}
    assert called["thoughtSignature"]
    tool = body["tools"][0]["computerUse"]
    assert tool["environment"] == "ENVIRONMENT_DESKTOP"
    assert "navigate" in tool["excluded_predefined_functions"]
    assert "click" not in tool["excluded_predefined_functions"]


@pytest.mark.parametrize("provider", HOSTED)
async def test_a_large_picture_is_scaled_and_the_point_mapped_back(provider: Provider) -> None:
    large = Screen.of(picture(2560, 1440), 2560, 1440)
    async with provider_server(provider, CASES[provider, "click"]) as server:
        policy = open_client(server, image_edge=1280)
        (proposal,) = await propose(policy, large)
        await policy.aclose()
    assert proposal.action == Click(x=1280, y=720)
    text = str(server.requests[0].body)
    sent = max(text.replace("base64,", "'").split("'"), key=len)
    assert Image.open(io.BytesIO(base64.b64decode(sent, altchars=b"-_" if provider == "gemini" else None))).size == (
        1280,
        720,
    )


@pytest.mark.parametrize("provider", HOSTED)
async def test_a_teacher_is_marked_and_has_no_tokens(provider: Provider) -> None:
    async with provider_server(provider, CASES[provider, "click"]) as server:
        policy = open_client(server, prices=PRICES)
        (proposal,) = await propose(policy, NOW)
        await policy.aclose()
    assert proposal.policy.teacher
    assert (proposal.completion_token_ids, proposal.logprobs, proposal.likelihood) == (None, None, None)
    assert proposal.cost_usd == pytest.approx(0.007 if provider != "openai" else 0.0061)
    assert KEY in "".join(server.requests[0].headers.values())
    assert KEY not in proposal.model_dump_json()


@pytest.mark.parametrize("provider", HOSTED)
async def test_no_log_holds_the_key_at_any_level(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with provider_server(provider, CASES[provider, "wrong key"]) as server:
            policy = open_client(server)
            with pytest.raises(PolicyRejected):
                await propose(policy, NOW)
            await policy.aclose()
    assert KEY not in caplog.text


@pytest.mark.parametrize("provider", HOSTED)
async def test_cancelling_ends_the_request(provider: Provider) -> None:
    hanging = [{**CASES[provider, "click"][0], "hang": True}]
    async with provider_server(provider, hanging) as server:
        policy = open_client(server, timeouts=RequestTimeouts())
        task = asyncio.create_task(propose(policy, NOW))
        async with asyncio.timeout(10):
            await server.asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.hung_up.wait()
        await policy.aclose()


async def test_candidates_are_as_many_requests_and_one_failure_ends_the_rest() -> None:
    async with provider_server("anthropic", CASES["anthropic", "click"]) as server:
        policy = open_client(server, candidates=6)
        (proposal,) = await propose(policy, NOW)
        await policy.aclose()
    assert (proposal.count, len(server.requests)) == (6, 6)
    async with provider_server("anthropic", CASES["anthropic", "wrong key"]) as server:
        policy = open_client(server, candidates=16)
        with pytest.raises(PolicyRejected):
            await propose(policy, NOW)
        await policy.aclose()
    assert len(server.requests) <= 4


async def test_candidates_that_came_stay_when_another_fails() -> None:
    answers = [*CASES["openai", "click"], *CASES["openai", "forbidden"]]
    async with provider_server("openai", answers) as server:
        policy = open_client(server, candidates=3)
        (proposal,) = await propose(policy, NOW)
        await policy.aclose()
    assert proposal.count == 1


class Purse:
    """A budget that notes what is done with it."""

    limited = True

    def __init__(self, left: int) -> None:
        self.left = left
        self.spent: list[int] = []

    async def reserve(self, amount: int) -> None:
        if amount > self.left:
            raise BudgetSpent("The pool's budget is spent.")
        self.left -= amount

    async def settle(self, reserved: int, spent: int) -> None:
        self.left += reserved - spent
        self.spent.append(spent)


@pytest.mark.parametrize(
    ("name", "spent"), [("click", 7_000), ("wrong key", 0), ("server fails", 0), ("an error in the stream", 6_025)]
)
async def test_what_a_request_cost_is_counted(name: str, spent: int) -> None:
    purse = Purse(1_000_000)
    async with provider_server("anthropic", CASES["anthropic", name]) as server:
        policy = open_client(server, prices=PRICES, budget=purse)
        try:
            await propose(policy, NOW)
        except PolicyError:
            assert name != "click"
        await policy.aclose()
    assert purse.spent == [spent]
    assert purse.left == 1_000_000 - spent


async def test_nothing_is_asked_when_the_budget_is_spent_or_no_price_is_known() -> None:
    async with provider_server("anthropic", CASES["anthropic", "click"]) as server:
        policy = open_client(server, prices=PRICES, budget=Purse(100))
        with pytest.raises(BudgetSpent) as spent:
            await propose(policy, NOW)
        unpriced = open_client(server, budget=Purse(10**9))
        with pytest.raises(PolicyRejected, match="no prices are known"):
            await propose(unpriced, NOW)
        await policy.aclose()
        await unpriced.aclose()
    assert spent.value.code == "budget_spent"
    assert server.requests == []


async def test_a_request_that_was_cancelled_counts_with_what_was_set_aside() -> None:
    purse = Purse(1_000_000)
    hanging = [{**CASES["anthropic", "click"][0], "hang": True}]
    async with provider_server("anthropic", hanging) as server:
        policy = open_client(server, prices=PRICES, budget=purse, timeouts=RequestTimeouts())
        task = asyncio.create_task(propose(policy, NOW))
        async with asyncio.timeout(10):
            await server.asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await policy.aclose()
    assert purse.spent
    assert purse.spent[0] > 7_000


def test_tokens_from_a_cache_cost_what_their_price_says() -> None:
    assert Usage(input=100, output=10, cached_input=1_000).cost(PRICES) == 500 + 250 + 500
    assert Usage(cached_input=10).cost(Prices(input=3, output=15)) == 30


@pytest.mark.parametrize("provider", HOSTED)
def test_a_provider_speaks_its_own_dialect_alone(provider: Provider) -> None:
    endpoint = PolicyEndpoint(
        base_url="https://provider.invalid",
        model="m",
        dialect="ui_tars_1_5",
        name="n",
        revision="1",
        provider=provider,
    )
    with pytest.raises(ValueError, match=DIALECTS[provider]):
        open_policy(endpoint)
