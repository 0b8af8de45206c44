"""The deciding stages: the candidate and the active revision try the same tasks, a pool's gate judges, and a revision
that passes is activated."""

import json
import logging
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation_app.flywheel.evaluation import evaluate_trials
from annotation_app.flywheel.model_servers import serve_weights, weights_load, weights_verify
from annotation_app.flywheel.models import Checkpoint, Turn
from annotation_app.flywheel.paths import TRIALS_FOLDER, checkpoint_path
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, platform_python, trainer_python
from annotation_app.flywheel.recipe import GateTrials, server_root
from annotation_app.flywheel.selectors.pools import turn_pools
from annotation_app.flywheel.selectors.trials import earlier_trials_path
from annotation_app.flywheel.selectors.turns import own_active
from annotation_app.flywheel.services.server_reservation import reserved_server, server_release
from annotation_app.flywheel.services.training import serving_url, start_checkpoint
from annotation_app.flywheel.services.trainings import PHASES
from annotation_app.flywheel.services.turn_files import file_write, turn_folder
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.schemas import RevisionIn
from annotation_app.policies.services import revision_add
from annotation_app.promotions.models import GateDecision
from annotation_app.promotions.services import evaluation_add, policy_activate_everywhere
from annotation_app.tasks.models import Pool
from protocol.evaluation.reports import Evaluation

logger = logging.getLogger(__name__)


def candidate_of(turn: Turn) -> Checkpoint | None:
    """The result of the cycle's last training."""
    made = {checkpoint.phase: checkpoint for checkpoint in Checkpoint.objects.filter(turn=turn)}
    return next((made[phase] for phase in reversed(PHASES) if phase in made), None)


def name_of(turn: Turn) -> str:
    """The name of the cycle's revision."""
    return f"{turn.wheel.name}-{turn.number:04}"


def gate(turn: Turn, programs: ProgramRunner) -> dict[str, Any]:
    """Run the trials of both, and compare them."""
    candidate = candidate_of(turn)
    if candidate is None:
        return {"candidate": ""}
    folder = turn_folder(turn) / TRIALS_FOLDER
    report = folder / "report.json"
    _run_trials(turn, programs, Path(checkpoint_path(candidate.path)), folder / "candidate", name_of(turn))
    active, before = own_active(turn), None
    if active is not None:
        before = earlier_trials_path(turn)
        if before is None:
            before = folder / "active"
            _run_trials(turn, programs, Path(checkpoint_path(start_checkpoint(turn))), before, active.revision)
    if not report.exists():
        file_write(report, evaluate_trials(folder / "candidate", against=before).model_dump(mode="json"))
    found = Evaluation.model_validate_json(report.read_bytes())
    return {
        "candidate": name_of(turn),
        "attempts": found.attempts,
        "successes": _successes(found),
        **_active_results(found),
    }


def register(turn: Turn) -> dict[str, Any]:
    """Register the candidate with its report. The pools' gates judge it."""
    candidate = candidate_of(turn)
    if candidate is None:
        return {}
    revision, _new = revision_add(user=turn.requested_by, revision=_revision(turn, candidate))
    Checkpoint.objects.filter(pk=candidate.pk).update(revision=revision)
    report = Evaluation.model_validate_json((turn_folder(turn) / TRIALS_FOLDER / "report.json").read_bytes())
    user = turn.requested_by
    evaluation, _new = evaluation_add(user=user, revision_id=revision.pk, report=report, automatic=False)
    said = GateDecision.objects.filter(pool=turn.wheel.pool_id, evaluation=evaluation).first()
    shut = _shut_pools(turn, revision)
    return {
        "revision": revision.pk,
        "evaluation": evaluation.pk,
        "judged": said is not None,
        "passed": said is not None and said.passed and not shut,
        "reasons": [
            *([] if said is None else said.reasons),
            *({"code": "pool_shut", "subject": pool.name} for pool in shut),
        ],
    }


def _further_pools(turn: Turn, revision: PolicyRevision) -> list[Pool]:
    """The cycle's further pools in which another revision of the same policy proposes."""
    _own, *others = turn_pools(turn)
    with_policy = Pool.objects.filter(pk__in=[pool.pk for pool in others], policy__name=revision.name)
    return [pool for pool in with_policy.order_by("pk") if pool.policy_id != revision.pk]


def _shut_pools(turn: Turn, revision: PolicyRevision) -> list[Pool]:
    """The cycle's further pools in which a revision may not propose. It proposes in all pools of the cycle or in none,
    because one server answers them."""
    return [pool for pool in _further_pools(turn, revision) if _is_shut(pool, revision)]


def _is_shut(pool: Pool, revision: PolicyRevision) -> bool:
    """Whether a newer revision proposes in a pool, or its gate has not passed this one. The newest decision counts; a
    gate without a decision counts as not passed."""
    if pool.policy_id is not None and pool.policy_id > revision.pk:
        return True
    newest = GateDecision.objects.filter(pool=pool, evaluation__revision=revision).order_by("-pk").first()
    return pool.gate is not None if newest is None else not newest.passed


def refresh(turn: Turn, programs: ProgramRunner) -> dict[str, Any]:
    """Load the new weights into the server and activate the new revision in the pool, if the gate passed it. Load the
    active revision's weights into the server that answered at the gate. Once begun this is not interrupted: between two
    of these steps, weights that were never activated would answer people."""
    programs = programs.ignoring_cancellation()
    with reserved_server(turn, programs):
        came = _refresh(turn, programs)
    candidate = candidate_of(turn)
    if candidate is None or candidate.revision is None:
        return came
    if Pool.objects.filter(pk=turn.wheel.pool_id, policy=candidate.revision).exists():
        server_release(turn, programs, weights=candidate.path, version=candidate.revision.revision)
    else:
        server_release(turn, programs)
    return came


