"""An installation of commit 624d354 opens with the code of today: its backup, database, blobs, export and environment.

`tests/fixtures/installation-624d354.tar.xz` was made by that commit: eight attempts in the toy world and a flywheel
cycle that trained a revision, the demo's users and pools, all saved by `./pilothouse backup` (optimiser states and
all weights but the last were taken out); the export of the attempts; and its `.env.example` with a value for each
variable.
"""

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation_app.operations.backup import restore
from annotation_app.operations.console import Console
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from annotation_app.settings.env import read_environment
from vm_bridge.config import read_config

ARCHIVE = ROOT / "tests" / "fixtures" / "installation-624d354.tar.xz"
EPISODES = 8
READ = """
import json
from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode
from annotation_app.flywheel.models import Turn
from annotation_app.flywheel.selectors.turns import turn_row
from annotation_app.policies.models import PolicyRevision
print("READ " + json.dumps({
    "people": sorted(User.objects.values_list("username", flat=True)),
    "episodes": Episode.objects.filter(status="finished").count(),
    "cycles": [
        [row.number, row.state, row.revision, row.passed] for row in map(turn_row, Turn.objects.order_by("number"))
    ],
    "revisions": sorted(PolicyRevision.objects.values_list("revision", flat=True)),
}))
"""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive: `backup`, `export` and `environment`."""
    folder = tmp_path_factory.mktemp("old")
    shutil.unpack_archive(ARCHIVE, folder)
    return folder


@pytest.fixture(scope="module")
def upgraded(old: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporaryPlatform]:
    """The restored and migrated installation."""
    data = tmp_path_factory.mktemp("upgraded") / "data"
    restore(old / "backup", data, Console(io.StringIO()))
    with temporary_platform(data, storage_only=True) as installation:
        installation.manage("migrate")
        yield installation


def read_json(installation: TemporaryPlatform) -> dict[str, Any]:
    lines = installation.manage("shell", "-c", READ).splitlines()
    found: dict[str, Any] = json.loads(next(line for line in lines if line.startswith("READ ")).removeprefix("READ "))
    return found


def steps_by_trajectory(folder: Path) -> dict[str, list[Any]]:
    """The thought and action of every step, by trajectory."""
    rows = map(json.loads, (folder / "trajectories.jsonl").read_text().splitlines())
    return {row["id"]: [(step["thought"], step["action"]) for step in row["steps"]] for row in rows}


def test_everything_in_the_backup_is_found(upgraded: TemporaryPlatform) -> None:
    report = json.loads(upgraded.manage("check_data"))
    assert (report["episodes"], report["migrations_due"], report["missing"]) == (EPISODES, [], [])
    found = read_json(upgraded)
    assert {"admin", "annotator", "reviewer", "researcher"} <= set(found["people"])
    assert found["episodes"] == EPISODES
    assert found["cycles"] == [[1, "done", "toy small-0001", True]]
    assert "small-0001" in found["revisions"]


def test_its_trajectories_are_exported_as_that_commit_exported_them(
    upgraded: TemporaryPlatform, old: Path, tmp_path: Path
) -> None:
    upgraded.manage("export_trajectories", str(tmp_path / "export"), "--review", "any")
    assert steps_by_trajectory(tmp_path / "export") == steps_by_trajectory(old / "export")


def test_its_export_is_imported(upgraded: TemporaryPlatform, old: Path) -> None:
    words = upgraded.manage("import_trajectories", str(old / "export"))
    assert f"{EPISODES} were here" in words, "the same trajectories are not imported twice"


def test_its_environment_is_read_under_present_names(old: Path) -> None:
    lines = (line.partition("=") for line in (old / "environment").read_text().splitlines())
    environment = {name: value for name, _, value in lines}
    web, bridge = read_environment(environment), read_config(environment)
    assert (web.https, web.webhooks_allow_private) == (True, True)
    assert (bridge.browser_unsandboxed, bridge.warm_pool) == (True, {"desktop": 2})
    assert bridge.fake_machine_log == Path("calls.log")
