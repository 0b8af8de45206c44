"""A harness for games: at each decision it adds the screen in words, the last turns, and a reflection on them.

After LMGame-Bench (arXiv 2505.15146, section 3): a perception module that writes the game's state, and a memory module
with the last ten turns and a reflection. The harness does not change which actions a policy may take.
"""

from collections.abc import Awaitable, Callable

from agent_backend.errors import PolicyError
from agent_backend.interfaces import Policy, SaveBlob, WritingPolicy, discard_blob
from agent_backend.rollout.attempts import PolicyFactory
from agent_backend.telemetry.requests import ModelDescription, describe_policy
from protocol.actions.descriptions import describe_action
from protocol.actions.tools import Tool
from protocol.blobs import BlobRef
from protocol.dialects.conversations import break_special_tokens
from protocol.dialects.dialect import ChatMessage, TextPart
from protocol.evaluation.benchmarks import Harness
from protocol.messages.events import Partial
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.machine import Machine

TURNS = 10
"""Number of last turns that the policy sees and reflects on."""
MAX_REFLECTION_TOKENS = 256
REFLECTION_PROMPT = """You play a game and look back at your last turns before you decide on the next one.

Task: {task}

Your last turns, the oldest first:
{turns}

The screen now:
{screen}

Write in at most 100 words of {language}: what the last action changed, whether it did what it was meant to, what to \
avoid, and what to go for next. Only the reflection."""


class HarnessedPolicy:
    """A policy behind the harness. Its tasks must come from `described`."""

    def __init__(self, policy: Policy, harness: Harness) -> None:
        self.ref = policy.ref
        self._policy, self._harness = policy, harness

    @property
    def description(self) -> ModelDescription:
        """See `DescribedPolicy.description`."""
        return describe_policy(self._policy, self.ref)

    async def propose(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: Callable[[BlobRef], Awaitable[bytes]],
        partial: Callable[[tuple[Partial, ...]], Awaitable[None]],
        save_blob: SaveBlob = discard_blob,
    ) -> tuple[Proposal, ...]:
        """See `Policy.propose`. Raises PolicyError also if the page does not describe its screen."""
        words = screen_words(observation)
        if words is None:
            raise PolicyError("the page of this task does not describe its screen, which the harness needs")
        recent = tuple(map(self._shown, steps[-TURNS:]))
        if reflection := await self._reflect(task, recent, words):
            words = f"{words}\n\nYour reflection on the last turns:\n{reflection}"
        return await self._policy.propose(
            task,
            recent,
            self._perceived(observation, words),
            kinds=kinds,
            tools=tools,
            blob=blob,
            partial=partial,
            save_blob=save_blob,
        )

    async def _reflect(self, task: Task, steps: tuple[Step, ...], words: str) -> str:
        """The model's reflection on its last turns. Empty at the first turn, for a script, and for a policy that cannot
        write text."""
        if not steps or self.ref.scripted or not isinstance(self._policy, WritingPolicy):
            return ""
        prompt = REFLECTION_PROMPT.format(
            task=break_special_tokens(task.instruction),
            turns="\n\n".join(map(_describe_turn, steps)),
            screen=break_special_tokens(words),
            language=self._policy.language,
        )
        message = ChatMessage(role="user", content=(TextPart(text=prompt),))
        return await self._policy.write_text((message,), max_tokens=MAX_REFLECTION_TOKENS)

    def _shown(self, step: Step) -> Step:
        """A step as the policy sees it in its history."""
        return step.model_copy(update={"before": self._perceived(step.before, screen_words(step.before))})

    def _perceived(self, observation: Observation, words: str | None) -> Observation:
        """The observation with these words, and without its picture if the harness is text only."""
        assert observation.page is not None, "only pages have words"
        page = observation.page.model_copy(update={"description": words})
        screenshot = observation.screenshot if self._harness == "both" else None
        return observation.model_copy(update={"page": page, "screenshot": screenshot})


def screen_words(observation: Observation) -> str | None:
    """The page's description of its screen."""
    return None if observation.page is None else observation.page.description


def described(task: Task) -> Task:
    """The task with a page description in each observation. Its id and its start state stay the same."""
    return task.model_copy(update={"parameters": {**task.parameters, "described": True}})


def harness_factory(policy_factory: PolicyFactory, harness: Harness) -> PolicyFactory:
    """A factory that wraps each policy in the harness."""

    def factory(machine: Machine) -> Policy:
        return HarnessedPolicy(policy_factory(machine), harness)

    return factory


def _describe_turn(step: Step) -> str:
    thought = break_special_tokens(step.thought)
    failed = "" if step.error is None else f"\nIt failed: {break_special_tokens(step.error.message)}"
    screen = break_special_tokens(screen_words(step.before) or "")
    return f"Screen:\n{screen}\nThought: {thought}\nAction: {describe_action(step.action)}{failed}"
