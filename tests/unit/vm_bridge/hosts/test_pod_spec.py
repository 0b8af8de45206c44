"""What a bridge writes of its pods, and what it reads of them."""

import json
from typing import Any

import pytest

from vm_bridge.errors import BridgeError, ClusterFull, ClusterUnavailable, MachineGone, PodImageUnavailable
from vm_bridge.hosts.kubernetes.pod_api import explain
from vm_bridge.hosts.kubernetes.pod_spec import PodSettings, is_own, label_value, pod_manifest, read_pod
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.simulators.kubernetes.cluster import LABEL_PATTERN

SETTINGS = PodSettings(namespace="lab", host="h1", image="registry.example.org/pod:1")


def manifest(**changes: Any) -> dict[str, Any]:
    settings = PodSettings(**{"namespace": "lab", "host": "h1", "image": "i", **changes})
    return pod_manifest(settings, "pilothouse-a", "the secret", ImageManifest(width=1280, height=720, cores=2))


def test_a_pod_has_no_rights_and_no_token_of_the_cluster() -> None:
    spec = manifest()["spec"]
    (container,) = spec["containers"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert all(volume["emptyDir"]["medium"] == "Memory" for volume in spec["volumes"])
    assert container["resources"]["limits"] == {"cpu": "2000m", "memory": str(3072 << 20)}
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": str(3072 << 20)}


def test_added_fields_take_none_of_its_bounds_away() -> None:
    spec = manifest(spec={"runtimeClassName": "gvisor", "automountServiceAccountToken": True})["spec"]
    assert spec["runtimeClassName"] == "gvisor"
    assert spec["automountServiceAccountToken"] is False


def test_the_cluster_deletes_it_with_its_owner() -> None:
    assert "ownerReferences" not in manifest()["metadata"]
    (owner,) = manifest(owner=("bridge-1", "uid-1"))["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "v1", "kind": "Pod", "name": "bridge-1", "uid": "uid-1"}


@pytest.mark.parametrize("host", ["h1", "a" * 64, "ends-with-", "x" * 63 + "-", "a.b_c"])
def test_every_host_id_has_a_label_of_its_own(host: str) -> None:
    value = label_value(host)
    assert LABEL_PATTERN.fullmatch(value)
    assert value == label_value(host)
    assert value != label_value(host[:-1] + "q")


def test_a_pod_of_another_host_is_not_ones_own() -> None:
    pod = manifest()
    assert is_own(pod, SETTINGS)
    assert not is_own(pod, PodSettings(namespace="lab", host="h2", image="i"))
    assert not is_own({"metadata": {"name": "other"}}, SETTINGS)


def status(**told: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", "uid": "u"}, "status": told}


def container(**state: Any) -> list[dict[str, Any]]:
    return [{"name": "sandbox", "state": state}]


@pytest.mark.parametrize(
    ("told", "error", "words", "final"),
    [
        ({"phase": "Pending"}, None, "", False),
        ({"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": container(running={})}, None, "", False),
        (
            {"containerStatuses": container(waiting={"reason": "ErrImagePull", "message": "not found"})},
            PodImageUnavailable,
            "ErrImagePull: not found",
            True,
        ),
        ({"containerStatuses": container(waiting={"reason": "ContainerCreating"})}, None, "", False),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]},
            ClusterFull,
            "0/3 nodes",
            False,
        ),
        ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}, MachineGone, "Evicted: low", True),
        (
            {"phase": "Failed", "containerStatuses": container(terminated={"reason": "OOMKilled", "exitCode": 137})},
            MachineGone,
            "OOMKilled: exit status 137",
            True,
        ),
        ({"phase": "Succeeded"}, MachineGone, "no reason", True),
    ],
)
def test_a_state_says_what_is_wrong(
    told: dict[str, Any], error: type[BridgeError] | None, words: str, final: bool
) -> None:
    state = read_pod(status(**told))
    assert (None if state.failure is None else type(state.failure)) is error
    assert words in str(state.failure or "")
    assert state.final is final


def test_a_pod_that_is_being_deleted_is_over() -> None:
    pod = status(phase="Running")
    pod["metadata"]["deletionTimestamp"] = "2026-12-01T00:00:00Z"
    assert read_pod(pod).final


class Answer(Exception):
    """An error of the client."""

    def __init__(self, status: int | None, message: str = "") -> None:
        super().__init__("answer")
        self.status, self.body = status, json.dumps({"message": message})


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(403, 'pods "a" is forbidden: exceeded quota: lab'), ClusterFull),
        (Answer(403, 'pods is forbidden: User "bridge" cannot create resource "pods"'), ClusterUnavailable),
        (Answer(409, "already exists"), ClusterUnavailable),
        (Answer(422, "Invalid value"), PodImageUnavailable),
        (Answer(429), ClusterUnavailable),
        (Answer(500), ClusterUnavailable),
        (ConnectionRefusedError(), ClusterUnavailable),
    ],
)
def test_an_answer_of_the_api_has_a_stable_code(answer: Exception, error: type[BridgeError]) -> None:
    assert type(explain(answer)) is error
