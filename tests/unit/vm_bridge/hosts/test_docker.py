"""What a container engine is told, and what becomes of its answers."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer
from typing import Any
from urllib.parse import unquote

import pytest

from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.hosts.docker.container import IMAGE, container_config
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.docker.host import DockerHost
from vm_bridge.hosts.process_sandbox import PreparedImage
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.virtual.base_image import read_package_list

VIRTUAL_ONLY = {"linux-image-cloud-amd64", "initramfs-tools", "bubblewrap"}
"""What a machine of its own needs, and no container."""


@dataclass
class FakeEngine:
    """Answers as it is told to, by method and path; what it was asked is kept."""

    socket: Path
    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    version: str = "v1.41"
    """The one that it speaks."""

    def serve(self) -> UnixStreamServer:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = unquote(self.path.partition("?")[0])
                version, path = path[1:6], path[6:]
                engine.asked.append((self.command, path))
                if version != engine.version:
                    oldest = f"Minimum supported API version is {engine.version[1:]}, please upgrade your client"
                    engine.answers = engine.answers | {
                        ("too", "old"): (400, {"message": f"{version} is too old. {oldest}"})
                    }
                    path, self.command = "old", "too"
                status, body = engine.answers.get((self.command, path), (500, {"message": "not told what to say"}))
                data = json.dumps(body).encode() if body is not None else b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *args: Any) -> None:
                pass

        self.socket.unlink(missing_ok=True)
        server = UnixStreamServer(str(self.socket), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeEngine]:
    fake = FakeEngine(tmp_path / "engine.sock")
    server = fake.serve()
    yield fake
    server.shutdown()
    server.server_close()


@pytest.fixture
def engine(fake: FakeEngine) -> ContainerEngine:
    return ContainerEngine(f"unix://{fake.socket}")


def test_a_container_that_does_not_start_is_removed(fake: FakeEngine, engine: ContainerEngine) -> None:
    fake.answers = {
        ("POST", "/containers/create"): (201, {"Id": "1"}),
        ("POST", "/containers/one/start"): (400, {"message": "no such file: /usr/bin/python3"}),
        ("DELETE", "/containers/one"): (204, None),
    }
    with pytest.raises(MachineGone, match="no such file: /usr/bin/python3"):
        engine.start("one", {"Image": "some"})
    assert fake.asked[-1] == ("DELETE", "/containers/one")


def test_an_image_that_is_missing_is_told_with_what_makes_it(fake: FakeEngine, engine: ContainerEngine) -> None:
    fake.answers = {("POST", "/containers/create"): (404, {"message": "No such image: some"})}
    with pytest.raises(MachineGone, match="docker build -t some docker/sandbox"):
        engine.start("one", {"Image": "some"})
    fake.answers = {("GET", "/images/some/json"): (404, {"message": "No such image: some"})}
    assert not engine.has("some")


@pytest.mark.parametrize("status", [404, 409])
def test_one_that_is_gone_or_going_need_not_be_removed(fake: FakeEngine, engine: ContainerEngine, status: int) -> None:
    fake.answers = {("DELETE", "/containers/one"): (status, {"message": "gone"})}
    engine.remove("one")
    assert fake.asked == [("DELETE", "/containers/one")]


def test_memory_is_what_is_used_without_what_is_only_kept(fake: FakeEngine, engine: ContainerEngine) -> None:
    told: dict[str, Any] = {"usage": 100, "stats": {"total_inactive_file": 30, "inactive_file": 10}}
    fake.answers = {("GET", "/containers/one/stats"): (200, {"memory_stats": told})}
    assert engine.memory("one") == 70
    del told["stats"]["total_inactive_file"]  # as with control groups of version 2
    assert engine.memory("one") == 90
    told.clear()  # it has just ended
    assert engine.memory("one") == 0


def test_what_cannot_be_bounded_is_asked_once(fake: FakeEngine, engine: ContainerEngine) -> None:
    fake.answers = {("GET", "/info"): (200, {"MemoryLimit": True, "CpuCfsQuota": False})}
    assert engine.missing() == ("cpu", "pids")
    assert engine.missing() == ("cpu", "pids")
    assert fake.asked == [("GET", "/info")]


def test_an_engine_that_speaks_later_versions_only_is_spoken_to_in_its_oldest(
    fake: FakeEngine, engine: ContainerEngine
) -> None:
    fake.version = "v1.44"
    fake.answers = {("GET", "/images/some/json"): (200, {"Size": 3})}
    assert engine.image_size("some") == 3
    assert engine.image_size("some") == 3
    assert len(fake.asked) == 3, "it is learned once"


def test_an_engine_that_comes_back_is_asked_again(tmp_path: Path) -> None:
    fake = FakeEngine(tmp_path / "engine.sock", {("GET", "/images/some/json"): (200, {})})
    engine = ContainerEngine(f"unix://{fake.socket}")
    for _ in range(2):
        with pytest.raises(MachineGone, match="no container engine answers"):
            engine.has("some")
        server = fake.serve()
        assert engine.has("some")
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:2375", "unix:///no/such/engine.sock"])
async def test_without_an_engine_there_are_no_containers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    host = DockerHost(tmp_path)
    assert await host.adopt(["desktop-container-1"]) == []
    with pytest.raises(NoMachine, match="there are desktop-container"):
        await host.create("desktop")
    await host.close()
    with pytest.raises(MachineGone, match="no container engine answers"):
        ContainerEngine().has("some")


async def test_strays_are_ended_as_soon_as_the_engine_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeEngine(tmp_path / "engine.sock")
    fake.answers = {
        ("GET", "/containers/json"): (200, [{"Names": ["/pilothouse-stray"]}]),
        ("DELETE", "/containers/pilothouse-stray"): (204, None),
        ("GET", "/images/json"): (200, [{"Id": "sha256:1", "Created": 1}]),
        ("DELETE", "/images/sha256:1"): (200, []),
    }
    monkeypatch.setenv("DOCKER_HOST", f"unix://{fake.socket}")
    host = DockerHost(tmp_path)
    assert await host.adopt([]) == []
    server = fake.serve()
    try:
        for _ in range(2):
            with pytest.raises(NoMachine, match="there are desktop-container"):
                await host.create("desktop")
        assert fake.asked == list(fake.answers), "each once"
    finally:
        await host.close()
        server.shutdown()
        server.server_close()


def test_the_engine_is_told_of_every_wall(tmp_path: Path) -> None:
    folder = tmp_path / "trees" / "desktop-container-1"
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "passwd").touch()
    image = PreparedImage(IMAGE, tmp_path / "image", ImageManifest(width=800, height=600, cores=1.5), "", None, ())
    told = container_config("some", image, folder, 5000)
    walls = told["HostConfig"]
    assert told["User"] == "5000:5000"
    assert walls["NetworkMode"] == "none"
    assert walls["ReadonlyRootfs"] is True
    assert walls["CapDrop"] == ["ALL"]
    assert walls["SecurityOpt"] == ["no-new-privileges:true"]
    assert walls["Memory"] == walls["MemorySwap"] == image.manifest.memory
    assert (walls["NanoCpus"], walls["PidsLimit"]) == (1_500_000_000, image.manifest.processes)
    assert walls["AutoRemove"] is True
    assert not {"Privileged", "PortBindings", "CapAdd", "Devices", "PidMode"} & set(walls)
    writable = [bind for bind in walls["Binds"] if not bind.endswith(":ro")]
    assert writable == [f"{folder / 'display'}:/run/vnc:rw"]
    assert not any(bind.startswith(f"{folder}:") for bind in walls["Binds"])
    assert all("size=" in options and "nosuid" in options for options in walls["Tmpfs"].values())


def test_a_container_and_a_virtual_machine_have_the_same_programs() -> None:
    text = (ROOT / "docker" / "sandbox" / "Dockerfile").read_text()
    listed = text.partition("--no-install-recommends")[2].partition("&&")[0]
    assert set(listed.replace("\\\n", " ").split()) == set(read_package_list()) - VIRTUAL_ONLY


def test_its_image_is_of_a_named_version_and_no_root_s() -> None:
    text = (ROOT / "docker" / "sandbox" / "Dockerfile").read_text()
    assert re.search(r"^ARG BASE=debian:\d+\.\d+", text, re.MULTILINE)
    assert re.findall(r"^USER (\w+)$", text, re.MULTILINE)[-1] == "user"
