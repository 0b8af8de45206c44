"""What pods are beyond the contract that they share with every machine: failures of the cluster, and nothing left."""

import asyncio
import itertools
import logging
import os
from pathlib import Path

import pytest

from protocol.actions.types import ReadFile, RunCommand, WriteFile
from tests.integration.kubernetes.conftest import MakeHost
from tests.integration.kubernetes.machines import MARKS, POD, pod_host, pod_settings
from tests.waiting import eventually
from vm_bridge.errors import BridgeError, ClusterFull, ClusterUnavailable, MachineGone, NoMachine, PodImageUnavailable
from vm_bridge.hosts.kubernetes import pod_api
from vm_bridge.hosts.kubernetes.host import KubernetesHost
from vm_bridge.hosts.kubernetes.pod import Pod, PodChannel
from vm_bridge.hosts.kubernetes.pod_api import PodApi
from vm_bridge.hosts.kubernetes.pod_factory import PodFactory
from vm_bridge.hosts.kubernetes.pod_spec import HOST_LABEL, label_value
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.simulators.kubernetes.cluster import Cluster

pytestmark = list(MARKS)
commands = (f"command-{number:04}" for number in itertools.count())


def names(cluster: Cluster, host: str = "h1") -> set[str]:
    """The pods of a host."""
    return {
        pod["metadata"]["name"] for pod in cluster.pods() if pod["metadata"]["labels"][HOST_LABEL] == label_value(host)
    }


async def created(host: KubernetesHost) -> LocalSandbox:
    """A machine, and no pod that is started ahead and could still be on its way."""
    sandbox = await host.create(POD)
    assert isinstance(sandbox, LocalSandbox)
    return sandbox


def pod_of(sandbox: LocalSandbox) -> Pod:
    assert isinstance(sandbox.tree, Pod)
    return sandbox.tree


async def test_a_reset_deletes_the_pod_and_takes_the_one_that_stood_ready(
    cluster: Cluster, make_host: MakeHost
) -> None:
    sandbox = await created(make_host())
    await eventually(lambda: cluster.node.running == 2)
    before, (ready,) = pod_of(sandbox).record.name, names(cluster) - {pod_of(sandbox).record.name}
    await sandbox.bind(1).perform(next(commands), WriteFile(path="a.txt", text="old"))
    await sandbox.reset()
    assert pod_of(sandbox).record.name == ready
    await eventually(lambda: before not in names(cluster))
    done = await sandbox.bind(2).perform(next(commands), ReadFile(path="a.txt"))
    assert done.error is not None


async def test_a_closed_host_leaves_no_pod(cluster: Cluster, make_host: MakeHost) -> None:
    host = make_host()
    await created(host)
    await host.close()
    assert names(cluster) == set()
    assert cluster.node.running == 0


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("image", PodImageUnavailable),
        ("full", ClusterFull),
        ("quota", ClusterFull),
        ("busy", ClusterUnavailable),
        ("role", ClusterUnavailable),
        ("away", ClusterUnavailable),
    ],
)
async def test_a_pod_that_cannot_be_made_has_a_code_and_leaves_nothing(
    cluster: Cluster, make_host: MakeHost, fault: str, error: type[NoMachine]
) -> None:
    image = {"image": "registry.example.org/none:1"} if fault == "image" else {}
    host = make_host(**image, start_seconds=2.0)
    cluster.node.full, cluster.away = fault == "full", fault == "away"
    cluster.quota = 0 if fault == "quota" else None
    cluster.busy = 1_000 if fault == "busy" else 0
    cluster.verbs -= {"create"} if fault == "role" else set()
    with pytest.raises(error) as refused:
        await host.create(POD)
    assert type(refused.value) is error
    cluster.away, cluster.busy = False, 0
    await eventually(lambda: not names(cluster))


