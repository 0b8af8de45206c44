"""Writes the training data of a cycle: for each pool a folder of new samples and one of earlier cycles' samples."""

import json
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from annotation_app.blobs.services import blob_deletion_paused
from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import entries_matching
from annotation_app.exports.folder_writer import ExportOrder, write_export
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.flywheel.models import Sample, Turn
from annotation_app.flywheel.recipe import LikelihoodTraining, PreferenceTraining
from annotation_app.flywheel.sample_rules import REFUSALS
from annotation_app.flywheel.selectors.trials import held_out_episodes
from annotation_app.flywheel.services.own_attempts import trajectory_count, write_own_successes
from annotation_app.flywheel.services.preferences import preference_count, preference_sources
from annotation_app.flywheel.services.trainings import FolderRun, folder_trainings, last_trained_turn
from annotation_app.flywheel.services.turn_files import COPIES_FOLDER, file_write, turn_folder
from annotation_app.tasks.models import Pool


def write_sources(turn: Turn) -> dict[str, Any]:
    """Write the training data: for each route and pool a folder of new samples and one of earlier cycles' samples.

    A second call writes the same data without samples that may no longer be used. A training that had begun with such
    samples is restarted. Returns counts by training."""
    written: dict[str, Any] = {}
    for training in folder_trainings(turn):
        chosen = _selected_episodes(turn, training)
        folders = {
            name: [
                _folder_write(turn, f"{training.name}-{name}", pool, episodes)
                for pool in training.pools
                if (episodes := _of_pool(pool, list(map(UUID, ids))))
            ]
            for name, ids in chosen.items()
        }
        plan = training.plan
        if isinstance(plan, LikelihoodTraining) and plan.shares.own > 0:
            own = write_own_successes(turn, turn_folder(turn) / COPIES_FOLDER / f"{training.name}-own", training.pools)
            folders["own"] = [] if own is None else [own]
        copies = {name: _copies_sha256(each) for name, each in folders.items() if each}
        _discard_if_changed(turn, training, copies)
        found: dict[str, Any] = {}
        if isinstance(plan, PreferenceTraining):
            found["choices"] = preference_count(plan, [folder for each in folders.values() for folder in each])
            sources = preference_sources(folders) if found["choices"] else {}
        else:
            sources = plan.shares.sources(**folders, general=turn.recipe.general)
        file_write(turn_folder(turn) / f"{training.name}-sources.json", sources)
        counts = {name: len(ids) for name, ids in chosen.items()} | {"own": trajectory_count(folders.get("own", []))}
        written[training.name] = {
            **counts,
            **found,
            "phase": training.phase,
            "domain": training.domain,
            "sources": sorted(sources),
        }
    return written


def _selected_episodes(turn: Turn, training: FolderRun) -> dict[str, list[str]]:
    """The trajectories to learn from: the earlier selection, as far as it is still permitted. If it is not permitted
    completely, everything made from it is deleted."""
    folder, (fresh, earlier) = turn_folder(turn), routed_episodes(turn, training)
    if isinstance(training.plan, PreferenceTraining) and not training.plan.earlier:
        earlier = []
    may = {"fresh": list(map(str, fresh)), "earlier": list(map(str, earlier))}
    noted = folder / f"{training.name}-chosen.json"
    before: dict[str, list[str]] | None = json.loads(noted.read_text()) if noted.exists() else None
    allowed = {*fresh, *earlier}
    chosen = (
        may if before is None else {name: [one for one in ids if UUID(one) in allowed] for name, ids in before.items()}
    )
    if chosen != before:
        for made in (*(folder / COPIES_FOLDER).glob(f"{training.name}-*"), folder / "train" / training.name):
            if made.exists():
                shutil.rmtree(made)
        file_write(noted, chosen)
    return chosen


def _discard_if_changed(turn: Turn, training: FolderRun, copies: dict[str, str]) -> None:
    """Discard an interrupted training unless its data is byte-identical. The copies also contain reviews, which may
    have changed, and the trainer refuses other data."""
    noted, run = turn_folder(turn) / f"{training.name}-copies.json", turn_folder(turn) / "train" / training.name
    if noted.exists() and json.loads(noted.read_text()) != copies and run.exists():
        shutil.rmtree(run)
    file_write(noted, copies)


def _copies_sha256(folders: Sequence[Path]) -> str:
    """Digest of the copies without their pictures, whose names identify their content."""
    digest = sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.jsonl")):
            digest.update(str(file.relative_to(folder)).encode())
            digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def routed_episodes(turn: Turn, training: FolderRun) -> tuple[list[UUID], list[UUID]]:
    """What was routed to a training since the last cycle that had it, and before. Samples that may no longer be used
    are left out: withdrawn, deleted, without pictures, rejected by a reviewer, or now tried by the gate."""
    routed = Sample.objects.filter(wheel=turn.wheel_id, turn__number__lte=turn.number, route=training.route)
    there = entries_matching(Query()).filter(pool__in=training.pools, episode__emptied_at__isnull=True)
    left = there.exclude(episode__review__in=REFUSALS).values("episode_id")
    numbers = routed.filter(episode__in=left).order_by("turn__number", "episode")
    held_out, since = held_out_episodes(turn, routed.values("episode")), last_trained_turn(turn, training)
    fresh: list[UUID] = []
    earlier: list[UUID] = []
    for episode, number in numbers.values_list("episode", "turn__number"):
        if episode not in held_out:
            (fresh if number > since else earlier).append(episode)
    return fresh, earlier


def _of_pool(pool: Pool, episodes: Sequence[UUID]) -> list[UUID]:
    """The samples of a pool, in the same order."""
    own = set(
        entries_matching(Query(pool=pool.pk)).filter(episode_id__in=episodes).values_list("episode_id", flat=True)
    )
    return [episode for episode in episodes if episode in own]


def _folder_write(turn: Turn, name: str, pool: Pool, episodes: Sequence[UUID]) -> Path:
    """Export these trajectories of a pool in the trainers' format. A complete export is kept. The folder of a pool
    other than the flywheel's own has the pool's number in its name."""
    name = name if pool.pk == turn.wheel.pool_id else f"{name}-{pool.pk}"
    target = turn_folder(turn) / COPIES_FOLDER / name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    order = ExportOrder(
        target=target,
        filters=ExportFilters(review=None, pool=pool.pk),
        plan=ExportPlan(leave_out_missing=True),
        pool=pool.name,
        created_at=turn.created_at,
        select_episodes=lambda: [(episode, "train") for episode in episodes],
    )
    with blob_deletion_paused():
        write_export(order)
    return target
