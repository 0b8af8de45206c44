"""Tasks of our own in OSWorld's form: whole, with solutions, over enough applications."""

import zipfile
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from benchmarks.parts.applications.documents import picture, presentation, text_document, workbook
from benchmarks.parts.applications.measurements import SYSTEM, own_figures
from benchmarks.parts.applications.own_tasks import FILES_FOLDER, write_tasks
from benchmarks.parts.applications.task_list import OWN_TASKS
from protocol.benchmarks.forms import oracle_actions
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE, unsupported_reason
from vm_bridge.osworld_table.attempts import TableRow
from vm_bridge.osworld_table.task_folder import read_task_folder


def test_there_are_enough_of_them_over_enough_applications() -> None:
    assert len({task.id for task in OWN_TASKS}) == len(OWN_TASKS) >= 20
    assert len({task.application for task in OWN_TASKS} - {SYSTEM}) >= 6


def test_each_is_a_task_file_with_a_solution_by_keys_and_the_files_it_brings(tmp_path: Path) -> None:
    found = read_task_folder(write_tasks(tmp_path, OWN_TASKS))
    assert len(found) == len(OWN_TASKS)
    for each in found:
        assert each.task is not None, each
        assert unsupported_reason(APPLICATIONS_IMAGE, each.task) is None
        acts = oracle_actions(each.task)
        assert acts
        assert {act.kind for act in acts} <= {"press_keys", "type_text", "wait"}, "no solution writes the result itself"
    brought = [path for task in OWN_TASKS for path in map(task.stored, task.files)]
    assert {path.name for path in (tmp_path / FILES_FOLDER).iterdir()} == set(brought)
    for task in OWN_TASKS:
        uploads = [step["parameters"]["files"] for step in task.task_file()["config"] if step["type"] == "upload_file"]
        assert [one["local_path"] for files in uploads for one in files] == [task.stored(path) for path in task.files]


def test_documents_are_what_their_programs_read() -> None:
    for data, part in ((workbook([["A", 1]]), "xl/workbook.xml"), (text_document(["<&>"]), "word/document.xml")):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            assert {"[Content_Types].xml", "_rels/.rels", part} <= set(archive.namelist())
            for name in archive.namelist():
                ElementTree.fromstring(archive.read(name))
    ElementTree.fromstring(presentation(["A & B"]))
    assert Image.open(BytesIO(picture(24, 16))).size == (24, 16)


@pytest.mark.parametrize(
    ("noop", "oracle", "share"), [(0.0, 1.0, (1.0, 0)), (1.0, None, (0.5, 0.5)), (None, None, (0.5, 0.5))]
)
def test_shares_count_what_was_not_judged_against_us(
    noop: float | None, oracle: float | None, share: tuple[float, float]
) -> None:
    good = TableRow(id="a", applications=("gimp",), outcome="holds", noop=0, oracle=1)
    other = TableRow(
        id="b", applications=("os",), outcome="holds" if oracle else "set_up_failed", noop=noop, oracle=oracle
    )
    figures = own_figures([good, other])
    assert (figures["osworld_own_oracle_share"], figures["osworld_own_noop_share"]) == share
    assert figures["osworld_applications"] == 1
