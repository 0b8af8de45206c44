"""What hosted models are told of their earlier calls: as they made them, and which checks were acknowledged."""

import copy
from typing import Any

import pytest

from agent_backend.episode.machine_session import ActionResult, build_step
from agent_backend.interfaces import Intent
from benchmarks.parts.models.provider_server import provider_server
from benchmarks.parts.models.providers import Screen, open_client, picture, propose
from protocol.actions.types import Click, TypeText
from protocol.providers import Provider
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import BatchPosition, Decision, Step
from tests.unit.agent_backend.policy.test_hosted import BEFORE, CASES, HOSTED, NOW
from tests.unit.protocol.examples import at

MIDDLE = Screen.of(picture(1280, 723), 1280, 723)
CHECKED = {"openai": "safety check", "gemini": "safety decision"}


async def said_by(provider: Provider, answers: list[dict[str, Any]], max_actions: int = 1) -> Proposal:
    async with provider_server(provider, answers) as server:
        policy = open_client(server, max_actions=max_actions)
        (proposal,) = await propose(policy, BEFORE)
        await policy.aclose()
        return proposal


def steps_of(proposal: Proposal, decision: Decision = "accept") -> tuple[Step, ...]:
    """The steps that did what a proposal says."""
    size = len(proposal.actions)
    screens = (BEFORE, MIDDLE)
    return tuple(
        build_step(
            Intent(
                command_id=f"command-{index}",
                index=index,
                actor="human",
                decision=decision,
                proposal_id=proposal.id,
                thought="" if index else proposal.thought,
                action=action,
                started_at=at(index),
                batch=BatchPosition(index=index + 1, size=size) if size > 1 else None,
            ),
            ActionResult(screens[index].observation, NOW.observation, at(index), at(index)),
            (proposal,),
            proposal.policy,
        )
        for index, action in enumerate(proposal.actions)
    )


async def told(provider: Provider, steps: tuple[Step, ...]) -> Any:
    async with provider_server(provider, CASES[provider, "click"]) as server:
        policy = open_client(server, max_actions=3)
        await propose(policy, NOW, steps, (BEFORE, MIDDLE))
        await policy.aclose()
        return server.requests[0].body


def calls_and_results(provider: Provider, body: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The calls and the results of a request, as the API carries them."""
    if provider == "openai":
        items = body["input"]
        calls = [item for item in items if item.get("type") in ("computer_call", "function_call")]
        return calls, [item for item in items if str(item.get("type")).endswith("_output")]
    if provider == "anthropic":
        blocks = [block for message in body["messages"] for block in message["content"]]
        return (
            [block for block in blocks if block["type"] == "tool_use"],
            [block for block in blocks if block["type"] == "tool_result"],
        )
    parts = [part for content in body["contents"] for part in content["parts"]]
    return (
        [part for part in parts if "functionCall" in part],
        [part["functionResponse"] for part in parts if "functionResponse" in part],
    )


async def test_anthropic_is_told_the_id_of_its_call() -> None:
    proposal = await said_by("anthropic", CASES["anthropic", "click"])
    (call,), (result,) = calls_and_results("anthropic", await told("anthropic", steps_of(proposal)))
    assert (call["id"], result["tool_use_id"]) == ("toolu_1", "toolu_1")


async def test_openai_is_told_the_names_of_its_call() -> None:
    proposal = await said_by("openai", CASES["openai", "click"])
    (call,), (result,) = calls_and_results("openai", await told("openai", steps_of(proposal)))
    assert (call["id"], call["call_id"], result["call_id"]) == ("cu_1", "call_1", "call_1")
    assert "acknowledged_safety_checks" not in result


async def test_gemini_is_told_the_id_and_the_signature_of_its_call() -> None:
    answers = copy.deepcopy(CASES["gemini", "click"])
    part = answers[0]["events"][1]["candidates"][0]["content"]["parts"][0]
    part["functionCall"]["id"], part["thoughtSignature"] = "fc-7", "c2lnbmVk"
    (call,), (result,) = calls_and_results("gemini", await told("gemini", steps_of(await said_by("gemini", answers))))
    assert (call["functionCall"]["id"], result["id"]) == ("fc-7", "fc-7")
    assert call["thoughtSignature"] == "c2lnbmVk"


@pytest.mark.parametrize("provider", ["openai", "gemini"])
async def test_what_was_acknowledged_is_told(provider: Provider) -> None:
    proposal = await said_by(provider, CASES[provider, CHECKED[provider]])
    assert len(proposal.safety_checks) == 1
    (call,), (result,) = calls_and_results(provider, await told(provider, steps_of(proposal)))
    if provider == "openai":
        assert call["pending_safety_checks"] == result["acknowledged_safety_checks"]
        assert result["acknowledged_safety_checks"][0]["id"] == "cu_sc_1"
    else:
        assert call["functionCall"]["args"]["safety_decision"]["decision"] == "require_confirmation"
        assert result["response"]["safety_acknowledgement"] == "true"


@pytest.mark.parametrize("decision", ["edit", "override"])
async def test_what_a_person_changed_is_no_call_of_the_model(decision: Decision) -> None:
    proposal = await said_by("anthropic", CASES["anthropic", "click"])
    (call,), _ = calls_and_results("anthropic", await told("anthropic", steps_of(proposal, decision)))
    assert call["id"] != "toolu_1"


@pytest.mark.parametrize("provider", HOSTED)
async def test_several_calls_of_one_reply_are_told_as_one_turn(provider: Provider) -> None:
    proposal = await said_by(provider, CASES[provider, "several calls"], max_actions=3)
    assert [type(action) for action in proposal.actions] == [Click, TypeText]
    steps = steps_of(proposal)
    assert [len(step.provider_calls) for step in steps] == [1 if provider == "openai" else 2, 0]
    body = await told(provider, steps)
    calls, results = calls_and_results(provider, body)
    if provider == "openai":
        (call,), (_,) = calls, results
        assert [action["type"] for action in call["actions"]] == ["click", "type"]
        assert body["parallel_tool_calls"] is True
    elif provider == "anthropic":
        assert [call["id"] for call in calls] == [result["tool_use_id"] for result in results]
        assert len({call["id"] for call in calls}) == 2
        assert body["tool_choice"]["disable_parallel_tool_use"] is False
        assert [len(message["content"]) for message in body["messages"] if message["role"] == "assistant"] == [3]
    else:
        assert [call["functionCall"]["name"] for call in calls] == [result["name"] for result in results]
        assert len(calls) == 2
    marks = ("inline_data", "inlineData", "'type': 'image'", "image_url'")
    assert sum(str(body).count(mark) for mark in marks) == 2, "the screen the reply saw, and the present one"
