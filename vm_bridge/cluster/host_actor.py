"""One bridge host on its Ray node: the actor only keeps `python -m vm_bridge` running."""

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
"""Default data folder, if `PILOTHOUSE_DATA` is not set."""
RESTART_DELAY_SECONDS = 1.0
"""Delay before an ended bridge restarts (seconds)."""
STOP_SECONDS = 20.0
"""Longest time for a bridge to destroy its machines before it is killed."""


class HostActor:
    """The node provides the environment: the secret, the address of Redis and the available machines. None of that goes
    through Ray.

    The bridge is a separate process, so that Ray's worker and the machines do not disturb each other. It gets SIGHUP
    when this process dies for any reason. Its machines are then left to the next bridge of this name on this node,
    which Ray starts.
    """

    def __init__(self, number: int) -> None:
        self._placement = HostPlacement.of(number, ray.get_runtime_context().get_node_id())
        self._address: str = ray.util.get_node_ip_address()
        folder = Path(os.environ.get(f"{PREFIX}DATA", DEFAULT_DATA_FOLDER))
        self._data = (ROOT / folder / "cluster" / self._placement.name).resolve()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        # A process gets the signal when the thread that started it ends, so this thread lives as long as the actor.
        self._bridge_thread = threading.Thread(target=self._run_bridge, name="bridge", daemon=True)
        self._bridge_thread.start()

    def host_id(self) -> str:
        """Its host id in the lease store."""
        return self._placement.host_id

    def stop(self) -> None:
        """End the bridge and all its machines. Their holders get the reason. Idempotent."""
        self._stopping.set()
        if self._process is not None:
            self._process.terminate()
        self._bridge_thread.join(STOP_SECONDS)
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def _run_bridge(self) -> None:
        """Run until stopped. System errors, such as a full disk or no processes, are retried: this actor lives on, so
        nothing else would start the bridge.
        """
        while not self._stopping.is_set():
            try:
                self._data.mkdir(parents=True, exist_ok=True)
                with (self._data / "lock").open("w") as lock, (self._data / "bridge.log").open("ab") as log:
                    # The previous bridge on this node may still be shutting down.
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    while not self._stopping.is_set():
                        self._run(lock.fileno(), log.fileno())
                        self._stopping.wait(RESTART_DELAY_SECONDS)
            except OSError as error:
                logger.warning("the bridge of %s could not be started: %s", self._placement.host_id, error)
                self._stopping.wait(RESTART_DELAY_SECONDS)

    def _run(self, lock: int, log: int) -> None:
        """Run the bridge from start to end. Raises OSError."""
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
