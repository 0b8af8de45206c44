"""What is attempted: which tasks of a suite or a file, in which forms, on which machines."""

from pydantic import Field

from agent_backend.judges.reward_judges import RewardJudges
from protocol.base import FrozenModel, JsonObject
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.benchmarks import Harness
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Language, Task


class RolloutPlan(FrozenModel):
    """One set of attempts; the same plan is always the same tasks."""

    suite: str = ""
    """Whose bundled tasks; none: those of `source`."""
    source: str = ""
    """A file or folder of tasks; see `agent_backend.rollout.task_sources`."""
    source_sha256: str = ""
    """The checksum of what `source` held when the plan was made."""
    max_steps: int | None = Field(default=None, ge=1, le=1_000)
    """Most steps of every attempt, in place of the tasks' own."""
    policy: PolicyRef
    sampling: SamplingParams | None = None
    """How its replies are drawn; none: it draws nothing."""
    memory: HistoryBudget = HistoryBudget()
    """How much of an attempt it is shown again at each step."""
    prompt: PromptTemplate | None = None
    """In place of its dialect's own."""
    names: tuple[str, ...] = ()
    """Which tasks; none: all of the suite."""
    kinds: tuple[str, ...] = ()
    """Which kinds of task, as `protocol.trajectory.tasks.task_kind` writes them; none: all."""
    seeds: int = Field(default=1, ge=1)
    """Attempts at each task, with rising seeds."""
    first_seed: int = Field(default=0, ge=0)
    levels: tuple[int, ...] = (1,)
    """Of a suite's tasks; none: every level there is."""
    language: Language = "en"
    size: tuple[int, int] | None = None
    image: str | None = None
    """The kind of machine; none: the one that is called like the task's platform."""
    harness: Harness | None = None
    """See `agent_backend.rollout.harness`; None: the policy sees pictures only."""
    judges: RewardJudges = RewardJudges(judges=())
    """Who decides what an attempt earns that no verifier judges."""

    def image_of(self, task: Task) -> str:
        """Where a task is attempted."""
        return self.image or task.platform

    def record(self) -> JsonObject:
        """The plan as it is written beside attempts; fields of later versions only where they say something."""
        later = {"source", "source_sha256", "max_steps", "kinds", "prompt", "harness", "judges"}
        whole: JsonObject = {**self.model_dump(mode="json"), "judges": self.judges.model_dump(mode="json")["judges"]}
        return {name: value for name, value in whole.items() if name not in later or value}
