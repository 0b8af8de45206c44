"""The stages that train: the folders they learn from, and the trainer's commands, each from the last one's weights."""

import json
import logging
import os
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from annotation_app.blobs.services import blob_deletion_paused
from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import entries_matching
from annotation_app.errors import Conflict
from annotation_app.exports.folder_writer import ExportOrder, write_export
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.flywheel.curves import final_figures
from annotation_app.flywheel.models import Checkpoint, Played, Sample, Turn, TurnState
from annotation_app.flywheel.paths import TURNS_FOLDER, turn_path
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, trainer_python, turn_lock
from annotation_app.flywheel.recipe import LikelihoodTraining, ReinforcementTraining
from annotation_app.flywheel.rollouts import RolloutPlan, count_refused, train_on_rollouts
from annotation_app.flywheel.sample_rules import REFUSALS
from annotation_app.flywheel.selectors.trials import held_out_episodes
from annotation_app.flywheel.selectors.turns import own_active
from annotation_app.flywheel.services.lineage import lineage_record
from annotation_app.flywheel.services.own_attempts import RL_INBOX, trajectory_count, write_own_successes
from annotation_app.flywheel.services.pool_tasks import played_pool, write_pool_tasks
from annotation_app.flywheel.services.reward_judges import reward_judges_of
from annotation_app.tasks.models import Pool

logger = logging.getLogger(__name__)
LIKELIHOODS = ("ct", "sft")
COPIES_FOLDER = "data"
"""Of a turn's folder: trajectories as the trainer reads them."""
PHASES = (*LIKELIHOODS, "rl")
CRITIC_FOLDER = "critic"
"""In a checkpoint that PPO made."""


def turn_folder(turn: Turn) -> Path:
    """Where everything of a turn lies."""
    return turn_path(turn.pk)


def training_copies_delete(turn: Turn) -> None:
    """Delete the folders that a turn learned from: the database has it all, and what is deleted there must not live on
    in copies. Raises OSError."""
    if (turn_folder(turn) / COPIES_FOLDER).exists():
        shutil.rmtree(turn_folder(turn) / COPIES_FOLDER)


def training_copies_sweep() -> None:
    """Delete the copies of turns that failed, were stopped, or whose worker died before; going on makes them again.
    A folder that another process is at is its own affair."""
    ended = Turn.objects.exclude(state=TurnState.RUNNING)
    for turn_id in ended.values_list("pk", flat=True):
        folder = turn_path(turn_id)
        try:
            if not (folder / COPIES_FOLDER).exists():
                continue
            with turn_lock(folder) as lock:
                if lock is not None and ended.filter(pk=turn_id).exists():
                    shutil.rmtree(folder / COPIES_FOLDER)
        except OSError:
            logger.exception("the copies in %s could not be deleted", folder / COPIES_FOLDER)


def mix(turn: Turn) -> dict[str, Any]:
    """Write what is learned from: of each route a folder with what is new and one with what earlier turns had. Done
    again it writes the same; where some of that may be learned from no more, the rest, and what was half trained on it
    is begun anew. Raises Conflict where nobody would serve what comes of it."""
    serving_url(turn)
    written: dict[str, Any] = {}
    for phase in LIKELIHOODS:
        plan: LikelihoodTraining | None = getattr(turn.recipe, phase)
        if plan is None or not _is_due(turn, phase, plan) or _trained_checkpoint(turn, phase) is not None:
            continue
        chosen = _selected_episodes(turn, phase)
        folders = {
            name: _folder_write(turn, f"{phase}-{name}", list(map(UUID, ids))) if ids else None
            for name, ids in chosen.items()
        }
        if plan.shares.own > 0:
            folders["own"] = write_own_successes(turn, turn_folder(turn) / COPIES_FOLDER / f"{phase}-own")
        _discard_if_changed(turn, phase, {name: _copy_sha256(one) for name, one in folders.items() if one is not None})
        sources = plan.shares.sources(**folders, general=turn.recipe.general)
        file_write(turn_folder(turn) / f"{phase}-sources.json", sources)
        counts = {name: len(ids) for name, ids in chosen.items()} | {"own": trajectory_count(folders.get("own"))}
        written[phase] = {**counts, "sources": sorted(sources)}
    return written


def _selected_episodes(turn: Turn, phase: str) -> dict[str, list[str]]:
    """Which trajectories are learned from: what was chosen before, as far as it still may be. Where it may not all be,
    nothing is left that was made of it."""
    folder, (fresh, earlier) = turn_folder(turn), _routed_episodes(turn, phase)
    may = {"fresh": list(map(str, fresh)), "earlier": list(map(str, earlier))}
    noted = folder / f"{phase}-chosen.json"
    before: dict[str, list[str]] | None = json.loads(noted.read_text()) if noted.exists() else None
    allowed = {*fresh, *earlier}
    chosen = (
        may if before is None else {name: [one for one in ids if UUID(one) in allowed] for name, ids in before.items()}
    )
    if chosen != before:
        for made in (*(folder / COPIES_FOLDER).glob(f"{phase}-*"), folder / "train" / phase):
            if made.exists():
                shutil.rmtree(made)
        file_write(noted, chosen)
    return chosen


