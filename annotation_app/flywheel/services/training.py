"""The training stages: data folders, and the trainer's commands, each from the previous one's weights."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation_app.errors import Conflict
from annotation_app.flywheel.curves import final_figures
from annotation_app.flywheel.models import Checkpoint, Played, Turn
from annotation_app.flywheel.paths import checkpoint_path
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, trainer_python
from annotation_app.flywheel.recipe import LikelihoodTraining, PreferenceTraining, ReinforcementTraining
from annotation_app.flywheel.rollouts import RolloutPlan, count_refused, train_on_rollouts
from annotation_app.flywheel.selectors.pools import turn_pools
from annotation_app.flywheel.selectors.turns import own_active
from annotation_app.flywheel.services.lineage import lineage_record
from annotation_app.flywheel.services.merging import merge_specialists
from annotation_app.flywheel.services.mixing import write_sources
from annotation_app.flywheel.services.own_attempts import RL_INBOX
from annotation_app.flywheel.services.pool_tasks import played_pool, write_pool_tasks
from annotation_app.flywheel.services.reward_judges import reward_judges_of
from annotation_app.flywheel.services.trainings import (
    AnyTraining,
    Training,
    is_due,
    preferences_of,
    shared_trainings,
    specialists_of,
    trained_checkpoint,
)
from annotation_app.flywheel.services.turn_files import file_write, turn_folder
from annotation_app.tasks.models import Pool

CRITIC_FOLDER = "critic"
"""The folder of the critic in a checkpoint that PPO made."""


def mix(turn: Turn) -> dict[str, Any]:
    """Write the training data of the cycle. Raises Conflict if no server would serve the result."""
    serving_url(turn)
    return write_sources(turn)


def train(turn: Turn, programs: ProgramRunner) -> dict[str, Any]:
    """Run continued pre-training, imitation, preferences and reinforcement, as far as they are due and have data. The
    mixed data is checked again: it may have been deleted since, and copies are deleted with a cycle that ended.
    Specialists all start from the result of the shared trainings. Preferences and reinforcement continue from their
    merge."""
    mix(turn)
    begun_with, parent = start_checkpoint(turn), _parent_of(turn)
    made: list[Checkpoint] = []

    def advance(done: Checkpoint | None) -> None:
        nonlocal begun_with, parent
        if done is not None:
            begun_with, parent = done.path, done
            made.append(done)

    for training in shared_trainings(turn):
        advance(_trained(turn, training, begun_with, parent, programs))
    specialists = [_trained(turn, one, begun_with, parent, programs) for one in specialists_of(turn)]
    parts = [one for one in specialists if one is not None]
    made += parts
    if len(parts) == 1:  # nothing to merge it with
        begun_with, parent = parts[0].path, parts[0]
    elif parts:
        merged = trained_checkpoint(turn, "merge")
        if merged is None:
            weights = merge_specialists(turn, parts, programs)
            merged = _checkpoint_record(turn, "merge", weights, begun_with, parent, name="merge", parts=parts)
        advance(merged)
    for preference_training in preferences_of(turn):
        advance(_trained(turn, preference_training, begun_with, parent, programs))
    if turn.recipe.rl is not None:
        advance(_trained(turn, Training("rl", turn.recipe.rl, turn_pools(turn)), begun_with, parent, programs))
    refused = count_refused(turn_folder(turn) / "train" / RL_INBOX)
    return {
        "phases": list(dict.fromkeys(one.phase for one in made)),
        "checkpoint": begun_with if made else "",
        "figures": final_figures(turn_folder(turn)),
        **({"specialists": [one.domain for one in parts]} if parts else {}),
        **({"refused": refused} if refused else {}),
    }


def _trained(
    turn: Turn, training: AnyTraining, begun_with: str, parent: Checkpoint | None, programs: ProgramRunner
) -> Checkpoint | None:
    """The result of a training, made earlier or now."""
    done = trained_checkpoint(turn, training.phase, training.domain)
    return done or _phase(turn, training, begun_with, parent, programs)


def start_checkpoint(turn: Turn) -> str:
    """The checkpoint that a cycle begins with: that of the policy's active revision."""
    active = own_active(turn)
    return (active.checkpoint if active else "") or turn.recipe.start


