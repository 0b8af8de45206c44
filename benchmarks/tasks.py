"""Tasks in and out: Harbor's folders exported, imported, played and refused: `./pilothouse bench tasks`.

Bundled tasks are written as folders and played over a real bridge, by their solutions and by a policy that does
nothing. Bad folders and tests that misbehave must be refused. OpenEnv's client and verifiers play tasks of a desktop, a
browser and a phone, from environments that are installed for the run. The last line is one JSON object.
"""

import argparse
import asyncio
import io
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from agent_backend.rollout.task_sources import read_tasks
from annotation_app.pools.task_files import task_file_read
from benchmarks.parts.desktops.live_bridge import live_bridge
from benchmarks.parts.figures import floor_share, print_figures, print_progress
from benchmarks.parts.tasks.attempt_runs import (
    attempts_per_minute,
    infrastructure_apart,
    records_share,
    straggler_wait_share,
)
from benchmarks.parts.tasks.bad_folders import (
    BAD_ARCHIVES,
    BAD_DISKS,
    BAD_FILES,
    refusal_of_archive,
    refusal_of_disk,
    refusal_of_files,
)
from benchmarks.parts.tasks.bad_verifiers import BAD_VERIFIERS
from benchmarks.parts.tasks.environments import measure_environments
from benchmarks.parts.tasks.played_folders import lost_apart, passed_by_nothing, refused_verifiers, solved
from benchmarks.parts.tasks.streamed_updates import streamed_updates
from vm_bridge.suites.harbor_export import write_folders


def main() -> int:
    argparse.ArgumentParser(prog="./pilothouse bench tasks").parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        return print_figures("tasks", measure(Path(folder)))


def measure(scratch: Path) -> dict[str, Any]:
    """Every figure."""
    folders = scratch / "folders"
    count = write_folders(folders)
    print_progress(f"{count} task folders exported")
    refused = count_refused(scratch)
    figures: dict[str, Any] = {
        "harbor_folders": count,
        "harbor_import_ok": imported(folders),
        "bad_folders": len(BAD_FILES) + len(BAD_DISKS) + len(BAD_ARCHIVES),
        "bad_folders_refused": refused,
        "bad_folders_refused_share": floor_share(refused, len(BAD_FILES) + len(BAD_DISKS) + len(BAD_ARCHIVES)),
    }
    print_progress(f"{refused} of {figures['bad_folders']} bad folders refused as they must be")
    data = scratch / "data"
    data.mkdir()
    with live_bridge(scratch, data) as bridge:
        os.environ["PILOTHOUSE_SECRET"] = bridge.secret
        oracle = asyncio.run(solved(folders, scratch / "solved", bridge.url))
        print_progress(f"{oracle} solved by their solutions")
        nothing = asyncio.run(passed_by_nothing(folders, bridge.url, bridge.secret))
        apart = asyncio.run(lost_apart(scratch, bridge.url))
        speed = asyncio.run(attempts_per_minute(scratch, bridge.url))
        figures.update(measure_environments(scratch, bridge))
    print_progress(f"{speed['rollout_attempts_per_minute']} attempts a minute of {speed['engine_attempts_per_minute']}")
    return {
        **figures,
        "harbor_export_oracle_pass_share": floor_share(oracle, count),
        "harbor_noop_pass_share": floor_share(nothing, count),
        "harbor_runner": "absent" if shutil.which("harbor") is None else "not played",
        "verifier_failures_apart": apart,
        **speed,
        "straggler_wait_share": asyncio.run(straggler_wait_share(scratch / "straggler")),
        **asyncio.run(streamed_updates(scratch / "streamed")),
        "infrastructure_apart": asyncio.run(infrastructure_apart(scratch / "lost")),
        "records_of_attempts_share": records_share([scratch / "solved", scratch / "rolled-0"]),
        "bad_verifiers": len(BAD_VERIFIERS),
        "bad_verifiers_refused": asyncio.run(refused_verifiers()),
    }


def imported(folders: Path) -> bool:
    """Whether a pool takes every folder, as a zip archive, as the same task that a rollout reads."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folders.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folders).as_posix())
    found = task_file_read(packed.getvalue(), "harbor", "terminal")
    return not found.faults and found.tasks == read_tasks(folders)


def count_refused(scratch: Path) -> int:
    """How many bad folders are refused with the code that they must be refused with."""
    refused = sum(refusal_of_files(changes) == code for code, changes in BAD_FILES.values())
    refused += sum(refusal_of_archive(data) == code for code, data in BAD_ARCHIVES.values())
    for number, (code, make) in enumerate(BAD_DISKS.values()):
        root = scratch / f"bad-{number}"
        root.mkdir()
        refused += refusal_of_disk(make, root) == code
    return refused


if __name__ == "__main__":
    sys.exit(main())
