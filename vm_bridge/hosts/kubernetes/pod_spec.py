"""The objects of the cluster's API, as a bridge writes and reads them. Pure functions over plain JSON."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vm_bridge.errors import BridgeError, ClusterFull, MachineGone, PodImageUnavailable
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.isolation.bubblewrap import ENVIRONMENT, HOME, USER_ID
from vm_bridge.pod import PORT, SECRET_VARIABLE

IMAGE = "desktop-pod"
"""What machines in pods are called."""
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "pilothouse"
HOST_LABEL = "pilothouse.dev/host"
"""Labels of every pod: its maker, and the bridge host it belongs to."""
CONTAINER = "sandbox"
MAX_LABEL = 63
DIGEST_DIGITS = 12
LABEL_PATTERN = re.compile(r"[a-z0-9]([a-z0-9_.-]*[a-z0-9])?")
COMMAND = ["/usr/bin/python3", "-s", "-m", "vm_bridge.pod.init"]
MIB = 1 << 20
FOLDERS: dict[str, tuple[str, int]] = {
    HOME: ("home", 512 * MIB),
    "/tmp": ("tmp", 256 * MIB),  # noqa: S108 - in a pod of its own
    "/run": ("run", 16 * MIB),
    "/var/tmp": ("var-tmp", 64 * MIB),  # noqa: S108
    "/dev/shm": ("shm", 256 * MIB),  # noqa: S108
}
"""What can be written, in memory: the name of its volume, and its size (bytes)."""
CPU_SHARE = 0.25
"""The part of a desktop's processors that a node sets aside for it: most desktops are idle most of the time."""
STOP_SECONDS = 2
"""How long a deleted pod may take to end. Nothing in it is worth waiting for."""
IMAGE_REASONS = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")
)
START_REASONS = frozenset(("CreateContainerError", "RunContainerError", "CrashLoopBackOff"))
MAX_REASON = 300


@dataclass(frozen=True, slots=True)
class PodSettings:
    """What an operator says of the pods of one bridge host.

    Args:
        namespace: Where they are made.
        host: The host's id, by which a later bridge finds them.
        image: The container image, made by the target `pod` of docker/Dockerfile.
        spec: Fields that are added to each pod's spec; none of those set here.
        owner: Name and uid of the bridge's own pod. The cluster deletes these pods with it. None: no owner.
        start_seconds: Longest time until a new pod's guest answers.
    """

    namespace: str
    host: str
    image: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    owner: tuple[str, str] | None = None
    start_seconds: float = 120.0

    @property
    def selector(self) -> str:
        """Selects the pods of this host, and no other."""
        return f"{MANAGED_BY}={MANAGER},{HOST_LABEL}={label_value(self.host)}"


@dataclass(frozen=True, slots=True)
class PodState:
    """What matters of one pod as the cluster's API shows it."""

    name: str
    uid: str
    address: str
    """Empty before it has one."""
    running: bool
    """Whether its container runs."""
    failure: BridgeError | None
    """Why it does not start, or has ended. It may still change while the cluster looks for room."""
    final: bool
    """Whether waiting longer is in vain."""


def label_value(host: str) -> str:
    """A host's id as a label. Ids that cannot be one end with a digest of the whole."""
    if len(host) <= MAX_LABEL and LABEL_PATTERN.fullmatch(host):
        return host
    digest = hashlib.sha256(host.encode()).hexdigest()[:DIGEST_DIGITS]
    return f"{host[: MAX_LABEL - DIGEST_DIGITS - 1].rstrip('_.-')}-{digest}"


def pod_manifest(settings: PodSettings, name: str, secret: str, manifest: ImageManifest) -> dict[str, Any]:
    """The pod that is created: no rights, no token of the cluster, and nothing to write but memory."""
    limits = {"cpu": f"{round(manifest.cores * 1000)}m", "memory": str(manifest.memory)}
    requests = {**limits, "cpu": f"{round(manifest.cores * 1000 * CPU_SHARE)}m"}
    variables = {**ENVIRONMENT, **manifest.environment, SECRET_VARIABLE: secret}
    container = {
        "name": CONTAINER,
        "image": settings.image,
        "command": COMMAND,
        "workingDir": HOME,
        "env": [{"name": key, "value": value} for key, value in variables.items()],
        "ports": [{"name": "bridge", "containerPort": PORT, "protocol": "TCP"}],
        "resources": {"requests": requests, "limits": limits},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": volume, "mountPath": path} for path, (volume, _) in FOLDERS.items()],
    }
    metadata: dict[str, Any] = {
        "name": name,
        "labels": {MANAGED_BY: MANAGER, HOST_LABEL: label_value(settings.host), "app.kubernetes.io/name": CONTAINER},
    }
    if settings.owner is not None:
        owner, uid = settings.owner
        metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": uid}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            **settings.spec,
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "hostname": "desktop",
            "terminationGracePeriodSeconds": STOP_SECONDS,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER_ID,
                "runAsGroup": USER_ID,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
            "volumes": [
                {"name": volume, "emptyDir": {"medium": "Memory", "sizeLimit": str(size)}}
                for volume, size in FOLDERS.values()
            ],
        },
    }


def is_own(pod: Mapping[str, Any], settings: PodSettings) -> bool:
    """Whether a pod carries this host's labels."""
    labels = pod["metadata"].get("labels") or {}
    return labels.get(MANAGED_BY) == MANAGER and labels.get(HOST_LABEL) == label_value(settings.host)


def read_pod(pod: Mapping[str, Any]) -> PodState:
    """The state that an object of the API describes."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    failure, final = find_failure(pod)
    return PodState(
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        address=status.get("podIP") or "",
        running=any("running" in (each.get("state") or {}) for each in status.get("containerStatuses") or ()),
        failure=failure,
        final=final,
    )


def find_failure(pod: Mapping[str, Any]) -> tuple[BridgeError | None, bool]:
    """Why a pod does not run, and whether waiting longer is in vain."""
    status, name = pod.get("status") or {}, pod["metadata"]["name"]
    if status.get("phase") in ("Failed", "Succeeded"):
        return MachineGone(f"the pod {name} ended: {_end_reason(status)}"), True
    if pod["metadata"].get("deletionTimestamp"):
        return MachineGone(f"the pod {name} is being deleted"), True
    for container in status.get("containerStatuses") or ():
        waiting = (container.get("state") or {}).get("waiting") or {}
        reason = waiting.get("reason")
        if reason in IMAGE_REASONS | START_REASONS:
            said = f"the pod {name} does not start: {reason}: {waiting.get('message') or ''}"[:MAX_REASON]
            return PodImageUnavailable(said), True
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            said = f"no node has room for the pod {name}: {condition.get('message') or condition.get('reason')}"
            return ClusterFull(said[:MAX_REASON]), False  # an autoscaler may bring a node
    return None, False


def _end_reason(status: Mapping[str, Any]) -> str:
    """Such as `Evicted: The node was low on resource: memory.` or `OOMKilled`."""
    parts = [status.get("reason"), status.get("message")]
    if not any(parts):
        for container in status.get("containerStatuses") or ():
            ended = (container.get("state") or {}).get("terminated") or {}
            parts += [ended.get("reason"), ended.get("message"), f"exit status {ended.get('exitCode')}"]
    return ": ".join(str(part) for part in parts if part)[:MAX_REASON] or "the cluster gives no reason"
