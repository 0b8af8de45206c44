"""How long a probe of the bundled policy takes, and whether planted faults are named."""

import asyncio
from pathlib import Path
from typing import Any

from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.probe.prober import run_probe
from annotation_app.operations.runtime.stack import NANO_CHECKPOINT
from benchmarks.parts.figures import print_progress
from benchmarks.parts.model_servers.launcher import trainer_server
from benchmarks.parts.models.planted_servers import (
    PlantedServer,
    write_other_factor,
    write_stripped,
    write_thousandths,
)
from protocol.evaluation.probes import ProbeReport

ENDPOINT = PolicyEndpoint(
    base_url="http://model/v1", model="planted", dialect="ui_tars_1_5", name="planted", revision="1"
)


def measure(folder: Path) -> dict[str, Any]:
    """`probe_s` of the bundled policy on its small screens with its share of hits, and how many of the planted faults
    a probe names as what they are."""
    with trainer_server(NANO_CHECKPOINT, folder) as server:
        endpoint = ENDPOINT.model_copy(update={"base_url": f"{server.url}/v1", "model": "tiny"})
        nano = asyncio.run(run_probe(endpoint, "small"))
    caught = asyncio.run(_planted())
    for name, found in caught.items():
        print_progress(f"planted {name}: {'named' if found else 'not named'}")
    rate = nano.grounding.rate if nano.grounding else None
    return {
        "probe_s": nano.seconds,
        "probe_hit_share": rate and round(rate.rate, 3),
        "probe_planted": len(caught),
        "probe_catches": sum(caught.values()),
    }


async def _planted() -> dict[str, bool]:
    servers = {
        "wrong_space": PlantedServer(write_thousandths),
        "wrong_factor": PlantedServer(write_other_factor),
        "stripped_tokens": PlantedServer(write_stripped),
        "picture_ignored": PlantedServer(sees=False),
    }
    caught = {code: _names(await run_probe(ENDPOINT, transport=server), code) for code, server in servers.items()}
    last = await run_probe(ENDPOINT, transport=PlantedServer(weights="1"))
    stale = await run_probe(ENDPOINT, last=last, transport=PlantedServer(weights="2"))
    return caught | {"stale_weights": _names(stale, "stale_weights")}


def _names(report: ProbeReport, code: str) -> bool:
    """Whether a report names this fault first."""
    return next((finding.code for finding in report.findings if finding.severity == "error"), "") == code
