"""TRL's GRPOTrainer on our machines, in an environment that is installed for the run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.install.extra_environments import TRAINER_REQUIREMENTS
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_progress
from benchmarks.parts.tasks.peers import PeerFailed, PeerUnavailable, last_json, peer_environment, run_peer
from protocol.trajectory.tasks import Task

TRL = ("trl==1.16.0", "jmespath==1.1.0", "pillow==12.3.0", "httpx==0.28.1")
PINNED = ("torch", "transformers", "tokenizers")
"""Packages of which the trainer's own versions are taken."""
PLAYER = Path(__file__).with_name("trl_player.py")
CLIENT = ROOT / "clients" / "trl_pilothouse"
RUN_SECONDS = 900.0
ACTING_SHARE = 0.25
"""Of a step's rollouts: so many must have called a tool."""


def trl_trains(scratch: Path, url: str, environment: Mapping[str, str], task: Task, actions: list[Any]) -> bool | str:
    """Whether GRPOTrainer plays episodes of our environment, gets the verifier's rewards and changes the weights;
    "absent" where TRL cannot be installed."""
    try:
        python = _environment(scratch)
    except PeerUnavailable as error:
        print_progress(f"TRL is absent: {error}")
        return "absent"
    plan = scratch / "trl.json"
    plan.write_text(json.dumps({"task": task.id, "actions": actions, "folder": str(scratch / "trl-run")}))
    try:
        printed = run_peer((python, PLAYER, url, plan), {**environment, "PYTHONPATH": str(CLIENT)}, seconds=RUN_SECONDS)
    except PeerFailed as error:
        print_progress(f"TRL fails: {error}")
        return False
    found = last_json(printed)
    print_progress(f"TRL: {found}")
    acted = [share for share in found["tool_calls"] if share is not None]
    return bool(
        found["solved"] == 1.0
        and found["steps"] == len(found["rewards"]) > 0
        and all(0 <= reward <= 1 for reward in found["rewards"])
        and max(found["rewards"]) > 0
        and max(acted, default=0) >= ACTING_SHARE
        and found["weights_changed"]
        and found["finite"]
    )


def _environment(scratch: Path) -> Path:
    """Its interpreter, with the build of torch for processors where there is one. Raises PeerUnavailable."""
    pinned = dict(
        line.split("==") for line in TRAINER_REQUIREMENTS.read_text().splitlines() if line.split("==")[0] in PINNED
    )
    others = [f"{name}=={version}" for name, version in pinned.items() if name != "torch"]
    builds = (f"torch=={pinned['torch']}+cpu", f"torch=={pinned['torch']}")
    for number, torch in enumerate(builds):
        try:
            return peer_environment(scratch / f"trl-{number}", (torch, *others, *TRL))
        except PeerUnavailable:
            if torch == builds[-1]:
                raise
    raise AssertionError("the last build returns or raises")
