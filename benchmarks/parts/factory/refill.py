"""Measures how long a pool waits for its first new task, on the whole platform with its worker and clock."""

import tempfile
import time
from pathlib import Path

import psycopg

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from benchmarks.parts.figures import print_progress

TIMEOUT_S = 180.0
POLL_S = 0.1
SET_UP = """
from annotation_app.accounts.models import User
from annotation_app.policies.services import policy_ensure
from annotation_app.refills.schemas import RefillSettings
from annotation_app.refills.services import refill_set
from annotation_app.tasks.models import Pool, Tally
pool = Pool.objects.get(name="Drills")
revision = policy_ensure(name="m", revision="1", dialect="ui_tars_1_5", base_url="http://127.0.0.1:9/v1", model="m")
Pool.objects.filter(pk=pool.pk).update(policy=revision)
Tally.objects.create(pool=pool, revision=revision, kind="drills/form", overridden=20, succeeded=4, failed=6)
settings = RefillSettings(active=True, per_day=3, waiting_per_kind=1000)
refill_set(user=User.objects.get(username="admin"), pool_id=pool.pk, settings=settings)
"""
COUNT = "SELECT count(*) FROM refills_refill_tasks"


def measure_refill() -> dict[str, object]:
    """Seconds from a rule that is switched on, over a policy that fails at a kind, to the first new task of the kind:
    at the next look of the clock, which comes every minute."""
    print_progress("a pool is refilled")
    with (
        tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder,
        temporary_platform(Path(folder) / "p") as platform,
    ):
        platform.manage("shell", "-c", SET_UP)
        seconds, tasks = _wait_for_tasks(platform)
    return {"refill_to_first_new_task_s": round(seconds, 1), "refill_tasks": tasks, "refill_tasks_wanted": 3}


def _wait_for_tasks(platform: TemporaryPlatform) -> tuple[float, int]:
    """How long it took, and how many there are then. Raises TimeoutError."""
    began = time.monotonic()
    with psycopg.connect(platform.environment["PILOTHOUSE_DATABASE_URL"], autocommit=True) as connection:
        while time.monotonic() - began < TIMEOUT_S:
            ((count,),) = connection.execute(COUNT)
            if count:
                return time.monotonic() - began, count
            time.sleep(POLL_S)
    raise TimeoutError(f"no task was added within {TIMEOUT_S:.0f} s")
