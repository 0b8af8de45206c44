"""The manifests and the pods of a bridge, held against the client's own models."""

import sys
from typing import Any

import pytest
import yaml

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import load_kubernetes
from tests.integration.kubernetes.machines import MANIFESTS, pod_settings
from vm_bridge.config import read_config
from vm_bridge.hosts.kubernetes.pod_spec import MANAGED_BY, MANAGER, pod_manifest
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.pod import PORT

needs_client = pytest.mark.slow
"""The client is installed for it, and its models take seconds to load."""
MANIFEST = list(yaml.safe_load_all(MANIFESTS.read_text()))
MODELS = {kind: f"V1{kind}" for kind in ("Namespace", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy")} | {
    kind: f"V1{kind}" for kind in ("ResourceQuota", "Secret", "Deployment", "Service", "Pod")
}


def round_trip(given: dict[str, Any]) -> dict[str, Any]:
    """An object as the client reads and writes it: unknown fields are lost, and wrong ones are refused."""
    load_kubernetes(Console(sys.stderr))
    from kubernetes import client

    model = getattr(client, MODELS[given["kind"]])
    return dict(client.ApiClient(client.Configuration()).sanitize_for_serialization(model.from_dict(given)))


@needs_client
@pytest.mark.parametrize("given", MANIFEST, ids=lambda given: given["kind"])
def test_the_client_knows_every_field_of_the_manifests(given: dict[str, Any]) -> None:
    assert round_trip(given) == given


@needs_client
def test_the_client_knows_every_field_of_a_pod() -> None:
    settings = pod_settings(owner=("bridge", "uid"), spec={"runtimeClassName": "gvisor"})
    pod = pod_manifest(settings, "pilothouse-a", "secret", ImageManifest(width=1280, height=720))
    assert round_trip(pod) == pod


def named(kind: str) -> dict[str, Any]:
    return next(given for given in MANIFEST if given["kind"] == kind)


def test_desktops_reach_nothing_and_the_bridge_alone_reaches_them() -> None:
    policy, template = named("NetworkPolicy")["spec"], named("Deployment")["spec"]["template"]
    assert policy["podSelector"]["matchLabels"] == {MANAGED_BY: MANAGER}
    assert policy["egress"] == []
    (rule,) = policy["ingress"]
    assert [port["port"] for port in rule["ports"]] == [PORT]
    assert rule["from"] == [{"podSelector": {"matchLabels": template["metadata"]["labels"]}}]
    assert MANAGED_BY not in template["metadata"]["labels"]


def test_the_bridge_understands_its_environment() -> None:
    (container,) = named("Deployment")["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each.get("value", "") for each in container["env"]}
    environment["PILOTHOUSE_BRIDGE_KEYS"] = f"kubernetes={'k' * 43}"
    environment["PILOTHOUSE_REDIS_URL"] = "redis://127.0.0.1:6379/0"
    environment["PILOTHOUSE_KUBERNETES_OWNER"] = "bridge-5f6c:8d0a2c9e-0000-4000-8000-000000000001"
    config = read_config(environment)
    assert (config.machines, config.kubernetes_namespace) == ("pods", "pilothouse")