def serving_url(turn: Turn) -> str:
    """The address at which the cycle's revision will serve people, with /v1: the recipe's server, else the active
    revision's. Raises Conflict if there is none."""
    if turn.recipe.server:
        return f"{turn.recipe.server.rstrip('/')}/v1"
    active = own_active(turn)
    if active is None:
        policy, pool = turn.recipe.policy, turn.wheel.pool
        message = f"Nobody serves {policy}: the recipe names no server, and no revision of it proposes in {pool}."
        raise Conflict(message, code="nobody_serves")
    return active.base_url


def _parent_of(turn: Turn) -> Checkpoint | None:
    """The start checkpoint's ledger row, if a cycle of any flywheel trained it. It is found by its revision, which
    holds its current path."""
    active, trained = own_active(turn), Checkpoint.objects.order_by("-id")
    registered = trained.filter(revision=active).first() if active else None
    return registered or trained.filter(path=start_checkpoint(turn)).first()


def _phase(
    turn: Turn, training: AnyTraining, begun_with: str, parent: Checkpoint | None, programs: ProgramRunner
) -> Checkpoint | None:
    """Run or resume one training; None if it is not due or has no data."""
    if not is_due(turn, training):
        return None
    plan, name = training.plan, training.name
    folder, rollout_plan = turn_folder(turn), None
    trainer_settings = {
        "checkpoint": checkpoint_path(begun_with),
        "out": str(folder / "train" / name),
        "updates": plan.updates,
        **plan.settings,
    }
    if not isinstance(plan, ReinforcementTraining):
        sources = json.loads((folder / f"{name}-sources.json").read_text())
        if not sources:
            return None
        command, more = _training_command(plan, sources, _wording(turn))
        trainer_settings |= more
    else:
        command = ("trainer", plan.algorithm)
        kinds = list(Played.objects.filter(turn=turn, chosen=True).values_list("kind", flat=True))
        if not kinds:
            return None
        file_write(folder / "rl-tasks.json", kinds)
        rollout_plan = _rollout_plan(turn, plan, kinds)
        if rollout_plan is not None and not rollout_plan.tasks:
            return None
        trainer_settings = rollout_plan.trainer_settings | trainer_settings if rollout_plan else trainer_settings
        trainer_settings = {**_last_critic(turn, plan), **trainer_settings}
        trainer_settings |= {"inbox": str(folder / "train" / RL_INBOX), **_wording(turn)}
    config, log = folder / "train" / f"{name}.json", folder / "train" / f"{name}.log"
    file_write(config, trainer_settings)
    words = [trainer_python(), "-m", *command, "--config", str(config)]
    if rollout_plan is None:
        made = Path(programs.run(words, log=log))
    else:
        made = Path(train_on_rollouts(programs, words, rollout_plan, threads=rollout_plan.play.threads, log=log))
    if not made.is_dir():
        raise ProgramFailed(f"The trainer named no checkpoint: {str(made)[:200]!r}")
    return _checkpoint_record(turn, training.phase, made, begun_with, parent, name=name, domain=training.domain)


def _last_critic(turn: Turn, plan: ReinforcementTraining) -> dict[str, str]:
    """The critic that PPO left in an earlier cycle of the flywheel. It is trained further, unless the recipe's settings
    name another."""
    if plan.algorithm != "ppo":
        return {}
    reinforced = Checkpoint.objects.filter(turn__wheel=turn.wheel_id, turn__number__lt=turn.number, phase="rl")
    last = reinforced.order_by("-turn__number").first()
    critic = Path(checkpoint_path(last.path), CRITIC_FOLDER) if last else None
    return {"critic": str(critic)} if critic is not None and critic.is_dir() else {}


