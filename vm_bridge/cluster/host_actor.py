"""One bridge host on the node where Ray put it: the actor keeps `python -m vm_bridge` running, and that is all."""

import fcntl
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import ray

from vm_bridge.cluster.placement import HostPlacement, reserve_port

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
PREFIX = "PILOTHOUSE_"
DEFAULT_DATA_FOLDER = ".data"
"""Where `PILOTHOUSE_DATA` names no folder."""
RESTART_DELAY_SECONDS = 1.0
"""Before a bridge that ended is started again (seconds)."""
STOP_SECONDS = 20.0
"""Longest a bridge may take to destroy its machines before it is killed."""


class HostActor:
    """The environment is the node's own: it has the secret, the address of Redis and what machines there may be, and
    none of that goes through Ray.

    The bridge is a process of its own, so that Ray's worker and the machines disturb each other in nothing. It hears
    SIGHUP when this process dies, whatever kills it: then its machines are left to the next bridge of this name on this
    node, which Ray starts.
    """

    def __init__(self, number: int) -> None:
        self._placement = HostPlacement.of(number, ray.get_runtime_context().get_node_id())
        self._address: str = ray.util.get_node_ip_address()
        folder = Path(os.environ.get(f"{PREFIX}DATA", DEFAULT_DATA_FOLDER))
        self._data = (ROOT / folder / "cluster" / self._placement.name).resolve()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        # A process is told of the end of the thread that started it, so this thread lives as long as the actor.
        self._bridge_thread = threading.Thread(target=self._run_bridge, name="bridge", daemon=True)
        self._bridge_thread.start()

    def host_id(self) -> str:
        """The name under which the ledger knows it."""
        return self._placement.host_id

    def stop(self) -> None:
        """End the bridge and all its machines; who holds one is told. Idempotent."""
        self._stopping.set()
        if self._process is not None:
            self._process.terminate()
        self._bridge_thread.join(STOP_SECONDS)
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def _run_bridge(self) -> None:
        """Until it is told to stop. What the system denies, room on a disk or another process, is asked for again: this
        actor lives on, so nobody else would start the bridge."""
        while not self._stopping.is_set():
            try:
                self._data.mkdir(parents=True, exist_ok=True)
                with (self._data / "lock").open("w") as lock, (self._data / "bridge.log").open("ab") as log:
                    # The bridge before it on this node may still be letting go of its machines.
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    while not self._stopping.is_set():
                        self._run(lock.fileno(), log.fileno())
                        self._stopping.wait(RESTART_DELAY_SECONDS)
            except OSError as error:
                logger.warning("the bridge of %s could not be started: %s", self._placement.host_id, error)
                self._stopping.wait(RESTART_DELAY_SECONDS)

    def _run(self, lock: int, log: int) -> None:
        """The bridge, from its beginning to its end. Raises OSError."""
        environment = self._environment(reserve_port(self._address, self._data / "port"))
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "HUP", sys.executable, "-m", "vm_bridge"],  # noqa: S607 - the host's util-linux
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
        )
        if self._stopping.is_set():
            self._process.terminate()
        code = self._process.wait()
        logger.warning("the bridge of %s ended with %d", self._placement.host_id, code)

    def _environment(self, port: int) -> dict[str, str]:
        ours = {
            "ROLE": "host",
            "HOST_ID": self._placement.host_id,
            "BRIDGE_BIND": f"{self._address}:{port}",
            "BRIDGE_URL": f"http://{self._address}:{port}",
            "DATA": str(self._data),
        }
        return os.environ | {PREFIX + name: value for name, value in ours.items()}
