"""Folders whose environment a container engine makes: what is read beside the rest, and what is refused."""

from pathlib import Path

import pytest

from benchmarks.parts.tasks.bad_folders import GOOD, archive
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import harbor_task, parse_folder, read_task_archive, read_task_folders
from protocol.trajectory.tasks import Task

FOREIGN = {**GOOD, "environment/Dockerfile": b"FROM alpine:3.20\nUSER nobody\nRUN <<EOF\nls\nEOF\n"}
IMAGE = b'[environment]\ndocker_image = "registry.example.org/lab/sum:2"\n'


def test_any_dockerfile_is_kept_as_it_is_for_an_engine() -> None:
    config = b'[environment]\nnetwork_mode = "public"\ncpus = 2\nmemory_mb = 512\n'
    executable = {"environment/run", "tests/test.sh", "README.md"}
    task = parse_folder({**FOREIGN, "task.toml": config}, executable=executable, containers=True)
    assert (task.platform, task.network) == ("terminal", ())
    harbor = harbor_task(Task.model_validate_json(task.model_dump_json()))
    assert harbor is not None
    assert harbor.container is not None
    assert harbor.folder("environment")["Dockerfile"] == FOREIGN["environment/Dockerfile"]
    wanted = harbor.container
    assert (wanted.network, wanted.cpus, wanted.memory_mb) == (True, 2, 512)
    assert wanted.executable == ("environment/run", "tests/test.sh")
    with pytest.raises(FolderError, match="task-container"):
        harbor.build_plan()


def test_a_manifest_as_terminal_bench_publishes_it_is_read() -> None:
    config = """
schema_version = "1.1"
artifacts = []
[task]
name = "own/sum"
description = "Adds."
keywords = ["own"]
[[task.authors]]
name = "A"
email = "a@example.test"
[metadata]
difficulty = "easy"
tags = []
[verifier]
timeout_sec = 900.0
[agent]
timeout_sec = 900.0
[environment]
build_timeout_sec = 600.0
docker_image = "lab/sum:20251031"
cpus = 1
memory_mb = 2048
storage_mb = 10240
gpus = 0
allow_internet = true
mcp_servers = []
[verifier.env]
[environment.env]
[solution.env]
"""
    task = parse_folder({**GOOD, "task.toml": config.encode()}, containers=True)
    harbor = harbor_task(task)
    assert harbor is not None
    assert harbor.container is not None
    assert (harbor.container.network, harbor.container.memory_mb, harbor.verifier_seconds) == (True, 2048, 600)


@pytest.mark.parametrize(
    ("setting", "network", "memory"),
    [
        ('memory = "2G"\nstorage = "10G"', False, 2048),
        ('memory = "512M"\nallow_internet = false', False, 512),
        ('memory = "1.5 GiB"\nallow_internet = true', True, 1536),
        ('allow_internet = true\nnetwork_mode = "no-network"', False, None),
    ],
)
def test_settings_under_earlier_names_mean_the_same(setting: str, network: bool, memory: int | None) -> None:
    config = f'version = "1.0"\n[environment]\n{setting}\n'.encode()
    harbor = harbor_task(parse_folder({**FOREIGN, "task.toml": config}, containers=True))
    assert harbor is not None
    assert harbor.container is not None
    assert (harbor.container.network, harbor.container.memory_mb) == (network, memory)


def test_a_ready_made_image_needs_no_dockerfile() -> None:
    files = {name: data for name, data in {**GOOD, "task.toml": IMAGE}.items() if not name.startswith("environment/")}
    harbor = harbor_task(parse_folder(files, containers=True))
    assert harbor is not None
    assert harbor.container is not None
    assert (harbor.container.docker_image, harbor.container.network) == ("registry.example.org/lab/sum:2", False)
    with pytest.raises(FolderError) as refused:
        parse_folder(files)
    assert refused.value.code == "harbor_unsupported"


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("harbor_missing", {"environment/Dockerfile": None}),
        ("harbor_unsupported", {"environment/docker-compose.yaml": b"services: {}\n"}),
        ("harbor_unsupported", {"environment/.dockerignore": b"*\n"}),
        ("harbor_unsupported", {"task.toml": b'[environment]\nnetwork_mode = "allowlist"\n'}),
        ("harbor_unsupported", {"task.toml": b'[environment]\nnetwork_mode = ["public"]\n'}),
        ("harbor_unsupported", {"task.toml": b'[agent]\nnetwork_mode = "public"\n'}),
        ("harbor_unsupported", {"task.toml": b"[environment]\nhealthcheck = 1\n"}),
        ("harbor_unsupported", {"task.toml": b'[agent]\nuser = "root"\n'}),
        ("harbor_invalid", {"task.toml": b'[environment]\ndocker_image = "a\\nRUN b"\n'}),
        ("harbor_invalid", {"task.toml": b'[environment]\ndocker_image = "--flag"\n'}),
        ("harbor_invalid", {"task.toml": b"[environment]\ncpus = 0\n"}),
        ("harbor_invalid", {"task.toml": b"[environment]\nmemory_mb = 1\n"}),
        ("harbor_invalid", {"task.toml": b'[environment]\nmemory = "lots"\n'}),
        ("harbor_unsupported", {"task.toml": b'[environment]\nmcp_servers = [{name = "a"}]\n'}),
        ("harbor_unsupported", {"task.toml": b'artifacts = "x"\n'}),
    ],
)
def test_what_no_engine_here_does_is_refused_by_name(code: str, changes: dict[str, bytes | None]) -> None:
    files = {name: data for name, data in {**FOREIGN, **changes}.items() if data is not None}
    with pytest.raises(FolderError) as refused:
        parse_folder(files, containers=True)
    assert refused.value.code == code


def test_execute_bits_come_with_a_folder_and_with_an_archive(tmp_path: Path) -> None:
    for name, data in FOREIGN.items():
        (tmp_path / "one" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / name).write_bytes(data)
    (tmp_path / "one" / "tests" / "test.sh").chmod(0o755)
    (task,) = read_task_folders(tmp_path, containers=True)
    harbor = harbor_task(task)
    assert harbor is not None
    assert harbor.container is not None
    assert harbor.container.executable == ("tests/test.sh",)
    ((_, found),) = read_task_archive(archive({f"one/{name}": data for name, data in FOREIGN.items()}), containers=True)
    assert isinstance(found, Task)
    ((_, refused),) = read_task_archive(archive({f"one/{name}": data for name, data in FOREIGN.items()}))
    assert isinstance(refused, FolderError), "machines of ours build no such image"
