"""Leases over HTTP with thousands of simulated machines, under a compiled load generator (wrk)."""

import json
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from benchmarks.parts.figures import say
from benchmarks.parts.fleet import Fleet, fleet

MACHINES, FEW = 5_000, 500
SCRIPT = Path(__file__).with_name("leases.lua")
SECONDS, CONNECTIONS = 10, 16
BATCH = 100
"""Leases in one renewal."""
HELD = 0.6
"""The share of the machines that is held and renewed; the rest is claimed and given back."""


def measure(folder: Path) -> dict[str, float]:
    """Claims, releases and renewals a second, and how long a request takes."""
    with fleet(folder / "many", machines=MACHINES, workers=1) as many:
        renewals = _hold(many, folder, int(MACHINES * HELD))
        mixed = _load(many, "mixed", renewals)
        claims = _load(many, "claims", renewals)
    with fleet(folder / "few", machines=FEW, workers=1) as few:
        mixed_few = _load(few, "mixed", _hold(few, folder, int(FEW * HELD)))
    say(f"{_rate(mixed):.0f} lease operations a second, {mixed['requests'] / mixed['seconds']:.0f} requests")
    return {
        "lease_ops_per_s": round(_rate(mixed)),
        "lease_requests_per_s": round(mixed["requests"] / mixed["seconds"]),
        "lease_p99_ms": round(mixed["p99_ms"], 1),
        "claims_per_s": round(claims["requests"] / claims["seconds"]),
        "claims_p99_ms": round(claims["p99_ms"], 1),
        "lease_ops_per_s_500": round(_rate(mixed_few)),
    }


def _rate(load: dict[str, float]) -> float:
    """Leases claimed, released and renewed, a second."""
    return (load["claimed"] + load["released"] + load["renewed"]) / load["seconds"]


def _hold(of: Fleet, folder: Path, count: int) -> Path:
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


def _post(of: Fleet, name: str, body: dict[str, object]) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {of.secret}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{of.url}/v1/{name}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        given: dict[str, object] = json.load(answer)
        return given


def _load(of: Fleet, mix: str, renewals: Path) -> dict[str, float]:
    """What wrk counted. Raises RuntimeError when anything was refused."""
    command = ("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(SCRIPT), of.url, "--")
    done = subprocess.run((*command, mix, of.secret, str(renewals)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"wrk: {done.stdout}{done.stderr}")
    counted: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if counted["failed"]:
        raise RuntimeError(f"{counted['failed']} requests failed: {done.stdout}")
    return counted


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
        print(json.dumps(measure(Path(name))))
