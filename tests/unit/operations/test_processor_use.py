"""What the processors computed is counted by program, also for processes that ended meanwhile."""

from pathlib import Path

import pytest

from annotation_app.operations.testing.processor_use import WORKER_START, ProcessorUse, program_name
from annotation_app.operations.testing.timing import ProcessorTimes


def process(proc: Path, pid: int, ticks: int, *command: str, started: int = 7, flags: int = 0) -> Path:
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    numbers = ["S", *["0"] * 5, str(flags), *["0"] * 4, str(ticks - 1), "1", *["0"] * 6, str(started)]
    (folder / "stat").write_text(f"{pid} (a) b) {' '.join(numbers)}")
    (folder / "cmdline").write_text("".join(f"{word}\0" for word in command))
    return folder


def test_what_ended_counts_and_what_was_before_does_not(tmp_path: Path) -> None:
    use = ProcessorUse(tmp_path)
    process(tmp_path, 1, 1_000, "/usr/bin/redis-server")
    with use:
        short = process(tmp_path, 2, 150, "/usr/lib/chromium", "--type=renderer")
        use.sample()
        for file in short.iterdir():
            file.unlink()
        process(tmp_path, 1, 1_100, "/usr/bin/redis-server")
    assert use.by_program() == {"redis-server": 1.0, "chromium renderer": 1.5}


def test_an_id_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    use = ProcessorUse(tmp_path)
    with use:
        process(tmp_path, 3, 200, "one")
        use.sample()
        process(tmp_path, 3, 100, "two", started=8)
    assert use.by_program() == {"one": 2.0, "two": 1.0}


def test_a_copy_of_its_parent_is_named_after_what_it_became(tmp_path: Path) -> None:
    use = ProcessorUse(tmp_path)
    with use:
        process(tmp_path, 4, 10, "parent")
        use.sample()
        process(tmp_path, 4, 100, "child")
    assert use.by_program() == {"child": 1.0}


def test_what_has_no_command_is_a_thread_of_the_kernel_or_has_ended(tmp_path: Path) -> None:
    use = ProcessorUse(tmp_path)
    with use:
        process(tmp_path, 5, 100, flags=0x00200040)
        process(tmp_path, 6, 200)
    assert use.by_program() == {"kernel": 1.0, "a) b": 2.0}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/a/.venv/bin/python3.11", "-u", "-c", WORKER_START], "python pytest worker"),
        (["python", "-m", "daphne", "-b", "::1"], "python -m daphne"),
        (["/usr/bin/python3", "/a/manage.py", "run_flywheel", "main"], "python manage.py run_flywheel"),
        (["node", "--import", "/a/vitest.mjs"], "node vitest.mjs"),
        (["postgres: pilothouse pilothouse [local] idle"], "postgres"),
        (["/usr/bin/Xtigervnc", ":1"], "Xtigervnc"),
    ],
)
def test_programs_are_called_by_what_they_run(command: list[str], name: str) -> None:
    assert program_name(command) == name


def test_stolen_time_is_a_share_of_all() -> None:
    spent = ProcessorTimes(90, 30, 200) - ProcessorTimes(10, 10, 100)
    assert (spent.busy_share, spent.stolen_share) == (0.8, 0.2)