async def test_a_pod_that_the_cluster_evicts_is_given_up_at_once_with_its_reason(
    cluster: Cluster, make_host: MakeHost, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox = await created(make_host())
    name = pod_of(sandbox).record.name
    with caplog.at_level(logging.WARNING):
        cluster.end(name, {"reason": "Evicted", "message": "The node was low on resource: memory."})
        await eventually(lambda: pod_of(sandbox).link.gone)
        await eventually(lambda: "Evicted: The node was low on resource" in caplog.text)
    assert not await sandbox.healthy()
    with pytest.raises(BridgeError):
        await sandbox.bind(1).observe()


async def test_a_machine_goes_on_while_the_api_is_away_and_what_ended_meanwhile_is_removed_later(
    cluster: Cluster, make_host: MakeHost
) -> None:
    host = make_host()
    kept, ended = await created(host), await created(host)
    cluster.away = True

    async def create_two() -> None:
        await host.create(POD)  # perhaps of the pod that stood ready
        await host.create(POD)

    with pytest.raises(ClusterUnavailable):
        await create_two()
    await ended.destroy()
    done = await kept.bind(1).perform(next(commands), WriteFile(path="a.txt", text="still here"))
    assert done.error is None
    gone = {name for name in names(cluster)} - host._pods.owned
    assert gone
    cluster.away = False
    await eventually(lambda: not gone & names(cluster))
    assert pod_of(kept).record.name in names(cluster)


async def test_a_watch_that_expired_is_begun_again(cluster: Cluster, make_host: MakeHost) -> None:
    host = make_host()
    first = await created(host)
    lists = len([1 for method, path in cluster.requests if method == "GET" and path.endswith("/pods")])
    cluster.expire_watches()
    await eventually(
        lambda: len([1 for method, path in cluster.requests if method == "GET" and path.endswith("/pods")]) > lists + 1
    )
    await created(host)
    cluster.end(pod_of(first).record.name, {"reason": "NodeLost"})
    await eventually(lambda: pod_of(first).link.gone)


async def test_two_bridges_in_a_namespace_leave_each_others_pods_alone(cluster: Cluster, make_host: MakeHost) -> None:
    long = "lab-" + "x" * 60
    one, other = make_host("h1"), make_host(long)
    theirs = await created(other)
    await one.adopt(())
    await created(one)
    await one.close()
    assert pod_of(theirs).record.name in names(cluster, long)
    assert await theirs.healthy()


async def test_a_later_bridge_goes_on_with_a_pod_and_removes_the_others(
    cluster: Cluster, make_host: MakeHost, tmp_path: Path
) -> None:
    host = make_host()
    sandbox = await created(host)
    await sandbox.bind(7).observe()
    await eventually(lambda: cluster.node.running == 2)
    pod = pod_of(sandbox)
    await pod.hang_up()  # as a bridge that was killed
    assert isinstance(host._pods._api, PodApi)
    api = host._pods._api
    later = PodFactory(pod_settings(), lambda _: api)
    adopted = await later.adopt(pod.folder)
    later.sweep()
    assert adopted.fence == 7
    assert adopted.screen is not None
    await eventually(lambda: names(cluster) == {pod.record.name})
    await adopted.end()
    await later.close()
    assert names(cluster) == set()


async def test_who_does_not_know_the_secret_is_not_let_in(
    cluster: Cluster, make_host: MakeHost, tmp_path: Path
) -> None:
    sandbox = await created(make_host())
    with pytest.raises(MachineGone, match="network policy"):
        await PodChannel(tmp_path, pod_of(sandbox).record.address, "s" * 43).connect(1.0)
    assert await sandbox.healthy()


async def test_a_creation_that_is_cancelled_leaves_nothing(cluster: Cluster, make_host: MakeHost) -> None:
    host = make_host()
    await host._image(POD)
    requests = len(cluster.requests)
    creating = asyncio.create_task(host.create(POD))
    await eventually(lambda: ("POST", "/api/v1/namespaces/lab/pods") in cluster.requests[requests:])
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    await eventually(lambda: not names(cluster))
    await eventually(lambda: cluster.node.running == 0)


async def test_viewers_and_programs_go_through_the_one_connection(cluster: Cluster, make_host: MakeHost) -> None:
    sandbox = await created(make_host())
    assert sandbox.vnc_socket is not None
    reader, writer = await asyncio.open_unix_connection(sandbox.vnc_socket)
    assert (await reader.readexactly(4)) == b"RFB "
    writer.close()
    fetch = "import urllib.request as u; u.urlopen('http://example.org/', timeout=10)"
    done = await sandbox.bind(1).perform(next(commands), RunCommand(command=f'python3 -c "{fetch}" 2>&1 | tail -1'))
    assert "403" in (done.after.text or "")  # the bridge's proxy, which no host was allowed


async def test_a_host_that_starts_again_adopts_what_is_leased_and_removes_the_rest(
    cluster: Cluster, make_host: MakeHost, data: Path
) -> None:
    host = pod_host(data / "again", cluster, pod_settings("again"))
    kept, left = await created(host), await created(host)
    await kept.bind(3).perform(next(commands), WriteFile(path="a.txt", text="still here"))
    await eventually(lambda: cluster.node.running == 3)
    name = pod_of(kept).record.name
    await leave(host)

    later = make_host("again")
    (adopted,) = await later.adopt([kept.id])
    assert isinstance(adopted, LocalSandbox)
    assert pod_of(adopted).record.name == name
    done = await adopted.bind(3).perform(next(commands), ReadFile(path="a.txt"))
    assert done.after.text == "still here"
    assert await adopted.healthy()
    await eventually(lambda: names(cluster, "again") == {name})
    assert left.id != adopted.id


async def leave(host: KubernetesHost) -> None:
    """Stop using a host as the kernel does with one that is killed: lines and lock end, pods and folders stay."""
    assert host._open is not None
    for sandbox in host._made:
        await pod_of(sandbox).hang_up()
    ready = await host._open.prestarted._coming[POD]
    assert isinstance(ready, Pod)
    await ready.hang_up()
    await host._pods.close()
    os.close(host._open.runtime._lock)


async def test_pods_are_listed_page_by_page_and_deleted_by_their_uid(
    cluster: Cluster, make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make_host()
    sandbox = await created(host)
    await eventually(lambda: cluster.node.running == 2)
    api = host._pods._api
    assert api is not None
    monkeypatch.setattr(pod_api, "PAGE", 1)
    assert {pod["metadata"]["name"] for pod in api.list()[0]} == names(cluster)
    name = pod_of(sandbox).record.name
    api.delete(name, "another-uid")
    assert name in names(cluster)
    cluster.brief = True
    api.delete(name, pod_of(sandbox).record.uid)
    assert name not in names(cluster)
    api.delete(name, pod_of(sandbox).record.uid)
