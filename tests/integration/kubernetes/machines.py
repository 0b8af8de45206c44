"""Desktops in pods for tests, on a simulated cluster: the real client, host, guest and first process of a pod."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import load_kubernetes
from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.hosts.kubernetes.host import KubernetesHost
from vm_bridge.hosts.kubernetes.pod_api import PodApi
from vm_bridge.hosts.kubernetes.pod_image import build_pod_folder
from vm_bridge.hosts.kubernetes.pod_spec import IMAGE as POD
from vm_bridge.hosts.kubernetes.pod_spec import PodSettings
from vm_bridge.simulators.kubernetes.cluster import IMAGE, NAMESPACE, VERBS, Cluster, simulated_cluster

MARKS = (pytest.mark.slow, pytest.mark.timeout(600))
START_SECONDS = 60.0
MANIFESTS = ROOT / "docker" / "kubernetes" / "bridge.yaml"


def role_verbs() -> frozenset[str]:
    """What the role of the manifests allows on pods."""
    for manifest in yaml.safe_load_all(MANIFESTS.read_text()):
        if manifest["kind"] == "Role":
            (rule,) = manifest["rules"]
            assert (rule["apiGroups"], rule["resources"]) == ([""], ["pods"])
            return frozenset(rule["verbs"])
    raise AssertionError("there is no role")


@contextmanager
def running_cluster(data: Path, verbs: frozenset[str] = VERBS) -> Iterator[Cluster]:
    """A cluster that has the image of pods."""
    load_kubernetes(Console(sys.stderr))
    # The users of pods must be able to read it.
    folder = Path(tempfile.mkdtemp(prefix="pilothouse-pod-"))
    folder.chmod(0o755)
    try:
        build_pod_folder(folder / "image", data)
        with simulated_cluster({IMAGE: folder / "image"}, verbs) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder)


def pod_settings(host: str = "h1", **changes: Any) -> PodSettings:
    """The settings of a bridge host in the simulated cluster."""
    given: dict[str, Any] = {"namespace": NAMESPACE, "image": IMAGE, "start_seconds": START_SECONDS, **changes}
    return PodSettings(host=host, **given)


def pod_host(data: Path, cluster: Cluster, settings: PodSettings | None = None) -> KubernetesHost:
    """A bridge host whose pods are in this cluster."""

    def make_api(settings: PodSettings) -> PodApi:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setenv("KUBECONFIG", str(cluster.kubeconfig(Path(folder, "config"))))
            return PodApi(settings)

    return KubernetesHost(data, settings or pod_settings(), make_api=make_api)


__all__ = ["MANIFESTS", "MARKS", "POD", "pod_host", "pod_settings", "role_verbs", "running_cluster"]
