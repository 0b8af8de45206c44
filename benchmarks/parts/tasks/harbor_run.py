"""Harbor's own runner on exported folders, through our environment, in an environment of Python 3.12."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.parts.figures import print_progress
from benchmarks.parts.tasks.peers import (
    PeerFailed,
    PeerUnavailable,
    copy_package,
    find_python,
    peer_environment,
    run_peer,
)

HARBOR = "harbor==0.25.0"
CLASS = "pilothouse_sandboxes.harbor_environment:PilothouseEnvironment"
PARALLEL, RUN_SECONDS = 2, 900.0
QUIET = {"HARBOR_TELEMETRY": "off", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Without these it sends reports, and fetches a list of prices when it starts."""


def harbor_runner(scratch: Path, url: str, environment: Mapping[str, str], folders: Path) -> str:
    """`harbor` where its oracle passes every folder, else `failed`; `absent` where it cannot be installed."""
    try:
        package = copy_package(scratch / "harbor-package")
        python = peer_environment(scratch / "harbor", (HARBOR, str(package)), base=find_python("3.12"))
    except PeerUnavailable as error:
        print_progress(f"Harbor is absent: {error}")
        return "absent"
    try:
        rewards = oracle_rewards(python, scratch / "harbor-jobs", url, environment, folders)
    except PeerFailed as error:
        print_progress(f"Harbor fails: {error}")
        return "failed"
    count = sum(1 for each in folders.iterdir() if each.is_dir())
    passed = sum(reward == 1 for reward in rewards.values())
    print_progress(f"Harbor's oracle passes {passed} of {count} folders")
    return "harbor" if passed == count else "failed"


def oracle_rewards(
    python: Path, jobs: Path, url: str, environment: Mapping[str, str], folders: Path
) -> dict[str, float | None]:
    """The reward of each trial of Harbor's agent `oracle`, by the trial's folder. Raises PeerFailed."""
    command = (python.with_name("harbor"), "run", "--path", folders, "--agent", "oracle", "--env", CLASS)
    told = {
        **environment,
        **QUIET,
        "PILOTHOUSE_OPENENV_URL": url,
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
    }
    options = ("--jobs-dir", jobs, "--n-concurrent", str(PARALLEL), "--yes", "--quiet")
    run_peer((*command, *options), told, seconds=RUN_SECONDS, cwd=jobs.parent)
    rewards = {}
    for path in jobs.glob("*/*/result.json"):
        verdict = json.loads(path.read_text()).get("verifier_result") or {}
        rewards[path.parent.name] = (verdict.get("rewards") or {}).get("reward")
    return rewards
