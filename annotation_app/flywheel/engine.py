"""Runs a cycle stage by stage. Each stage is recorded in the ledger before it runs, so that another worker can resume
it."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings

from annotation_app.errors import ApplicationError, storage_code
from annotation_app.exports.folder_writer import MissingBlobs
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, TurnCancelled, turn_lock
from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.selectors.turns import turn_of
from annotation_app.flywheel.services import gate, ledger, samples, server_reservation, training, turn_files
from annotation_app.flywheel.services.pool_tasks import played_pool
from annotation_app.flywheel.services.reward_judges import judge_keys
from annotation_app.policies.api_keys import api_key_for
from annotation_app.tasks.selectors import server_secrets_environment

logger = logging.getLogger(__name__)
StageFunction = Callable[[Any, ProgramRunner], dict[str, Any]]


def _without_programs(work: Callable[[Any], dict[str, Any]]) -> StageFunction:
    """A stage that starts no program."""
    return lambda turn, _: work(turn)


def _with_reserved_server(work: StageFunction) -> StageFunction:
    """A stage that reserves a model server, if the recipe names one."""

    def stage(turn: Any, programs: ProgramRunner) -> dict[str, Any]:
        with server_reservation.reserved_server(turn, programs):
            return work(turn, programs)

    return stage


STAGES: tuple[tuple[str, StageFunction], ...] = (
    ("collect", _without_programs(samples.collect)),
    ("check", _without_programs(samples.check)),
    ("value", _without_programs(samples.value)),
    ("route", _without_programs(samples.route)),
    ("mix", _without_programs(training.mix)),
    ("train", _with_reserved_server(training.train)),
    ("gate", _with_reserved_server(gate.gate)),
    ("register", _without_programs(gate.register)),
    ("refresh", gate.refresh),
)
"""Each stage can be restarted from its beginning. It finds its earlier results in the ledger or as complete folders."""


def turn_run(*, turn_id: UUID, patience: float = 0.0) -> bool:
    """Run a cycle until it ends, fails or is cancelled. Returns False if another process runs it for longer than
    `patience` seconds. Unexpected errors are raised; the cycle is then retried until it has failed."""
    turn = turn_of(turn_id)
    at = STAGES[0][0]
    try:
        with turn_lock(turn_files.turn_folder(turn), patience=patience) as lock:
            if lock is None:
                return False
            running = partial(ledger.turn_running, turn_id=turn_id)
            programs = ProgramRunner(lock, running, _program_environment(turn.recipe, turn.wheel.pool))
            for at, work in STAGES:
                if not running() or not _run_stage(turn_id, at, work, programs):
                    return True
            turn_files.training_copies_delete(turn)
            ledger.turn_end(turn_id=turn_id)
            return True
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        if not ledger.stage_error_record(turn_id=turn_id, name=at, error=message):
            logger.error(
                "turn %s failed: its stage %s ended %d times with %s",
                turn_id,
                at,
                ledger.MAX_UNEXPECTED_ERRORS,
                message,
            )
        raise


def _program_environment(recipe: Recipe, pool: Any) -> dict[str, str]:
    """Environment variables of the programs, so that secrets are in no process list.

    The API key is included only if it belongs to every server that the cycle uses. Judges' keys and secrets are those
    of the pool that is played.
    """
    play, played = recipe.rl.play if recipe.rl else None, played_pool(recipe, pool)
    keys = {api_key_for(url) for url in (recipe.server, recipe.serving.url if recipe.serving else "") if url}
    return {
        "PILOTHOUSE_BRIDGE_MASTER_KEY": settings.ENV.bridge_master,
        "PILOTHOUSE_POLICY_API_KEY": keys.pop() if len(keys) == 1 else "",
        **(judge_keys(played.pk) if play is not None and play.judges and played is not None else {}),
        **(server_secrets_environment(pool=played.name) if play is not None and played is not None else {}),
    }


def _run_stage(turn_id: UUID, name: str, work: StageFunction, programs: ProgramRunner) -> bool:
    """Run a stage unless it is done. Returns whether the cycle continues."""
    if not ledger.stage_begin(turn_id=turn_id, name=name):
        return True
    fail = partial(ledger.stage_fail, turn_id=turn_id, name=name)
    try:
        result = work(turn_of(turn_id), programs)
    except TurnCancelled:
        return False
    except (ApplicationError, ProgramFailed) as error:
        fail(code=error.code, error=str(error))
        return False
    except MissingBlobs as error:
        fail(code="pictures_missing", error=str(error))
        return False
    except OSError as error:
        fail(code=storage_code(error), error=str(error))
        return False
    ledger.stage_end(turn_id=turn_id, name=name, result=result)
    return True
