"""The container of a task as the engine is told of it: what it may take, and what it may do."""

import io
import tarfile
from typing import Any

from protocol.base import FrozenModel
from vm_bridge.hosts.docker.engine import LABEL
from vm_bridge.suites.container_plan import ContainerPlan

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What root may do inside, so that package managers and `su` work: Docker's own list without the network's, devices',
`chroot`'s and the rights of files."""
IDLE = ("sh", "-c", "while :; do sleep 3600; done")
"""The image's entry point gets this command, as Harbor's runner gives it one that only waits."""
FOLDERS = ("tests", "solution", "logs", "logs/agent", "logs/verifier", "logs/artifacts")
"""What is there for every task; everybody inside may write to it."""
MIB = 2**20
SHM_BYTES = 64 * MIB


class MachineLimits(FrozenModel):
    """What containers and builds of one bridge may take."""

    owner: str
    """The folder of the host, in the label by which a later bridge finds what one that was killed left."""
    network: str = ""
    """The engine's network of builds, and of tasks that want one; none where it is empty."""
    cores: float
    memory: int
    """Bytes."""
    processes: int


def container_config(image: str, plan: ContainerPlan, limits: MachineLimits) -> dict[str, Any]:
    """A task that asks for less gets less, one that asks for more gets what there is."""
    memory = min(limits.memory, (plan.memory_mb or limits.memory // MIB) * MIB)
    return {
        "Image": image,
        "Cmd": list(IDLE),
        "Hostname": "task",
        **({"WorkingDir": plan.workdir} if plan.workdir else {}),
        "Env": [f"{name}={value}" for name, value in plan.env.items()],
        "Labels": {LABEL: limits.owner},
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "NetworkMode": limits.network if plan.network else "none",
            "IpcMode": "private",
            "CapDrop": ["ALL"],
            "CapAdd": list(CAPABILITIES),
            "SecurityOpt": ["no-new-privileges:true"],
            "LogConfig": {"Type": "none"},
            "NanoCpus": round(min(limits.cores, plan.cpus or limits.cores) * 1e9),
            "Memory": memory,
            "MemorySwap": memory,
            "PidsLimit": limits.processes,
            "ShmSize": SHM_BYTES,
            "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        },
    }


def folders_archive() -> bytes:
    """The folders that every task finds, as a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in FOLDERS:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o777
            archive.addfile(entry)
    return packed.getvalue()
