"""The toy flywheel, over the trainer's toy world. Attempts of its own policy are imported."""

import secrets
from pathlib import Path

from django.conf import settings

from annotation_app.accounts.services import user_ensure
from annotation_app.errors import Invalid
from annotation_app.flywheel.models import Turn, TurnState, Wheel
from annotation_app.flywheel.recipe import (
    GateTrials,
    GeneralData,
    LikelihoodTraining,
    MixShares,
    Recipe,
    ReinforcementTraining,
)
from annotation_app.flywheel.services.ledger import wheel_set
from annotation_app.imports.services import import_folder_run
from annotation_app.policies.gate import Gate
from annotation_app.policies.schemas import RevisionIn
from annotation_app.policies.services import revision_add
from annotation_app.promotions.services import gate_set, policy_activate
from annotation_app.tasks.models import Pool
from protocol.base import FrozenModel

NAME, POLICY, START_REVISION = "small", "toy", "start"
CORNERS_DOCUMENT = "# Corners\n\nA picture shines in one of four colours. Each colour has a corner: NW, NE, SW or SE.\n"
TRAINER_SETTINGS = {"vision": True, "learning_rate": 0.001, "warmup": 1, "tokens": 256, "keep_every": 10}


class ToyFlywheelStatus(FrozenModel):
    """The active revision, and how many cycles have ended."""

    checkpoint: str
    revision: str
    ended: int
    running: bool


def toy_flywheel_set(*, start: Path, server: str, attempts: Path, seeds: int) -> None:
    """Import attempts, and create what is missing: the first revision, a gate, the flywheel. Raises Invalid."""
    job = import_folder_run(folder=attempts, pool=NAME)
    if job.status != "done" or job.refused:
        raise Invalid(f"The attempts did not come in: {job.error or job.refusals.first()}")
    pool = Pool.objects.get(name=NAME)
    user = user_ensure(username="wheel", password=secrets.token_urlsafe(), name="Wheel", roles=["admin"])
    if pool.policy is None:
        first, _new = revision_add(user=user, revision=_first(start, server))
        gate_set(user=user, pool_id=pool.pk, gate=Gate(attempts=seeds))
        policy_activate(user=user, pool_id=pool.pk, revision_id=first.pk)
    wheel_set(user=user, name=NAME, pool=NAME, recipe=_recipe(start, server, seeds))


def toy_flywheel_status(*, start: Path) -> ToyFlywheelStatus:
    """The status of the toy flywheel; the initial status before it exists."""
    wheel = Wheel.objects.select_related("pool__policy").filter(name=NAME).first()
    revision = wheel.pool.policy if wheel else None
    turns = Turn.objects.filter(wheel=wheel)
    return ToyFlywheelStatus(
        checkpoint=revision.checkpoint if revision else str(start),
        revision=revision.revision if revision else START_REVISION,
        ended=turns.exclude(state=TurnState.RUNNING).count(),
        running=turns.filter(state=TurnState.RUNNING).exists(),
    )


def _first(start: Path, server: str) -> RevisionIn:
    return RevisionIn(
        name=POLICY,
        revision=START_REVISION,
        dialect="ui_tars_1_5",
        base_url=f"{server}/v1",
        model=POLICY,
        checkpoint=str(start),
        weight_version=START_REVISION,
    )


def _recipe(start: Path, server: str, seeds: int) -> Recipe:
    general = settings.ENV.data.absolute() / "flywheel" / "general"
    general.mkdir(parents=True, exist_ok=True)
    (general / "corners.md").write_text(CORNERS_DOCUMENT)
    return Recipe(
        policy=POLICY,
        start=str(start),
        general={"documents": GeneralData(kind="documents", paths=(str(general),))},
        ct=LikelihoodTraining(
            updates=10,
            every=2,
            shares=MixShares(fresh=0.1, earlier=0.1, general=0.8),
            settings=TRAINER_SETTINGS,
        ),
        sft=LikelihoodTraining(
            updates=30,
            shares=MixShares(fresh=0.6, earlier=0.3, general=0.1),
            settings=TRAINER_SETTINGS,
        ),
        rl=ReinforcementTraining(
            updates=4,
            settings={**TRAINER_SETTINGS, "keep_every": 1, "world": "lights", "attempts": 16, "group": 4},
        ),
        trials=GateTrials(world="toy", seeds=seeds),
        server=server,
    )