def _refresh(turn: Turn, programs: ProgramRunner) -> dict[str, Any]:
    candidate = candidate_of(turn)
    if candidate is None or candidate.revision is None:
        return {"active": "", "reloaded": False}
    said = GateDecision.objects.filter(pool=turn.wheel.pool_id, evaluation__revision=candidate.revision).first()
    if said is None or not said.passed or not turn.recipe.activate or _shut_pools(turn, candidate.revision):
        return {"active": "", "reloaded": False}
    if turn.recipe.server:
        weights, version = Path(checkpoint_path(candidate.path)), candidate.revision.revision
        weights_load(programs, turn.recipe.server, weights, version, log=turn_folder(turn) / "reload.log")
    try:
        pools = _pools_to_activate(turn, candidate.revision)
        policy_activate_everywhere(user=turn.requested_by, pool_ids=pools, revision_id=candidate.revision.pk)
    except Exception:
        _server_restore(turn, programs)
        raise
    return {"active": str(candidate.revision), "reloaded": bool(turn.recipe.server)}


def _pools_to_activate(turn: Turn, revision: PolicyRevision) -> list[int]:
    """The ids of the cycle's pools in which the revision is to propose and does not yet: the flywheel's own, and others
    where this policy proposes already."""
    own = [] if turn.wheel.pool.policy_id == revision.pk else [turn.wheel.pool_id]
    return [*(pool.pk for pool in _further_pools(turn, revision)), *own]


def _server_restore(turn: Turn, programs: ProgramRunner) -> None:
    """Load the active revision's weights into the policy server again, if the recipe names one. A failure is only
    logged."""
    server = turn.recipe.server
    if not server:
        return
    revision = Pool.objects.select_related("policy").get(pk=turn.wheel.pool_id).policy
    if revision is None or not revision.checkpoint or server_root(revision.base_url) != server_root(server):
        revision = own_active(turn)
    weights = (revision.checkpoint if revision else "") or turn.recipe.start
    version = (revision.weight_version or revision.revision) if revision else "start"
    try:
        weights_load(programs, server, Path(checkpoint_path(weights)), version, log=turn_folder(turn) / "reload.log")
    except ProgramFailed as failed:
        logger.warning("turn %s left its policy server with other weights: %s: %s", turn.pk, failed.code, failed)


def _run_trials(turn: Turn, programs: ProgramRunner, checkpoint: Path, out: Path, revision: str) -> None:
    """Attempts by some weights, as a folder. A complete one is kept; an interrupted one is resumed."""
    if out.exists():
        return
    trials, log = turn.recipe.trials, out.with_suffix(".log")
    seeds = ["--first-seed", str(trials.first_seed), "--seeds", str(trials.seeds)]
    seeds += ["--temperature", str(trials.temperature), "--revision", revision, "--out", str(out)]
    if trials.world == "toy":
        words = ["attempts", str(checkpoint), "--policy", turn.recipe.policy, *seeds]
        programs.run([trainer_python(), "-m", "trainer.toy", *words], log=log)
        return
    what = ["--size", trials.size] if trials.size else []
    what += [word for name in trials.tasks for word in ("--task", name)]
    active = own_active(turn)
    if active is not None and active.memory:
        what += ["--memory", json.dumps(active.memory)]
    if active is not None and active.prompt:
        what += ["--prompt", active.prompt.model_dump_json()]
    if active is not None and "max_actions" in active.sampling:
        what += ["--max-actions", str(active.sampling["max_actions"])]
    serving, log_served = turn.recipe.serving, out.with_suffix(".serve.log")
    with serve_weights(
        programs, checkpoint, name=turn.recipe.policy, version=revision, threads=trials.threads, log=log_served,
        serving=serving,
    ) as server:  # fmt: skip
        words = ["--bridge", settings.ENV.bridge_url, *trial_words(trials), "--parallel", str(trials.parallel)]
        words += ["--model-url", server.url, "--model", server.model, "--policy", turn.recipe.policy]
        words += ["--dialect", turn.recipe.dialect, *what, *seeds]
        programs.run([platform_python(), "-m", "agent_backend.rollout", *words], log=log)
        if serving is not None:
            weights_verify(programs, serving.url, revision, out, log=log_served)


def trial_words(trials: GateTrials) -> list[str]:
    """The tasks to try, as rollout options."""
    if trials.source:
        return ["--tasks", trials.source, *(("--image", trials.image) if trials.image else ())]
    return ["--suite", trials.suite]


def _revision(turn: Turn, candidate: Checkpoint) -> RevisionIn:
    """The active revision with other weights. Its server is the recipe's."""
    active = own_active(turn)
    return RevisionIn(
        name=turn.recipe.policy,
        revision=name_of(turn),
        dialect=turn.recipe.dialect,
        base_url=serving_url(turn),
        model=active.model if active else turn.recipe.policy,
        checkpoint=checkpoint_path(candidate.path),
        weight_version=name_of(turn),
        sampling=active.sampling if active else {},
        memory=active.memory if active else {},
        prompt=active.prompt if active else None,
    )


def _successes(report: Evaluation) -> int:
    return sum(task.successes.successes for task in report.tasks)


def _active_results(report: Evaluation) -> dict[str, Any]:
    """Results of the active revision and of the candidate, at the tasks that both tried."""
    if report.comparison is None:
        return {}
    tasks = report.comparison.tasks
    return {
        "active_attempts": sum(task.before.attempts for task in tasks),
        "active_successes": sum(task.before.successes for task in tasks),
        "compared_attempts": sum(task.after.attempts for task in tasks),
        "compared_successes": sum(task.after.successes for task in tasks),
        "finding": report.comparison.overall.finding,
    }