def _rollout_plan(turn: Turn, plan: ReinforcementTraining, kinds: Sequence[str]) -> RolloutPlan | None:
    """The rollout plan for these kinds of task, as far as the suite or pool has them; None if external players play.
    Raises Conflict if there is no such pool."""
    if plan.play is None:
        return None
    folder, active, pool = turn_folder(turn) / "train", own_active(turn), played_pool(turn.recipe, turn.wheel.pool)
    if pool is None:
        raise Conflict(f"There is no pool {plan.play.pool!r} to play.", code="unknown_pool")
    source = folder / "rl-tasks.jsonl" if plan.play.source == "pool" else None
    return RolloutPlan(
        play=plan.play,
        tasks=(
            plan.play.suite_kinds(kinds)
            if source is None
            else write_pool_tasks(pool, turn.recipe.trials, kinds, source)
        ),
        source=source,
        image="" if source is None else pool.image,
        bridge=settings.ENV.bridge_url,
        policy=turn.recipe.policy,
        dialect=turn.recipe.dialect,
        memory=active.memory if active else {},
        prompt=active.prompt if active else None,
        temperature=float(str(plan.settings.get("temperature", 1))),
        turn=turn.number,
        updates=plan.updates,
        run=folder / "rl",
        inbox=folder / RL_INBOX,
        serving=turn.recipe.serving,
        judges=_judges_file(pool, folder) if plan.play.judges else None,
    )


def _judges_file(pool: Pool, folder: Path) -> Path:
    """The file with the judges of the pool that is played, for the player. Raises Conflict if none judges there."""
    judges = reward_judges_of(pool.pk)
    if not judges["judges"]:
        raise Conflict("Rewards are to be decided by judges, and none judges in the pool.", code="no_judges")
    file_write(path := folder / "rl-judges.json", judges)
    return path


def _wording(turn: Turn) -> dict[str, Any]:
    """The wording in which the trainer reads attempts: the dialect, and the active revision's prompt if it has its
    own."""
    active = own_active(turn)
    return {
        "dialect": turn.recipe.dialect,
        **({"prompt": active.prompt.model_dump()} if active and active.prompt else {}),
    }


def _training_command(
    plan: LikelihoodTraining | PreferenceTraining, sources: dict[str, Any], wording: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The command and settings that train on these sources."""
    folders = [path for one in sources.values() for path in one["paths"]]
    if isinstance(plan, PreferenceTraining):
        return ("trainer", plan.algorithm), {"folders": folders, "sources": list(plan.choices), **wording}
    weighting = {} if plan.corrections == "none" else {"weighting": plan.corrections}
    if plan.by == "nano":
        return ("trainer.nano", "clicking"), {"folders": folders, **weighting}
    return ("trainer", "ct"), {"sources": sources, **weighting, **wording}


@transaction.atomic(durable=True)
def _checkpoint_record(
    turn: Turn,
    phase: str,
    made: Path,
    begun_with: str,
    parent: Checkpoint | None,
    *,
    name: str,
    domain: str = "",
    parts: Sequence[Checkpoint] = (),
) -> Checkpoint:
    """Record a checkpoint with its training data or merged parts, atomically and once. `name` is the base name of the
    training's files."""
    checkpoint = Checkpoint.objects.create(
        turn=turn,
        phase=phase,
        domain=domain,
        path=str(made),
        sha256=weights_sha256(made),
        begun_with=begun_with,
        parent=parent,
    )
    checkpoint.parts.set(parts)
    lineage_record(checkpoint, turn_folder(turn), name)
    return checkpoint


def weights_sha256(folder: Path) -> str:
    """Digest of the weights of a checkpoint."""
    digest = sha256()
    for file in sorted(folder.glob("*.safetensors")):
        digest.update(file.name.encode())
        with file.open("rb") as data:
            while chunk := data.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()
