"""The platform as the experiment uses it: pools, revisions and gates over HTTP, wheels by their commands."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from annotation_app.operations.runtime import orphan_guard
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform

TIMEOUT_SECONDS = 60.0
STOP_SECONDS = 60.0
UNREACHABLE_URL = "http://127.0.0.1:9/v1"
"""The address of a policy that no desk asks."""
DIALECT, POLICY = "ui_tars_1_5", "nano"
SAMPLING = {"temperature": 0.7, "max_tokens": 64}
MEMORY = {"images": 1, "stride": 1}
TURN_TRIES = 20
"""Times a turn is waited for that a worker took up first; the command waits a minute each time."""


class PlatformClient:
    """An admin signed in. Raises HTTPStatusError where the platform refuses."""

    def __init__(self, http: httpx.Client, platform: TemporaryPlatform) -> None:
        self._http, self._platform = http, platform

    def pool(self, name: str, *, start: Path, server: str) -> None:
        """The pool of this name, made where an import has not made it, with a revision of the start's weights that
        proposes in it, and a gate that lets everything through: what a turn comes to is the question here, and it goes
        on with it."""
        rows = self._ask("GET", "/api/policies/pools")
        known = next(((row["id"], row["active"]) for row in rows if row["name"] == name), None)
        if known is None:
            settings = {"name": name, "platform": "browser", "image": "browser", "open_to_all": True}
            known = self._ask("POST", "/api/pools", {"settings": settings})["id"], None
        pool, active = known
        gate = {"attempts": 1, "success": 0.0, "no_regression": False, "promote": "by_hand"}
        self._ask("POST", f"/api/pools/{pool}/gate", {"gate": gate})
        if active is None:
            revision = {
                **{"name": POLICY, "revision": f"start-{name}", "dialect": DIALECT, "model": POLICY},
                **{
                    "base_url": f"{server}/v1" if server else UNREACHABLE_URL,
                    "checkpoint": str(start),
                    "weight_version": "start",
                },
                **{"sampling": SAMPLING, "memory": MEMORY},
            }
            made = self._ask("POST", "/api/policies", revision)
            self._ask("POST", f"/api/pools/{pool}/policy", {"revision": made["id"]})

    def weights(self, pool: str) -> Path:
        """The checkpoint of the revision that proposes in a pool."""
        active = next(row["active"] for row in self._ask("GET", "/api/policies/pools") if row["name"] == pool)
        revisions = self._ask("GET", "/api/policies")
        return Path(next(row["checkpoint"] for row in revisions if row["id"] == active))

    def wheel(self, name: str, recipe: dict[str, Any], folder: Path) -> None:
        """A wheel of the pool of the same name, with this recipe."""
        file = folder / f"{name}.recipe.json"
        file.write_text(json.dumps(recipe))
        self._platform.manage("configure_flywheel", "admin", name, "--pool", name, "--recipe", str(file))

    def run_turn(self, name: str, number: int) -> Path:
        """The folder of a wheel's turn of this number, turned where it was not. Raises RuntimeError where it fails."""
        manage = [sys.executable, str(ROOT / "manage.py"), "run_flywheel", name]
        environment = {**os.environ, **self._platform.environment}
        for _ in range(TURN_TRIES):
            row = next((one for one in self._turns(name) if one["number"] == number), None)
            if row is not None and row["state"] == "done":
                return self._platform.data / "flywheel" / str(row["id"])
            again = ["--resume"] if row is not None and row["state"] in ("failed", "cancelled") else []
            told = subprocess.run([*manage, *again], env=environment, cwd=ROOT, capture_output=True, text=True)
            print((told.stdout + told.stderr).strip(), file=sys.stderr, flush=True)
        raise RuntimeError(f"turn {number} of {name} does not come to its end")

    def _turns(self, name: str) -> list[dict[str, Any]]:
        return next(list(one["turns"]) for one in self._ask("GET", "/api/wheels") if one["name"] == name)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"X-CSRFToken": csrf_token(self._http)}
        answer = self._http.request(method, path, json=body, headers=headers)
        answer.raise_for_status()
        return answer.json() if answer.content else None


def csrf_token(http: httpx.Client) -> str:
    """The token that changes need; the cookie's name begins with the installation's part."""
    return next((value for name, value in http.cookies.items() if name.endswith("csrftoken")), "")


@contextmanager
def run_platform(data: Path) -> Iterator[TemporaryPlatform]:
    """A platform that ends with this process however that ends, so that the next finds its data free."""
    with temporary_platform(data) as platform:
        standing = orphan_guard.start_guard()
        assert standing.stdin is not None
        standing.stdin.write(f"+ {platform.supervisor} {int(signal.SIGINT)}\n")
        standing.stdin.flush()
        try:
            yield platform
        finally:
            standing.stdin.write(f"- {platform.supervisor}\n")
            standing.stdin.close()
            standing.wait(STOP_SECONDS)


@contextmanager
def sign_in(platform: TemporaryPlatform) -> Iterator[PlatformClient]:
    """The demo's admin."""
    with httpx.Client(base_url=platform.url, timeout=TIMEOUT_SECONDS, headers={"Origin": platform.url}) as http:
        http.get("/api/session").raise_for_status()
        token = {"X-CSRFToken": csrf_token(http)}
        body = {"username": "admin", "password": "admin-demo"}
        http.post("/api/session", json=body, headers=token).raise_for_status()
        yield PlatformClient(http, platform)
