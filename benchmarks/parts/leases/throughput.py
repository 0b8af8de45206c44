"""Leases over HTTP with thousands of simulated machines, under a compiled load generator (wrk)."""

import asyncio
import json
import random
import subprocess
import time
import urllib.request
from pathlib import Path

from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.leases.simulated_fleet import SimulatedFleet, run_fleet
from vm_bridge.api.client import BridgeClient
from vm_bridge.simulators.fake.call_log import read_entries

MACHINES, FEW = 5_000, 500
SCRIPT = Path(__file__).with_name("throughput.lua")
SECONDS, CONNECTIONS = 10, 16
MORE_SECONDS = 60
"""How much longer than its load the load generator may take."""
BATCH = 100
"""Leases in one renewal."""
CLAIMS, RECLAIMS = 300, 300
RECLAIM_BOUND = 5.0
"""A machine that is not being reset so long after its lease ended counts as lost: the benchmark fails (seconds)."""
HELD_SHARE = 0.6
"""The share of the machines that is held and renewed; the rest is claimed and given back."""


def measure(folder: Path) -> dict[str, float]:
    """Claims, releases and renewals a second, and how long a request takes."""
    with run_fleet(folder / "many", machines=MACHINES, workers=1) as many:
        renewals = _claim_machines(many, folder, int(MACHINES * HELD_SHARE))
        mixed = _run_wrk(many, "mixed", renewals)
        claims = _run_wrk(many, "claims", renewals)
        warm = asyncio.run(_time_warm_claims(many))
        reclaim = asyncio.run(_time_reclaims(many))
    with run_fleet(folder / "few", machines=FEW, workers=1) as few:
        mixed_few = _run_wrk(few, "mixed", _claim_machines(few, folder, int(FEW * HELD_SHARE)))
    print_progress(
        f"{_measure_rate(mixed):.0f} lease operations a second, {mixed['requests'] / mixed['seconds']:.0f} requests"
    )
    return {
        "lease_ops_per_s": round(_measure_rate(mixed)),
        "lease_requests_per_s": round(mixed["requests"] / mixed["seconds"]),
        "lease_p99_ms": round(mixed["p99_ms"], 1),
        "claims_per_s": round(claims["requests"] / claims["seconds"]),
        "claims_p99_ms": round(claims["p99_ms"], 1),
        "lease_ops_per_s_500": round(_measure_rate(mixed_few)),
        "warm_claim_p50_ms": percentile(warm, 0.5),
        "warm_claim_p99_ms": percentile(warm, 0.99),
        "reclaim_p50_ms": percentile(reclaim, 0.5),
        "reclaim_p99_ms": percentile(reclaim, 0.99),
    }


def _measure_rate(load: dict[str, float]) -> float:
    """Leases claimed, released and renewed, a second."""
    return (load["claimed"] + load["released"] + load["renewed"]) / load["seconds"]


def _claim_machines(of: SimulatedFleet, folder: Path, count: int) -> Path:
    """Claim so many machines; a file of the bodies that renew them, one a line."""
    held = []
    for number in range(count):
        wish = {"image": "desktop", "holder": "runner", "session": f"held-{number}", "ttl": 3600, "wait": 0}
        lease = _post(of, "leases", wish)
        held.append({"machine_id": lease["machine_id"], "fencing_token": lease["fencing_token"]})
    bodies = [json.dumps({"ttl": 60, "leases": held[at : at + BATCH]}) for at in range(0, count, BATCH)]
    file = folder / "renewals"
    file.write_text("\n".join(bodies))
    return file


async def _time_warm_claims(of: SimulatedFleet) -> list[float]:
    """How long the typed client takes to get a machine that stands ready (ms)."""
    times = []
    async with BridgeClient(of.url, of.secret) as client:
        for _ in range(CLAIMS):
            began = time.perf_counter()
            lease = await client.allocate(image="desktop", holder="warm")
            times.append((time.perf_counter() - began) * 1000)
            await client.release(lease)
    return times


async def _time_reclaims(of: SimulatedFleet) -> list[float]:
    """How long after the end of a lease that nobody renews its machine is being reset (ms)."""
    ends: dict[tuple[str, int], float] = {}
    async with BridgeClient(of.url, of.secret) as client:
        for _ in range(RECLAIMS):
            lease = await client.allocate(image="desktop", holder="forgets", ttl=1 + 2 * random.random())
            await client.machine(lease).skip_settle()  # so that the guest knows the token it is reset from
            ends[lease.machine_id, lease.fencing_token] = lease.expires_at.timestamp()
        await asyncio.sleep(max(ends.values()) + RECLAIM_BOUND - time.time())
    resets = {(entry.machine, entry.token): entry.at for entry in read_entries(of.journal) if entry.event == "reset"}
    return [(resets[lease] - end) * 1000 for lease, end in ends.items()]


def _post(of: SimulatedFleet, name: str, body: dict[str, object]) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {of.secret}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{of.url}/v1/{name}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        given: dict[str, object] = json.load(answer)
        return given


def _run_wrk(of: SimulatedFleet, mix: str, renewals: Path) -> dict[str, float]:
    """What wrk counted. Raises RuntimeError when anything was refused."""
    command = ("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(SCRIPT), of.url, "--")
    words = (*command, mix, of.secret, str(renewals))
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS + MORE_SECONDS)
    if done.returncode:
        raise RuntimeError(f"wrk: {done.stdout}{done.stderr}")
    counted: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if counted["failed"]:
        raise RuntimeError(f"{counted['failed']} requests failed: {done.stdout}")
    return counted
