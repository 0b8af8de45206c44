"""Stands for the guest of a task's container, on the bridge's side: `python -m vm_bridge.hosts.docker.task_guest`.

It speaks to the bridge as every guest does, and to the container by the engine's exec: the container has nothing of
ours, and need not have Python.
"""

import argparse
import os
import socket
import threading
import traceback
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.machine_io import Message
from vm_bridge.guest.common.server import Desktop, Server
from vm_bridge.guest.linux.headless import HeadlessDesktop
from vm_bridge.guest.linux.host_listener import SharedMemoryHostListener
from vm_bridge.hosts.docker.engine import ContainerEngine, EngineRefused
from vm_bridge.hosts.docker.task_config import MachineLimits, container_config, folders_archive
from vm_bridge.hosts.docker.task_images import BuildFailed, TaskImages
from vm_bridge.hosts.docker.task_io import TaskIO
from vm_bridge.suites.container_plan import ContainerPlan


class TaskGuest:
    """Makes the container of a task, once, and acts in it."""

    def __init__(self, engine: ContainerEngine, name: str, limits: MachineLimits, lock: Path) -> None:
        self._engine, self._name, self._limits = engine, name, limits
        self._images = TaskImages(engine, limits, lock)
        self.io = TaskIO(engine, name)
        tools = (self.start_container, self.io.run, self.io.read, self.io.write, self.io.replace_folder)
        self.tools = {tool.__name__: tool for tool in (*tools, self.mark_processes, self.end_processes)}

    def start_container(self, call: Message) -> Message:
        """Builds the image where it is not there, and starts the container; says why not."""
        try:
            plan = ContainerPlan.model_validate(call["plan"])
            if plan.network and not self._limits.network:
                return {"failed": "network_mode public: this bridge lends tasks no network"}
            image = self._images.ensure(plan)
            self._engine.start(self._name, container_config(image, plan, self._limits))
            self._engine.put_archive(self._name, folders_archive())
            self.io.shell()
        except (BuildFailed, EngineRefused, ValidationError, ActionFailed) as error:
            return {"failed": str(error)}
        return {"failed": None}

    def mark_processes(self, call: Message) -> Message:
        """Nothing: all that runs in a container is the image's or the attempt's."""
        return {"failed": None}

    def end_processes(self, call: Message) -> Message:
        """Begin the container again, with its files; says why not. What the image starts by itself is there again."""
        try:
            self._engine.restart(self._name)
        except EngineRefused as error:
            return {"failed": str(error)}
        return {"failed": None}


def main() -> None:
    """Arguments are the bridge's; see `vm_bridge.hosts.docker.task_machine`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("listen", "memory", "leash"):
        parser.add_argument(f"--{option}", type=int, required=True)
    parser.add_argument("--container", required=True)
    parser.add_argument("--limits", type=MachineLimits.model_validate_json, required=True)
    parser.add_argument("--lock", type=Path, required=True)
    options = parser.parse_args()
    for descriptor in (options.listen, options.memory):
        os.set_inheritable(descriptor, False)
    threading.excepthook = _exit_on_error
    engine = ContainerEngine()
    guest = TaskGuest(engine, options.container, options.limits, options.lock)
    listener = SharedMemoryHostListener(socket.socket(fileno=options.listen), options.memory, options.leash)

    def start(width: int, height: int) -> Desktop:
        return HeadlessDesktop(guest.io)

    Server(listener, start, guest.io, home="", tools=guest.tools).serve()
    with suppress(MachineGone):
        engine.remove(options.container)
    os._exit(0)


def _exit_on_error(error: threading.ExceptHookArgs) -> None:
    """Where the container has ended, or the engine is silent, so does the machine."""
    traceback.print_exception(error.exc_value)
    os._exit(1)


if __name__ == "__main__":
    main()
