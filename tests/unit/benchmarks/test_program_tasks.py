"""Task programs of our own: read as what they are, over several applications."""

from pathlib import Path

from benchmarks.parts.applications.program_tasks import PROGRAM_TASKS, write_programs
from protocol.benchmarks.forms import oracle_actions
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