def _discard_if_changed(turn: Turn, phase: str, copies: dict[str, str]) -> None:
    """A training that is half done goes on only with what it was begun with, to the letter: a review since then is in
    the copies too, and the trainer refuses other data."""
    noted, run = turn_folder(turn) / f"{phase}-copies.json", turn_folder(turn) / "train" / phase
    if noted.exists() and json.loads(noted.read_text()) != copies and run.exists():
        shutil.rmtree(run)
    file_write(noted, copies)


def _copy_sha256(folder: Path) -> str:
    """What a copy says, but for its pictures, which their names tell."""
    digest = sha256()
    for file in sorted(folder.rglob("*.jsonl")):
        digest.update(str(file.relative_to(folder)).encode())
        digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def train(turn: Turn, programs: ProgramRunner) -> dict[str, Any]:
    """Continued pre-training, imitation, reinforcement, as far as they are due and have something to learn from. What
    was mixed is looked at again: since then somebody may have had it deleted, and copies go with a turn that ended."""
    mix(turn)
    begun_with, parent, made = start_checkpoint(turn), _parent_of(turn), []
    for phase in PHASES:
        done = _trained_checkpoint(turn, phase)
        if done is None:
            done = _phase(turn, phase, begun_with, parent, programs)
        if done is not None:
            begun_with, parent = done.path, done
            made.append(phase)
    refused = count_refused(turn_folder(turn) / "train" / RL_INBOX)
    return {
        "phases": made,
        "checkpoint": begun_with if made else "",
        "figures": final_figures(turn_folder(turn)),
        **({"refused": refused} if refused else {}),
    }


def _trained_checkpoint(turn: Turn, phase: str) -> Checkpoint | None:
    """What this training of the turn made before."""
    return Checkpoint.objects.filter(turn=turn, phase=phase).first()


def start_checkpoint(turn: Turn) -> str:
    """The checkpoint a turn begins with: the policy's active revision's."""
    active = own_active(turn)
    return (active.checkpoint if active else "") or turn.recipe.start


def serving_url(turn: Turn) -> str:
    """Where the turn's revision will answer people, with /v1: the recipe's server, else the active revision's. Raises
    Conflict where there is none."""
    if turn.recipe.server:
        return f"{turn.recipe.server.rstrip('/')}/v1"
    active = own_active(turn)
    if active is None:
        policy, pool = turn.recipe.policy, turn.wheel.pool
        message = f"Nobody serves {policy}: the recipe names no server, and no revision of it proposes in {pool}."
        raise Conflict(message, code="nobody_serves")
    return active.base_url


def checkpoint_path(checkpoint: str) -> str:
    """Where a checkpoint lies: one that a turn made went along when the installation was restored elsewhere."""
    parts = Path(checkpoint).parts
    if Path(checkpoint).exists() or TURNS_FOLDER not in parts:
        return checkpoint
    below = parts[len(parts) - parts[::-1].index(TURNS_FOLDER) :]
    here = Path(settings.ENV.data, TURNS_FOLDER, *below).absolute()
    return str(here) if here.exists() else checkpoint


def _parent_of(turn: Turn) -> Checkpoint | None:
    """The same, where a turn trained it, whichever wheel's: by its revision, which knows it wherever it lies now."""
    active, trained = own_active(turn), Checkpoint.objects.order_by("-id")
    registered = trained.filter(revision=active).first() if active else None
    return registered or trained.filter(path=start_checkpoint(turn)).first()


def _last_trained_turn(turn: Turn, phase: str) -> int:
    """The number of the wheel's last turn before this one that trained so, 0 where none did: what a turn that failed,
    was stopped or found nothing to learn from had routed is still new."""
    trained = Checkpoint.objects.filter(turn__wheel=turn.wheel_id, turn__number__lt=turn.number, phase=phase)
    return trained.aggregate(last=Max("turn__number"))["last"] or 0


def _is_due(turn: Turn, phase: str, plan: LikelihoodTraining | ReinforcementTraining) -> bool:
    return turn.number - _last_trained_turn(turn, phase) >= plan.every


def _routed_episodes(turn: Turn, phase: str) -> tuple[list[UUID], list[UUID]]:
    """What was routed there since the last turn that trained so, and before. Left out is what may not be learned from
    any more: it was withdrawn, deleted or lost its pictures meanwhile, a reviewer said no, or the gate tries it now."""
    routed = Sample.objects.filter(wheel=turn.wheel_id, turn__number__lte=turn.number, route=phase)
    there = entries_matching(Query(pool=turn.wheel.pool_id)).filter(episode__emptied_at__isnull=True)
    left = there.exclude(episode__review__in=REFUSALS).values("episode_id")
    numbers = routed.filter(episode__in=left).order_by("turn__number", "episode")
    held_out, since = held_out_episodes(turn, routed.values("episode")), _last_trained_turn(turn, phase)
    fresh: list[UUID] = []
    earlier: list[UUID] = []
    for episode, number in numbers.values_list("episode", "turn__number"):
        if episode not in held_out:
            (fresh if number > since else earlier).append(episode)
    return fresh, earlier


