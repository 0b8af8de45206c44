"""Digests of images are what a registry gives, checked against the bytes they are of, or they are not written."""

import json
import shutil
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest

from annotation_app.operations.audit.command import FIXED_VERSIONS_FILE
from annotation_app.operations.audit.pinning import run_pinning
from annotation_app.operations.audit.pins import COMPOSE_FILE, PinScan, find_images
from annotation_app.operations.audit.registry import ImageName
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.runtime.stack import ROOT

TOKEN = "a-token-for-anybody"


class StandIn(ThreadingHTTPServer):
    """A registry of API v2 with every image, which asks for a token as Docker Hub does."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[str] = []
        self.build = 1
        self.false_digest = self.captive = self.moved = False

    def manifest(self, path: str) -> bytes:
        return json.dumps({"schemaVersion": 2, "path": path, "build": self.build}).encode()


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        if self.path.startswith("/token?"):
            return self.answer(200, json.dumps({"token": TOKEN}).encode())
        if self.server.captive:
            return self.answer(200, b"<html>Sign in to this network</html>")
        if self.server.moved:
            return self.answer(307, b"", Location="http://127.0.0.1:9/elsewhere")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            challenge = f'Bearer realm="{self.server.url}/token",service="stand-in",scope="repository:pull"'
            return self.answer(401, b"{}", **{"WWW-Authenticate": challenge})
        self.server.asked.append(self.path)
        body = self.server.manifest(self.path)
        digest = sha256(b"other" if self.server.false_digest else body).hexdigest()
        self.answer(200, body, **{"Docker-Content-Digest": f"sha256:{digest}"})

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is written."""


@pytest.fixture
def registry() -> Iterator[StandIn]:
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What names images, and no digests."""
    shutil.copytree(ROOT / "docker", tmp_path / "docker")
    for file in [tmp_path / COMPOSE_FILE, *(tmp_path / "docker").rglob("Dockerfile")]:
        for pin in find_images(tmp_path):
            file.write_text(file.read_text().replace(pin.reference, pin.reference.partition("@")[0]))
    editor = tmp_path / "vm_bridge" / "images" / "editor"
    editor.mkdir(parents=True)
    shutil.copy(ROOT / "vm_bridge" / "images" / "editor" / "package.json", editor)
    return tmp_path


def pin(tree: Path, url: str, *, update: bool = False) -> tuple[int, str]:
    said = StringIO()
    return run_pinning(Console(said), tree, (f"docker.io={url}",), update=update), said.getvalue()


def texts(tree: Path) -> dict[str, str]:
    return {str(file): file.read_text() for file in (tree / "docker").rglob("*") if file.is_file()}


def test_every_image_gets_the_digest_of_its_manifest(registry: StandIn, tree: Path) -> None:
    before = {each.reference for each in find_images(tree)}
    status, said = pin(tree, registry.url)
    assert status == 0, said
    pinned = find_images(tree)
    assert {each.reference.partition("@")[0] for each in pinned} == before
    paths = {ImageName.parse(each.reference): each.digest for each in pinned}
    for name, digest in paths.items():
        path = f"/v2/{name.repository}/manifests/{name.tag}"
        assert path in registry.asked
        assert digest == f"sha256:{sha256(registry.manifest(path)).hexdigest()}"
    findings = [finding.id for finding in PinScan(tree, FIXED_VERSIONS_FILE).scan()]
    assert not [name for name in findings if "digest" in name or "version" in name]
    written = texts(tree)
    assert pin(tree, registry.url) == (
        0,
        "".join(f"{each.reference.partition('@')[0]} is pinned.\n" for each in pinned),
    )
    assert texts(tree) == written


@pytest.mark.parametrize("fault", ["false_digest", "captive", "moved"])
def test_what_is_no_manifest_or_another_one_is_not_written(registry: StandIn, tree: Path, fault: str) -> None:
    setattr(registry, fault, True)
    before = texts(tree)
    status, _ = pin(tree, registry.url)
    assert status == 1
    assert texts(tree) == before


def test_nothing_is_written_where_no_registry_answers(registry: StandIn, tree: Path) -> None:
    before = texts(tree)
    status, said = pin(tree, "http://127.0.0.1:9")
    assert status == 1
    assert "does not answer" in said
    assert texts(tree) == before


def test_a_tag_that_names_another_image_by_now_needs_a_word(registry: StandIn, tree: Path) -> None:
    pin(tree, registry.url)
    before = texts(tree)
    registry.build = 2
    status, said = pin(tree, registry.url)
    assert (status, texts(tree)) == (1, before)
    assert "--update" in said
    assert pin(tree, registry.url, update=True)[0] == 0
    assert texts(tree) != before


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("nginx:1.30.2", ("docker.io", "library/nginx", "1.30.2")),
        ("vllm/vllm-openai:v0.32.0", ("docker.io", "vllm/vllm-openai", "v0.32.0")),
        ("ghcr.io/owner/name:1.2@sha256:" + "0" * 64, ("ghcr.io", "owner/name", "1.2")),
        ("localhost:5000/name:1.2", ("localhost:5000", "name", "1.2")),
    ],
)
def test_references_name_registries_as_docker_reads_them(reference: str, name: tuple[str, str, str]) -> None:
    assert ImageName.parse(reference) == name


@pytest.mark.parametrize("mirror", ["docker.io", "=https://mirror.example", "docker.io=file:///etc"])
def test_a_mirror_needs_a_name_and_an_address(tree: Path, mirror: str) -> None:
    with pytest.raises(OperationsError):
        run_pinning(Console(StringIO()), tree, (mirror,))
