"""The trainings of a cycle: by phase, and by pool if specialists are trained."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Max

from annotation_app.flywheel.models import Checkpoint, Turn
from annotation_app.flywheel.recipe import LikelihoodTraining, PreferenceTraining, ReinforcementTraining
from annotation_app.flywheel.selectors.pools import turn_pools
from annotation_app.tasks.models import Pool

PREFERENCES = "pref"
PHASES = ("ct", "sft", "merge", PREFERENCES, "rl")
"""In the order of a cycle. Each begins with the weights of the previous one."""


Plan = TypeVar("Plan", bound=LikelihoodTraining | PreferenceTraining | ReinforcementTraining, covariant=True)


@dataclass(frozen=True)
class Training(Generic[Plan]):
    """One training of a cycle."""

    phase: str
    plan: Plan
    pools: tuple[Pool, ...]
    """The pools whose trajectories it learns from."""
    domain: str = ""
    """The name of its pool, if it trains a specialist."""

    @property
    def name(self) -> str:
        """The base name of its files."""
        return f"{self.phase}-{self.pools[0].pk}" if self.domain else self.phase

    @property
    def route(self) -> str:
        """The route of the samples that it learns from. Preferences are learned from samples that may be imitated."""
        return "sft" if self.phase == PREFERENCES else self.phase


LikelihoodRun = Training[LikelihoodTraining]
PreferenceRun = Training[PreferenceTraining]
FolderRun = LikelihoodRun | PreferenceRun
"""A training that learns from folders of trajectories."""
AnyTraining = FolderRun | Training[ReinforcementTraining]


def folder_trainings(turn: Turn) -> tuple[FolderRun, ...]:
    """The due trainings that learn from folders and have made no checkpoint yet, in order."""
    every: list[FolderRun] = [*_likelihood(turn), *preferences_of(turn)]
    found = [one for one in every if is_due(turn, one)]
    return tuple(one for one in found if trained_checkpoint(turn, one.phase, one.domain) is None)


def preferences_of(turn: Turn) -> tuple[PreferenceRun, ...]:
    """The preference training, which learns from all pools at once; none if the recipe has none."""
    plan = turn.recipe.preferences
    return () if plan is None else (Training(PREFERENCES, plan, turn_pools(turn)),)


def specialists_of(turn: Turn) -> tuple[LikelihoodRun, ...]:
    """The trainings of specialists; none if pools are not trained separately."""
    return tuple(one for one in _likelihood(turn) if one.domain)


def shared_trainings(turn: Turn) -> tuple[LikelihoodRun, ...]:
    """The likelihood trainings that learn from all pools at once."""
    return tuple(one for one in _likelihood(turn) if not one.domain)


def _likelihood(turn: Turn) -> Sequence[LikelihoodRun]:
    recipe, pools = turn.recipe, turn_pools(turn)
    found = [Training("ct", recipe.ct, pools)] if recipe.ct is not None else []
    if recipe.sft is None:
        return found
    if recipe.specialists is None or len(pools) < 2:
        return [*found, Training("sft", recipe.sft, pools)]
    return [*found, *(Training("sft", recipe.sft, (pool,), pool.name) for pool in pools)]


def trained_checkpoint(turn: Turn, phase: str, domain: str = "") -> Checkpoint | None:
    """The earlier result of this training of the cycle."""
    return Checkpoint.objects.filter(turn=turn, phase=phase, domain=domain).first()


def last_trained_turn(turn: Turn, training: AnyTraining) -> int:
    """The number of the flywheel's last earlier cycle with this training, 0 without one. Samples routed in a cycle that
    failed, was cancelled or found no data are still new. A training of all pools counts for each."""
    trained = Checkpoint.objects.filter(
        turn__wheel=turn.wheel_id,
        turn__number__lt=turn.number,
        phase=training.phase,
        domain__in=("", training.domain),
    )
    return trained.aggregate(last=Max("turn__number"))["last"] or 0


def is_due(turn: Turn, training: AnyTraining) -> bool:
    """Whether the training is due in this cycle, by its interval."""
    return turn.number - last_trained_turn(turn, training) >= training.plan.every