def _folder_write(turn: Turn, name: str, episodes: Sequence[UUID]) -> Path:
    """An export of these trajectories, as every trainer reads it; one that is whole is left."""
    target = turn_folder(turn) / COPIES_FOLDER / name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    order = ExportOrder(
        target=target,
        filters=ExportFilters(review=None, pool=turn.wheel.pool_id),
        plan=ExportPlan(leave_out_missing=True),
        pool=turn.wheel.pool.name,
        created_at=turn.created_at,
        select_episodes=lambda: [(episode, "train") for episode in episodes],
    )
    with blob_deletion_paused():
        write_export(order)
    return target


def _phase(
    turn: Turn, phase: str, begun_with: str, parent: Checkpoint | None, programs: ProgramRunner
) -> Checkpoint | None:
    """Train one phase, or go on with it; None where it is not due or there is nothing to learn from."""
    plan: LikelihoodTraining | ReinforcementTraining | None = getattr(turn.recipe, phase)
    if plan is None or not _is_due(turn, phase, plan):
        return None
    folder, rollout_plan = turn_folder(turn), None
    trainer_settings = {
        "checkpoint": checkpoint_path(begun_with),
        "out": str(folder / "train" / phase),
        "updates": plan.updates,
        **plan.settings,
    }
    if isinstance(plan, LikelihoodTraining):
        sources = json.loads((folder / f"{phase}-sources.json").read_text())
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
    config, log = folder / "train" / f"{phase}.json", folder / "train" / f"{phase}.log"
    file_write(config, trainer_settings)
    words = [trainer_python(), "-m", *command, "--config", str(config)]
    if rollout_plan is None:
        made = Path(programs.run(words, log=log))
    else:
        made = Path(train_on_rollouts(programs, words, rollout_plan, threads=rollout_plan.play.threads, log=log))
    if not made.is_dir():
        raise ProgramFailed(f"The trainer named no checkpoint: {str(made)[:200]!r}")
    return _checkpoint_record(turn, phase, made, begun_with, parent)


def _last_critic(turn: Turn, plan: ReinforcementTraining) -> dict[str, str]:
    """The critic that PPO left in an earlier turn of the wheel: it goes on learning, unless the recipe's settings name
    another."""
    if plan.algorithm != "ppo":
        return {}
    reinforced = Checkpoint.objects.filter(turn__wheel=turn.wheel_id, turn__number__lt=turn.number, phase="rl")
    last = reinforced.order_by("-turn__number").first()
    critic = Path(checkpoint_path(last.path), CRITIC_FOLDER) if last else None
    return {"critic": str(critic)} if critic is not None and critic.is_dir() else {}


def _rollout_plan(turn: Turn, plan: ReinforcementTraining, kinds: Sequence[str]) -> RolloutPlan | None:
    """Who plays these kinds of task for the trainer, as far as the suite or pool has them; None where others do. Raises
    Conflict where there is no such pool."""
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
    """The judges of the pool that is played, for who plays. Raises Conflict where none judges there."""
    judges = reward_judges_of(pool.pk)
    if not judges["judges"]:
        raise Conflict("Rewards are to be decided by judges, and none judges in the pool.", code="no_judges")
    file_write(path := folder / "rl-judges.json", judges)
    return path


def _wording(turn: Turn) -> dict[str, Any]:
    """In which words the trainer reads attempts: the dialect, and the active revision's prompt where it has its own."""
    active = own_active(turn)
    return {
        "dialect": turn.recipe.dialect,
        **({"prompt": active.prompt.model_dump()} if active and active.prompt else {}),
    }


def _training_command(
    plan: LikelihoodTraining, sources: dict[str, Any], wording: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The command that learns from these sources, and what it is told of them."""
    weighting = {} if plan.corrections == "none" else {"weighting": plan.corrections}
    if plan.by == "nano":
        folders = [path for one in sources.values() for path in one["paths"]]
        return ("trainer.nano", "clicking"), {"folders": folders, **weighting}
    return ("trainer", "ct"), {"sources": sources, **weighting, **wording}


@transaction.atomic(durable=True)
def _checkpoint_record(turn: Turn, phase: str, made: Path, begun_with: str, parent: Checkpoint | None) -> Checkpoint:
    """Note a checkpoint and what it was trained on, at once and once."""
    checkpoint = Checkpoint.objects.create(
        turn=turn, phase=phase, path=str(made), sha256=weights_sha256(made), begun_with=begun_with, parent=parent
    )
    lineage_record(checkpoint, turn_folder(turn))
    return checkpoint


def weights_sha256(folder: Path) -> str:
    """Which weights a checkpoint holds."""
    digest = sha256()
    for file in sorted(folder.glob("*.safetensors")):
        digest.update(file.name.encode())
        with file.open("rb") as data:
            while chunk := data.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


def file_write(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(value, indent=1))
    os.replace(aside, path)
