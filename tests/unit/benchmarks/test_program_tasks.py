"""Task programs of our own: read as what they are, over several applications."""

from pathlib import Path

from agent_backend.rollout.task_sources import read_tasks
from benchmarks.parts.applications.program_tasks import PROGRAM_TASKS, write_programs
from protocol.benchmarks.forms import oracle_actions, oracle_source
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE, parse_task_file, unsupported_reason
from vm_bridge.osworld_table.task_folder import read_task_folder


def test_each_is_a_program_with_a_solution_over_an_application_of_its_own(tmp_path: Path) -> None:
    found = read_task_folder(write_programs(tmp_path))
    assert len(found) == len(PROGRAM_TASKS) == len({each.applications for each in found}) == 4
    for each in found:
        assert each.task is not None, each
        assert unsupported_reason(APPLICATIONS_IMAGE, each.task) is None
        assert oracle_actions(each.task)
        file = parse_task_file(each.task)
        assert file is not None
        assert file.program is not None
        assert not file.program.needs


def test_rollouts_read_the_same_tasks_from_the_folder(tmp_path: Path) -> None:
    folder = write_programs(tmp_path)
    (folder / "helper.py").write_text("X = 1\n")
    tasks = read_tasks(folder)
    assert {task.id for task in tasks} == {task.id for task in PROGRAM_TASKS}
    assert {oracle_source(task) for task in tasks} == {"own"}
