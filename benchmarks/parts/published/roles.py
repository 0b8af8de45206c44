"""The four by whom an adapter is tried: an oracle, one that does nothing, exploits, and an outage."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_backend.episode.limits import RunnerLimits
from agent_backend.errors import PolicyUnavailable
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import AttemptResult, run_episode
from agent_backend.rollout.oracles import task_oracle
from agent_backend.rollout.rewards import RewardDecider
from protocol.actions.types import Action, Finish
from protocol.benchmarks.forms import OracleSource
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError
from vm_bridge.machine import ExpertSuggestion, Machine

REF = PolicyRef(name="script", revision="1", dialect="ui_tars_1_5", scripted=True)
ATTEMPT_SECONDS = 180.0
NOTHING: tuple[Action, ...] = (Finish(),)


@dataclass(slots=True)
class RuleOfFour:
    """What came of the four. A reward is None where the attempt was lost to infrastructure, or nothing judged it."""

    name: str
    oracle_source: OracleSource
    oracle: float | None = None
    noop: float | None = None
    exploits: dict[str, float | None] = field(default_factory=dict)
    outages: dict[str, float | None] = field(default_factory=dict)

    @property
    def oracle_passes(self) -> bool:
        return self.oracle == 1

    @property
    def noop_fails(self) -> bool:
        return self.noop == 0

    @property
    def exploits_fail(self) -> bool:
        return bool(self.exploits) and all(reward == 0 for reward in self.exploits.values())

    @property
    def infrastructure_apart(self) -> bool:
        return bool(self.outages) and all(reward is None for reward in self.outages.values())

    def describe(self) -> str:
        """One line of progress."""
        return f"{self.name}: oracle {self.oracle}, no-op {self.noop}, exploits {self.exploits}, outages {self.outages}"


@dataclass(frozen=True, slots=True)
class Player:
    """Plays attempts on one machine and says what they earned."""

    machine: Machine
    decider: RewardDecider

    async def oracle(self, task: Task) -> float | None:
        """By the task's own solution."""
        return await self._reward(task, ExpertPolicy(REF, self.machine.suggest_expert_action, task_oracle))

    async def play(self, task: Task, acts: Sequence[Action]) -> float | None:
        """By these acts."""
        return await self._reward(task, scripted_policy(acts))

    async def _reward(self, task: Task, policy: ExpertPolicy) -> float | None:
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                result = await run_episode(self.machine, task, policy, RunnerLimits())
                return await decided(result, self.decider)
        except (BridgeError, PolicyUnavailable):
            return None


def scripted_policy(acts: Sequence[Action]) -> ExpertPolicy:
    """A policy that says these acts, and the end when there are none left."""
    left = deque(acts)

    async def suggest() -> ExpertSuggestion:
        return ExpertSuggestion(thought="I follow a script.", action=left.popleft() if left else Finish())

    return ExpertPolicy(REF, suggest)


async def decided(result: AttemptResult, decider: RewardDecider) -> float | None:
    """What an attempt earned; None where it was lost. Raises PolicyUnavailable where a judge does not answer."""
    if result.trajectory is None:
        return None
    return (await decider.decide(result.trajectory, result.blob)).value


async def rule_of_four(
    name: str,
    source: OracleSource,
    task: Task,
    player: Player,
    exploits: Mapping[str, Sequence[Action]],
) -> RuleOfFour:
    """The oracle, the one that does nothing, and the exploits; outages are the caller's."""
    rule = RuleOfFour(name, source)
    rule.oracle = await player.oracle(task)
    rule.noop = await player.play(task, NOTHING)
    for exploit, acts in exploits.items():
        rule.exploits[exploit] = await player.play(task, acts)
    return rule


def unjudged(folder: Path) -> RewardDecider:
    """Without a judge: the verifier alone decides."""
    return RewardDecider((), folder / "judgements.jsonl")
