"""A model that misbehaves: the annotator reads what happened, goes on by override, and nothing is lost."""

import asyncio
import json

import httpx
import pytest

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.openai_chat import OpenAIPolicy
from protocol.messages.events import ProposalsThinking
from tests.unit.agent_backend.conftest import EpisodeHarness, act
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from tests.unit.agent_backend.policy.test_openai_chat import ENDPOINT

CONTEXT = "This model's maximum context length is 4096 tokens. However, your request has 9000 input tokens."
ONCE = RequestTimeouts(attempts=1, pause=0.0)
HURRIED = RequestTimeouts(total=0.2, attempts=1, pause=0.0)
"""For a model that never comes to its end."""


def policy(server: ModelServer, timeouts: RequestTimeouts = ONCE) -> OpenAIPolicy:
    return OpenAIPolicy(ENDPOINT.model_copy(update={"timeouts": timeouts}), transport=server.transport)


def looping() -> Events:
    """A reply that says the same for ever, until the server's own bound cuts it."""
    said = chunk(0, "Thought: " + "I click the button. " * 400)
    said["choices"][0]["finish_reason"] = "length"
    return Events([said])


def answering(reply: str) -> Events:
    return Events([chunk(0, reply)])


SILENT: dict[str, tuple[Events | httpx.Response | Exception, str]] = {
    "down": (httpx.ConnectError("connection refused"), "does not answer"),
    "slow to begin": (httpx.ReadTimeout("slow"), "no token within"),
    "slow to end": (Events([chunk(0, "Thought: ")], asyncio.Event()), "did not finish within"),
    "no stream": (httpx.Response(200, text="<html>hello</html>"), "a web page"),
    "garbage in the stream": (Events([{"choices": "none"}]), "no completion chunk"),
    "gave up": (Events([{"error": {"message": "out of memory"}}]), "out of memory"),
    "exceeds the context": (httpx.Response(400, json={"error": {"message": CONTEXT}}), "maximum context length"),
    "a model nobody serves": (httpx.Response(404, json={"error": {"message": "no model ui-tars"}}), "no model ui-tars"),
    "wrong key": (httpx.Response(401, text="who are you?"), "who are you?"),
}


@pytest.mark.parametrize("name", SILENT)
async def test_a_model_that_offers_nothing(harness: EpisodeHarness, name: str) -> None:
    answer, words = SILENT[name]
    if isinstance(answer, Events):
        answer = Events(answer._sent, answer._hold)
    harness.current = policy(ModelServer(answer), HURRIED if name == "slow to end" else ONCE)
    await harness.started("failed")
    told = [event.message for event in harness.events if isinstance(event, ProposalsThinking) and event.message]
    assert words in told[0]
    await goes_on(harness)


UNREADABLE: dict[str, tuple[Events, str]] = {
    "garbage": (answering("\x00\ufffd)(*&^%"), "no_action"),
    "nothing at all": (answering(""), "no_action"),
    "a loop": (looping(), "no_action"),
    "another grammar": (answering('{"action": "click", "arguments": {"point": [1, 2]}}'), "no_action"),
    "a tool that does not exist": (answering("Action: teleport(point='<point>1 2</point>')"), "unknown_action"),
    "off screen": (answering("Action: click(point='<point>99999 5</point>')"), "off_screen"),
    "a reply that was cut": (answering("Thought: So.\nAction: type(content='rm -rf"), "unfinished_call"),
}


@pytest.mark.parametrize("name", UNREADABLE)
async def test_a_reply_nobody_can_read(harness: EpisodeHarness, name: str) -> None:
    answer, code = UNREADABLE[name]
    harness.current = policy(ModelServer(answer))
    await harness.started()
    (proposal,) = harness.store.state.proposals
    assert proposal.action is None
    assert proposal.error is not None
    assert (proposal.error.code, bool(proposal.error.message)) == (code, True)
    await goes_on(harness)
    assert harness.store.offered[0][0].raw_text == proposal.raw_text, "what it said is kept"


async def test_a_model_that_is_exchanged_under_a_running_episode(harness: EpisodeHarness) -> None:
    harness.policy = FakePolicy(revision="1")
    harness.current = harness.policy
    await harness.started()
    first = harness.store.state.proposals[0]
    await harness.send(act(1))
    await harness.steps(1)
    harness.current = FakePolicy(revision="2")
    harness.runner.wake()
    await harness.until(lambda: [p.policy.revision for p in harness.store.state.proposals] == ["2"])
    assert harness.store.state.steps[0].policy == first.policy
    await goes_on(harness, steps=2)
    assert [step.policy and step.policy.revision for step in harness.store.state.steps] == ["1", "2"]


async def goes_on(harness: EpisodeHarness, steps: int = 1) -> None:
    """An override is done and stored, whatever the model does."""
    await harness.send(act(100 + steps, thought="I do it myself."))
    await harness.steps(steps)
    assert harness.store.state.steps[-1].decision == "override"
    assert harness.store.state.status == "running"
    assert json.loads(harness.store.state.model_dump_json())
