"""Images of tasks: built once by the engine from what a task brings, kept for the attempts that follow, bounded."""

import fcntl
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker.engine import LABEL, ContainerEngine, EngineRefused
from vm_bridge.hosts.docker.task_config import MachineLimits
from vm_bridge.suites.container_plan import ContainerPlan

REPOSITORY = "pilothouse-task"
MAX_IMAGES = 20
"""Images of tasks that a bridge keeps; the oldest go first, unless a container needs them."""
MAX_IMAGE_BYTES = 8 * 2**30
MAX_REASON_CHARACTERS = 1_000
CPU_PERIOD = 100_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ADD = re.compile(r"^\s*(?:onbuild\s+)*add[\s\[]", re.IGNORECASE | re.MULTILINE)
_LAYER = re.compile(r" ---> ([0-9a-f]{12,64})\n?")
"""How a build tells of the layers it makes."""


class BuildFailed(Exception):
    """The engine made no image of it; the message says why."""


def image_name(owner: str, plan: ContainerPlan) -> str:
    """The name of a task's image: another for each content and each bridge."""
    content = owner.encode() + b"\0" + plan.context
    return f"{REPOSITORY}:{hashlib.sha256(content).hexdigest()[:40]}"


def may_add(context: bytes) -> bool:
    """Whether a Dockerfile may have an ADD, however its lines are read: too often rather than not."""
    with tarfile.open(fileobj=io.BytesIO(context)) as archive:
        file = archive.extractfile("Dockerfile")
        text = file.read().decode("utf-8-sig", "replace") if file is not None else ""
    lines = "\n".join(line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#"))
    joined = [re.sub(rf"{escape}[ \t\r]*\n", "", lines) for escape in (r"\\", "`")]
    return any(_ADD.search(each) for each in (text, *joined))


class TaskImages:
    """`lock` is held while an image is built, so that the bridge's machines build one at a time and each one once."""

    def __init__(self, engine: ContainerEngine, limits: MachineLimits, lock: Path) -> None:
        self._engine, self._limits, self._lock = engine, limits, lock

    def ensure(self, plan: ContainerPlan) -> str:
        """The name of a task's image, built where it is not there. Raises BuildFailed, MachineGone."""
        name = image_name(self._limits.owner, plan)
        if not self._engine.has(name):
            with _locked(self._lock):
                if not self._engine.has(name):
                    self._build(name, plan)
                    self._remove_oldest()
        return name

    def _build(self, name: str, plan: ContainerPlan) -> None:
        limits = self._limits
        if not limits.network and may_add(plan.context):
            raise BuildFailed("ADD lets the engine itself fetch, and this bridge lends builds no network; use COPY")
        query = {
            "t": name,
            "labels": json.dumps({LABEL: limits.owner}),
            "networkmode": limits.network or "none",
            "memory": str(limits.memory),
            "memswap": str(limits.memory),
            "cpuperiod": str(CPU_PERIOD),
            "cpuquota": str(round(limits.cores * CPU_PERIOD)),
            "rm": "true",
            "forcerm": "true",
        }
        messages = self._engine.messages("/build", query=query, body=plan.context, timeout=plan.build_seconds)
        progress = _Progress()
        try:
            with closing(messages):
                progress.follow(messages)
            size = self._engine.image_size(name)
            if size is None:
                raise BuildFailed("the engine made no image")
            if size > MAX_IMAGE_BYTES:
                self._engine.remove_image(name)
                raise BuildFailed(f"the image has {size} bytes, more than {MAX_IMAGE_BYTES}")
        except (BuildFailed, EngineRefused, TimeoutError) as error:
            self._remove_layers(progress.layer)
            late = isinstance(error, TimeoutError)
            raise BuildFailed(f"it did not end in {plan.build_seconds:g} s" if late else str(error)) from error

    def _remove_layers(self, layer: str) -> None:
        """Remove what a failed build made. A last layer with a name is another image, and stays."""
        with suppress(MachineGone):
            if layer and not self._engine.image_names(layer):
                self._engine.remove_image(layer)

    def _remove_oldest(self) -> None:
        with suppress(MachineGone):
            for image in self._engine.images(self._limits.owner)[MAX_IMAGES:]:
                self._engine.remove_image(image)


class _Progress:
    """What a build has said."""

    def __init__(self) -> None:
        self.layer = ""
        """The layer made last."""
        self._said = ""

    def follow(self, messages: Iterator[Mapping[str, Any]]) -> None:
        """Until the build ends. Raises BuildFailed where it fails."""
        for message in messages:
            said = _COLOUR.sub("", str(message.get("stream") or ""))
            self._said = (self._said + said)[-MAX_REASON_CHARACTERS:]
            if match := _LAYER.fullmatch(said):
                self.layer = match[1]
            if "error" in message:
                raise BuildFailed(f"{str(message['error'])[:MAX_REASON_CHARACTERS]}\n{self._said}".strip())


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """While no other process holds this file's lock."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
