"""Task folders: what is read of them, and the code with which each bad one is refused."""

from pathlib import Path

import pytest

from benchmarks.parts.tasks.bad_folders import (
    BAD_ARCHIVES,
    BAD_DISKS,
    BAD_FILES,
    GOOD,
    archive,
    changed,
    refusal_of_archive,
    refusal_of_disk,
    refusal_of_files,
)
from protocol.base import JsonObject
from protocol.harbor.dockerfile import Copy, Run, parse_dockerfile
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import harbor_task, parse_folder, read_task_archive, read_task_folders
from protocol.trajectory.tasks import Task


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_folder_with_a_fault_is_refused(name: str) -> None:
    code, changes = BAD_FILES[name]
    assert refusal_of_files(changes) == code


@pytest.mark.parametrize("name", BAD_DISKS)
def test_a_folder_on_the_disk_with_a_fault_is_refused(name: str, tmp_path: Path) -> None:
    code, make = BAD_DISKS[name]
    assert refusal_of_disk(make, tmp_path) == code


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_an_archive_with_a_fault_is_refused(name: str) -> None:
    code, data = BAD_ARCHIVES[name]
    assert refusal_of_archive(data) == code


def test_a_folder_is_a_task_with_its_files() -> None:
    config = (
        b'schema_version = "1.4"\n[task]\nname = "lab/sum"\n[verifier]\ntimeout_sec = 5000\nenv = {A = "b c"}\n'
        b'[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["example.org"]\n[metadata]\nmax_steps = 12\n'
    )
    task = parse_folder({**GOOD, "task.toml": config, "tests/picture.bin": b"\0\xff"})
    assert (task.id, task.platform, task.instruction) == ("harbor/lab/sum", "terminal", "Write 3 into out.txt.")
    assert (task.network, task.max_steps) == (("example.org",), 12)
    read_again = harbor_task(Task.model_validate_json(task.model_dump_json()))
    assert read_again is not None
    assert read_again.folder("tests") == {"test.sh": GOOD["tests/test.sh"], "picture.bin": b"\0\xff"}
    assert read_again.folder("solution") == {"solve.sh": GOOD["solution/solve.sh"]}
    assert (read_again.verifier_env, read_again.verifier_seconds) == ({"A": "b c"}, 600.0), "no longer than our bound"
    assert read_again.build_plan().workdir == "/app"


def test_a_dockerfile_is_read_as_docker_reads_it() -> None:
    text = (
        "# escape is no word of a comment\nFROM registry.example.org/pilothouse-desktop:2 \nWORKDIR /app\nWORKDIR src\n"
        'ENV A=1 B="two words"\nENV C three words\nCOPY data ./in/\nCOPY a.txt b.txt ./\nCOPY ["a.txt", "/tmp/x"]\n'
        'RUN one && \\\n  # in between\n  two\nRUN ["ls", "-l"]\nWORKDIR ${HOME}/$A\n'
    )
    plan = parse_dockerfile(text, frozenset({"data/x/y.txt", "a.txt", "b.txt"}))
    assert (plan.platform, plan.workdir) == ("desktop", "/home/user/1")
    assert plan.env == {"A": "1", "B": "two words", "C": "three words"}
    copies = [step.files for step in plan.steps if isinstance(step, Copy)]
    assert copies == [
        {"data/x/y.txt": "/app/src/in/x/y.txt"},
        {"a.txt": "/app/src/a.txt", "b.txt": "/app/src/b.txt"},
        {"a.txt": "/tmp/x"},
    ]
    runs = [step for step in plan.steps if isinstance(step, Run)]
    assert [run.argv[-1].split() for run in runs] == [["one", "&&", "two"], ["-l"]]
    assert runs[0].workdir == "/app/src"


def test_parameters_that_a_person_wrote_are_checked_too() -> None:
    task = parse_folder(GOOD)
    harbor = task.parameters["harbor"]
    assert isinstance(harbor, dict)
    alterations: tuple[JsonObject, ...] = (
        {"files": {}},
        {"files": {"../x": ""}},
        {"binary": ["tests/test.sh"]},
        {"workdir": 3},
    )
    for changes in alterations:
        altered = task.model_copy(update={"parameters": {"harbor": {**harbor, **changes}}})
        with pytest.raises(FolderError):
            harbor_task(altered)
    assert harbor_task(Task(id="a", instruction="b")) is None


def test_many_folders_are_read_from_a_disk_and_from_an_archive(tmp_path: Path) -> None:
    for number in range(3):
        for name, data in changed({"task.toml": f'[task]\nname = "lab/t{number}"\n'.encode()}).items():
            path = tmp_path / f"t{number}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    files = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = ["harbor/lab/t0", "harbor/lab/t1", "harbor/lab/t2"]
    assert [task.id for task in read_task_folders(tmp_path)] == names
    found = dict(read_task_archive(archive({**files, "t3/task.toml": b"", "readme.md": b""})))
    assert [task.id for task in found.values() if isinstance(task, Task)] == names
    assert isinstance(found["t3"], FolderError), "one bad folder does not hide the others"
