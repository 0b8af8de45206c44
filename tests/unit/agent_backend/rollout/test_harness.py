"""The harness of games: words of the screen, the last turns and a reflection in the prompt, and the same actions."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_backend.errors import PolicyError
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from agent_backend.rollout.harness import TURNS, HarnessedPolicy, described
from agent_backend.telemetry.requests import describe_policy
from protocol.blobs import BlobRef
from protocol.evaluation.benchmarks import Harness
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import BrowserPage, Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.test_openai_chat import ENDPOINT, past, picture, seen, texts

REPLY = "Thought: I go on.\nAction: click(start_box='(100,100)')"
TASK = Task(id="games/2048", instruction="Play 2048.", platform="browser", suite="games", name="2048")
ONE = ENDPOINT.model_copy(update={"sampling": SamplingParams(n=1), "budget": HistoryBudget(images=2, stride=1)})


def worded(observation: Observation, words: str | None) -> Observation:
    page = BrowserPage(title="2048", clock="exact", seed=0, time_ms=0, description=words)
    return observation.model_copy(update={"page": page})


def turns(count: int) -> tuple[Step, ...]:
    return tuple(
        step.model_copy(update={"before": worded(step.before, f"board {step.index}"), "after": None})
        for step in past(count)
    )


async def ask(
    harness: Harness | None, count: int, words: str | None = "board now", endpoint: PolicyEndpoint = ONE
) -> list[dict[str, Any]]:
    """The requests of one decision after so many turns."""
    server = ModelServer(
        *(Events([chunk(0, text)]) for text in ("The corner fills up.", REPLY)[not count or not harness :])
    )
    kept = {seen(number).screenshot: picture(number) for number in range(count + 1)}

    async def blob(ref: BlobRef) -> bytes:
        return kept[ref]

    async def partial(_: object) -> None:
        """Ignores partial replies."""

    policy = OpenAIPolicy(endpoint, transport=server.transport)
    proposer = policy if harness is None else HarnessedPolicy(policy, harness)
    steps = turns(count) if words is not None else past(count)
    now = seen(count) if words is None else worded(seen(count), words)
    (proposal,) = await proposer.propose(
        TASK, steps, now, kinds=frozenset({"click", "finish"}), blob=blob, partial=partial
    )
    assert proposal.action is not None
    return server.asked


def pictures(body: dict[str, Any]) -> int:
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    return sum(part["type"] == "image_url" for part in parts)


async def test_the_policy_reads_the_screen_and_its_reflection_beside_the_picture() -> None:
    reflected, decided = await ask("both", 3)
    (question,) = reflected["messages"]
    assert pictures(reflected) == 0
    assert all(f"board {number}" in question["content"] for number in range(3))
    assert "thought 2" in question["content"]
    assert (reflected["temperature"], "board now" in question["content"]) == (0, True)
    last = texts(decided["messages"][-1])
    assert "board now" in last
    assert "The corner fills up." in last
    assert pictures(decided) == 2
    assert sum("The screen in words" in texts(message) for message in decided["messages"]) == 4, (
        "older turns keep their words"
    )


async def test_words_stand_in_place_of_pictures() -> None:
    _, decided = await ask("text", 3)
    assert pictures(decided) == 0
    assert "board now" in texts(decided["messages"][-1])


async def test_only_the_last_turns_are_remembered() -> None:
    reflected, decided = await ask("text", TURNS + 3)
    for body in (reflected, decided):
        whole = "\n".join(map(texts, body["messages"]))
        assert "board 2" not in whole
        assert "board 3" in whole


async def test_the_first_turn_has_nothing_to_reflect_on() -> None:
    (decided,) = await ask("both", 0)
    assert "reflection" not in texts(decided["messages"][-1])


async def test_the_actions_are_the_same_with_the_harness_and_without() -> None:
    (_, harnessed), (alone,) = await ask("both", 3), await ask(None, 3, words=None)
    assert harnessed["messages"][0] == alone["messages"][0], "what may be done"
    assert "in words" not in "\n".join(map(texts, alone["messages"]))
    assert pictures(harnessed) == pictures(alone)


async def test_a_page_without_words_has_no_harness() -> None:
    with pytest.raises(PolicyError, match="does not describe its screen"):
        await ask("both", 0, words=None)


async def test_a_script_reflects_on_nothing() -> None:
    scripted = ONE.model_copy(update={"scripted": True})
    server: Callable[..., Any] = ModelServer
    policy = OpenAIPolicy(scripted, transport=server(Events([chunk(0, REPLY)])).transport)
    assert await HarnessedPolicy(policy, "both")._reflect(TASK, turns(2), "board") == ""


def test_spans_name_the_model_behind_the_harness() -> None:
    policy = OpenAIPolicy(ONE)
    harnessed = HarnessedPolicy(policy, "both")
    assert describe_policy(harnessed, harnessed.ref) == policy.description


def test_a_described_task_is_the_same_task() -> None:
    task = described(TASK)
    assert (task.id, task.seed, task.parameters) == (TASK.id, TASK.seed, {"described": True})
