"""The plan of a rollout: which tasks of a suite or a file, in which variants, on which machines."""

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
    """One set of attempts. The same plan always gives the same tasks."""

    suite: str = ""
    """The suite of bundled tasks; empty: the tasks of `source`."""
    source: str = ""
    """A file or folder of tasks; see `agent_backend.rollout.task_sources`."""
    source_sha256: str = ""
    """The checksum of what `source` held when the plan was made."""
    max_steps: int | None = Field(default=None, ge=1, le=1_000)
    """Maximum steps of every attempt, in place of the tasks' own limits."""
    policy: PolicyRef
    sampling: SamplingParams | None = None
    """How the policy's replies are sampled; None: it does not sample."""
    memory: HistoryBudget = HistoryBudget()
    """How much of the attempt's history the policy sees at each step."""
    prompt: PromptTemplate | None = None
    """Replaces the prompt of the policy's dialect."""
    names: tuple[str, ...] = ()
    """Names of the tasks; empty: all."""
    kinds: tuple[str, ...] = ()
    """Kinds of task, as `protocol.trajectory.tasks.task_kind` writes them; empty: all."""
    seeds: int = Field(default=1, ge=1)
    """Attempts at each task, with rising seeds."""
    first_seed: int = Field(default=0, ge=0)
    levels: tuple[int, ...] = (1,)
    """Levels of a suite's tasks; empty: every level there is."""
    language: Language = "en"
    size: tuple[int, int] | None = None
    image: str | None = None
    """The machine image; None: the one named after the task's platform."""
    harness: Harness | None = None
    """See `agent_backend.rollout.harness`; None: the policy sees pictures only."""
    judges: RewardJudges = RewardJudges(judges=())
    """Judges that decide the reward of attempts without a verifier's verdict."""

    def image_of(self, task: Task) -> str:
        """The machine image on which a task is attempted."""
        return self.image or task.platform

    def record(self) -> JsonObject:
        """The plan as it is stored with the attempts. Fields added in later versions are left out if empty."""
        later = {"source", "source_sha256", "max_steps", "kinds", "prompt", "harness", "judges"}
        whole: JsonObject = {**self.model_dump(mode="json"), "judges": self.judges.model_dump(mode="json")["judges"]}
        return {name: value for name, value in whole.items() if name not in later or value}
