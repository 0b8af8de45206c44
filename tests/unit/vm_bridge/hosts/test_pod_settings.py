"""Which settings make a host of pods, and which are refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.config import ConfigError, read_config

KEYS = {"PILOTHOUSE_ROLE": "host", "PILOTHOUSE_HOST_ID": "h1", "PILOTHOUSE_BRIDGE_KEYS": f"h1={'k' * 43}"}
PODS = KEYS | {"PILOTHOUSE_MACHINES": "pods", "PILOTHOUSE_KUBERNETES_NAMESPACE": "lab"}
MADE = """
import sys
from vm_bridge.config import read_config
from vm_bridge.host_service import create_host
host = create_host(read_config({settings!r}))
print(*host.images, *sorted({{"kubernetes", "aiohttp"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "wrong",
    [
        {"PILOTHOUSE_KUBERNETES_NAMESPACE": ""},
        {"PILOTHOUSE_KUBERNETES_NAMESPACE": "Not-A-Label"},
        {"PILOTHOUSE_KUBERNETES_POD_SPEC": json.dumps({"hostNetwork": True})},
        {"PILOTHOUSE_KUBERNETES_POD_SPEC": json.dumps({"automountServiceAccountToken": True})},
        {"PILOTHOUSE_KUBERNETES_OWNER": "no-uid"},
        {"PILOTHOUSE_KUBERNETES_START_SECONDS": "1000"},
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, str]) -> None:
    (name,) = wrong
    with pytest.raises(ConfigError, match=name):
        read_config(PODS | wrong)


def test_fields_that_choose_nodes_and_runtimes_are_taken() -> None:
    added = {"runtimeClassName": "gvisor", "nodeSelector": {"pool": "desktops"}}
    config = read_config(PODS | {"PILOTHOUSE_KUBERNETES_POD_SPEC": json.dumps(added)})
    assert config.kubernetes_pod_spec == added


def test_a_host_of_pods_alone_loads_no_client_before_it_makes_one(tmp_path: Path) -> None:
    code = MADE.format(settings=PODS | {"PILOTHOUSE_DATA": str(tmp_path)})
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["desktop-pod"]
