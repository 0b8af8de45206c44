"""Reservation of the running model server that a recipe names. No other user may be using it, and at the end the active
revision's weights are loaded into it again. The ledger records the stage before any weights are loaded, so a resumed
cycle loads them again."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotation_app.errors import Conflict
from annotation_app.flywheel.model_servers import weights_load
from annotation_app.flywheel.models import Turn, TurnState
from annotation_app.flywheel.paths import checkpoint_path
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner
from annotation_app.flywheel.recipe import Recipe, server_root
from annotation_app.flywheel.selectors.turns import own_active
from annotation_app.flywheel.services.training import start_checkpoint
from annotation_app.flywheel.services.turn_files import turn_folder
from annotation_app.tasks.models import Pool

logger = logging.getLogger(__name__)


@contextmanager
def reserved_server(turn: Turn, programs: ProgramRunner) -> Iterator[None]:
    """Reserve the server for the cycle while the block runs. After a failure it is released at once. After success the
    cycle's last stage releases it at its end. Raises Conflict if annotators' policies use that server."""
    if turn.recipe.serving is not None:
        server_unused_check(turn.recipe.serving.url)
    try:
        yield
    except Exception:
        try:
            server_release(turn, programs.ignoring_cancellation())
        except ProgramFailed as failed:
            logger.warning("turn %s did not release its model server: %s: %s", turn.pk, failed.code, failed)
        raise


def server_release(turn: Turn, programs: ProgramRunner, *, weights: str = "", version: str = "") -> None:
    """Load these weights into the server, or by default those that the cycle began with. Raises ProgramFailed."""
    serving, active = turn.recipe.serving, own_active(turn)
    if serving is None:
        return
    version = version or (active.revision if active else "start")
    weights = checkpoint_path(weights or start_checkpoint(turn))
    weights_load(programs, serving.url, Path(weights), version, log=turn_folder(turn) / "serving.log")


def server_unused_check(url: str) -> None:
    """Raises Conflict if a pool's policy uses the server at this address."""
    for pool in Pool.objects.filter(policy__isnull=False).select_related("policy"):
        if pool.policy is not None and server_root(pool.policy.base_url) == server_root(url):
            message = f"The server at {url} answers the people of pool {pool.name}: what is tried needs one of its own."
            raise Conflict(message, code="serving_in_use")


def server_unreserved_check(recipe: Recipe, wheel_id: int) -> None:
    """Raises Conflict if a running cycle of another flywheel loads weights into the server of this recipe."""
    if recipe.serving is None:
        return
    for turn in Turn.objects.filter(state=TurnState.RUNNING).exclude(wheel=wheel_id).select_related("wheel"):
        if turn.recipe.serving is not None and server_root(turn.recipe.serving.url) == server_root(recipe.serving.url):
            raise Conflict(f"{turn} is running, with the same model server.", code="serving_taken")
