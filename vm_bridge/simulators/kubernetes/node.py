"""The one node of a simulated cluster: runs each pod's command in namespaces made by bubblewrap, at a loopback address
of its own.

The pod sees its image's folder at /image and this machine's programs, and has no network. It listens on a socket that
was opened outside.
"""

import asyncio
import itertools
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vm_bridge.isolation.bubblewrap import HOST_FOLDERS, USER_ID
from vm_bridge.isolation.users import user_free
from vm_bridge.pod import PORT
from vm_bridge.simulators.kubernetes.pod_store import Pod, PodStore

STOP_SECONDS = 10.0


class Node:
    """Runs the pods of a store. `images` has the folder that each container image has at /image."""

    def __init__(self, store: PodStore, images: dict[str, Path]) -> None:
        self._store, self.images = store, images
        self.full = False
        """Whether no pod finds room."""
        self.logs = Path(tempfile.mkdtemp(prefix="pilothouse-node-"))
        self._addresses = (f"127.83.{high}.{low}" for high in itertools.count(1) for low in range(1, 255))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._waiting: set[asyncio.Task[None]] = set()

    def start(self, pod: Pod) -> None:
        """Begin to run a pod, or say in its status why not."""
        container = pod["spec"]["containers"][0]
        if self.full:
            message = "0/1 nodes are available: 1 Insufficient cpu."
            self._store.change(pod, {"conditions": [_condition("False", "Unschedulable", message)]})
            return
        self._store.change(pod, {"conditions": [_condition("True", "", "")]})
        if container["image"] not in self.images:
            waiting = {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{container["image"]}"'}
            self._store.change(pod, {"containerStatuses": [container_status(pod, {"waiting": waiting})]})
            return
        address = next(self._addresses)
        process = self._processes[pod["metadata"]["uid"]] = self._launch(pod, address)
        running = [container_status(pod, {"running": {}})]
        self._store.change(pod, {"phase": "Running", "podIP": address, "containerStatuses": running})
        task = asyncio.create_task(self._follow(pod, process))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    def stop(self, pod: Pod) -> None:
        """End a pod's processes. Idempotent."""
        process = self._processes.pop(pod["metadata"]["uid"], None)
        if process is not None:
            kill_group(process)

    def end(self, pod: Pod, status: dict[str, Any]) -> None:
        """End a pod's processes for a reason of the node's."""
        self._store.change(pod, {"phase": "Failed", **status})
        self.stop(pod)

    async def close(self) -> None:
        """End all pods."""
        for process in self._processes.values():
            kill_group(process)
        if self._waiting:
            await asyncio.wait(self._waiting, timeout=STOP_SECONDS)

    @property
    def running(self) -> int:
        """Number of pods whose processes run."""
        return sum(process.poll() is None for process in self._processes.values())

    async def _follow(self, pod: Pod, process: "subprocess.Popen[bytes]") -> None:
        code = await asyncio.to_thread(process.wait)
        if pod["status"]["phase"] == "Running":
            ended = {"reason": "Completed" if code == 0 else "Error", "exitCode": code & 0xFF}
            state = [container_status(pod, {"terminated": ended})]
            phase = "Succeeded" if code == 0 else "Failed"
            self._store.change(pod, {"phase": phase, "containerStatuses": state})

    def _launch(self, pod: Pod, address: str) -> "subprocess.Popen[bytes]":
        with socket.create_server((address, PORT)) as listener, (self.logs / pod["metadata"]["name"]).open("wb") as log:
            command = pod_command(pod, self.images[pod["spec"]["containers"][0]["image"]])
            return subprocess.Popen(
                [*command, f"--listen={listener.fileno()}"],
                pass_fds=(listener.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def pod_command(pod: Pod, image: Path) -> Sequence[str]:
    """The command that runs a pod's container, as far as its description says."""
    spec = pod["spec"]
    container = spec["containers"][0]
    sizes = {volume["name"]: volume["emptyDir"]["sizeLimit"] for volume in spec["volumes"]}
    free = user_free()
    switch = [] if free is None else ["setpriv", f"--reuid={free}", f"--regid={free}", "--clear-groups"]
    options = ["--ro-bind", "/usr", "/usr", "--tmpfs", "/usr/local", "--proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "sbin", "lib", "lib64"):
        options += ["--symlink", f"usr/{name}", f"/{name}"]
    for mount in container["volumeMounts"]:
        options += ["--perms", "0777", "--size", sizes[mount["name"]], "--tmpfs", mount["mountPath"]]
    for path in HOST_FOLDERS:
        options += ["--ro-bind-try", path, path]
    for name in sorted(os.listdir(image / "etc")):
        options += ["--ro-bind", str(image / "etc" / name), f"/etc/{name}"]
    options += ["--ro-bind", str(image), "/image", "--remount-ro", "/", "--chdir", container["workingDir"]]
    for variable in container["env"]:
        options += ["--setenv", variable["name"], variable["value"]]
    return [
        *switch,
        *("bwrap", "--unshare-all", "--die-with-parent", "--hostname", spec["hostname"], "--clearenv"),
        *("--uid", str(USER_ID), "--gid", str(USER_ID), "--cap-drop", "ALL"),
        *options,
        *container["command"],
    ]


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a pod's processes: also one of bubblewrap's that has not been told yet to end with the first."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def container_status(pod: Pod, state: dict[str, Any]) -> dict[str, Any]:
    """The status of a pod's container in this state."""
    container = pod["spec"]["containers"][0]
    told = {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
    return {**told, "ready": "running" in state, "state": state}


def _condition(status: str, reason: str, message: str) -> dict[str, str]:
    return {"type": "PodScheduled", "status": status, "reason": reason, "message": message}


def remove_logs(node: Node) -> None:
    """Delete what pods said."""
    with suppress(OSError):
        for path in node.logs.iterdir():
            path.unlink()
        node.logs.rmdir()
