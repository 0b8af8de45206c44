"""Files of tasks: what is read, and what is said of every bad row."""

import io
import json
import zipfile
from hashlib import sha256

import pytest

from annotation_app.pools.task_files import MAX_FAULTS, UploadFormat, task_file_read
from benchmarks.parts.tasks.bad_folders import BAD_ARCHIVES, GOOD, archive
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.site_tasks import LiveSite, find_site_task
from protocol.trajectory.sealing import encrypt
from tests.unit.protocol.benchmarks.test_repositories import ROW


def rows(data: bytes, kind: UploadFormat = "csv") -> dict[int, str]:
    """What is wrong, by row."""
    return {fault.row: fault.reason for fault in task_file_read(data, kind, "desktop").faults}


class TestCommaSeparated:
    def test_a_task_is_a_row_and_only_its_instruction_is_needed(self) -> None:
        heading = "instruction,id,max_steps,parameters,network"
        data = f'{heading}\n"Say ""hi"",\nthen stop",one,7,"{{""a"": 1}}",a.org b.org\nDo,,,,\n'
        first, second = task_file_read(data.encode("utf-8-sig"), "csv", "browser").tasks
        assert (first.id, first.instruction, first.max_steps) == ("one", 'Say "hi",\nthen stop', 7)
        assert first.parameters == {"a": 1}
        assert first.network == ("a.org", "b.org")
        assert first.platform == "browser"
        assert second.id.startswith("upload-"), "an instruction names itself"

    @pytest.mark.parametrize(
        ("data", "row", "reason"),
        [
            (b"id,name\na,b\n", 1, "no column instruction"),
            (b"instruction,color\nDo,red\n", 1, "unknown column 'color'"),
            (b"instruction,instruction\nDo,it\n", 1, "named twice"),
            (b"instruction,id\nDo,a\nDo more,a\n", 3, "in row 2 already"),
            (b"instruction,id\nDo,a,b\n", 2, "3 cells where the heading has 2"),
            (b"instruction,,id\nDo,what,a\n", 2, "cell 2"),
            (b"instruction,seed\nOpen,1_0\n", 2, "seed: it is no whole number"),
            (b"instruction,seed\nOpen,1.5\n", 2, "seed: it is no whole number"),
            ("instruction,seed\nOpen,١\n".encode(), 2, "seed: it is no whole number"),
            (b"instruction,seed\nOpen,1\nOpen,1.0\n", 3, "the same task as row 2"),
            (b"title;note\nOpen;1\n", 1, "semicolons"),
            ("instruction,seed\nOpen,1\n".encode("utf-16"), 1, "UTF-16"),
            ("指令,seed\n打开,1\n".encode("gbk"), 1, "not UTF-8"),
            (b"PK\x03\x04", 1, "XLSX"),
            (b"instruction,max_steps\nDo,many\n", 2, "no whole number"),
            (b"instruction,max_steps\nDo,0\n", 2, "max_steps"),
            (b"instruction,parameters\nDo,[1]\n", 2, "parameters"),
            (b'instruction\nfine\n"open\n', 3, "unexpected end"),
            (b"instruction\nfine\n\xff\xfe\n", 3, "UTF-8"),
            (b"instruction\nDo\x00it\n", 2, "NUL"),
            (b"instruction,id\n ,a\n", 2, "instruction"),
            (b"instruction,network\nDo,http://a.org\n", 2, "network"),
            (b"", 1, "no task"),
        ],
    )
    def test_a_bad_row_is_named_with_its_reason(self, data: bytes, row: int, reason: str) -> None:
        found = rows(data)
        assert reason in found[row], found

    def test_faults_are_told_up_to_a_bound(self) -> None:
        data = "instruction,seed\n" + "Do,x\n" * (MAX_FAULTS + 50)
        assert len(rows(data.encode())) == MAX_FAULTS

    @pytest.mark.parametrize(
        "data",
        [
            "instruction,seed\nOpen the menu,1\n",
            "instruction;seed\nOpen the menu;1\n",
            "instruction\tseed\nOpen the menu\t1\n",
            "instruction|seed\nOpen the menu|1\n",
            'name;"instruction";seed\n;Open the menu;1\n',
            "\ufeffinstruction,seed\nOpen the menu,1\n",
            '\ufeff\ufeff"instruction",seed\nOpen the menu,1\n',
            "instruction,seed,,\nOpen the menu,1,,\n",
            "instruction,seed\nOpen the menu,1,,,\n",
            "instruction,seed,name,suite\nOpen the menu,1\n",
            "instruction,seed\nOpen the menu,1.0\n",
            "instruction,seed\nOpen the menu, 1. \n",
            "\ninstruction,seed\nOpen the menu,1\n",
            "\r\n , \r\ninstruction,seed\r\nOpen the menu,1\r\n",
            "instruction,seed\rOpen the menu,1\r",
            "instruction,seed\nOpen the menu,1\n\x1a",
            "sep=,\ninstruction,seed\nOpen the menu,1\n",
            'sep=;\r\n"instruction";"seed"\r\n"Open the menu";"1"\r\n',
            "\ufeffsep=#\ninstruction#seed\nOpen the menu#1\n",
        ],
    )
    def test_tables_are_read_as_programs_write_them(self, data: str) -> None:
        upload = task_file_read(data.encode(), "csv", "desktop")
        assert upload.faults == ()
        assert [(task.instruction, task.seed) for task in upload.tasks] == [("Open the menu", 1)]

    def test_rows_are_counted_from_the_file_s_first_line(self) -> None:
        assert list(rows(b'\n\nsep=;\ninstruction;seed\n"Open\nit";1\n\nOpen;x\n')) == [8]

    def test_a_written_nul_is_none_and_lines_may_be_quoted(self) -> None:
        data = b'instruction,seed\nReplace \\u0000 by a space,1\n"Open\nthe menu",2\n"two \\\\u0000",3\n'
        upload = task_file_read(data, "csv", "desktop")
        assert upload.faults == ()
        assert [task.instruction for task in upload.tasks] == [
            "Replace \\u0000 by a space",
            "Open\nthe menu",
            "two \\\\u0000",
        ]

    def test_the_same_instruction_with_another_start_is_another_task(self) -> None:
        heading = b"instruction,suite,name,seed,parameters\n"
        data = heading + b'Open,s,a,1,\nOpen,s,b,2,\nOpen,s,b,3,\nOpen,,,,"{""a"":1}"\nOpen,,,,\n'
        upload = task_file_read(data, "csv", "desktop")
        assert upload.faults == ()
        ids = [task.id for task in upload.tasks]
        assert len(set(ids)) == 5
        assert ids == [task.id for task in task_file_read(data, "csv", "desktop").tasks], "so a file can be sent again"
        assert ids[4] == f"upload-{sha256(b'Open').hexdigest()[:16]}", "as earlier releases named it"


def workbook(rows: str, *, shared: str = "", sheet: str = "worksheets/sheet1.xml") -> bytes:
    """A workbook with these rows in its first sheet."""
    name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    linked = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{name}" xmlns:r="{linked}"><sheets>'
        '<sheet name="A" sheetId="1" r:id="rId7"/>'
        '<sheet name="B" sheetId="2" r:id="rId8"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships><Relationship Id="rId7" Target="{sheet}"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{name}"><sheetData>{rows}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{name}">{shared}</sst>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        for part, text in parts.items():
            book.writestr(part, text)
    return file.getvalue()


HEADING = '<row r="1"><c t="inlineStr"><is><t>Instruction</t></is></c><c t="inlineStr"><is><t>seed</t></is></c></row>'


class TestWorkbooks:
    @pytest.mark.parametrize("sheet", ["worksheets/sheet1.xml", "/xl/worksheets/sheet1.xml"])
    def test_the_first_sheet_is_a_table(self, sheet: str) -> None:
        runs = "<r><t>Open </t></r><r><rPr/><t>the_x000A_menu</t></r><rPh><t>x</t></rPh>"
        shared = f"<si><t>instruction</t></si><si>{runs}</si>"
        rows = (
            '<row r="2"><c r="B2" t="s"><v>0</v></c><c r="D2" t="str"><f>"se"</f><v>seed</v></c></row>'
            '<row r="3"/><row r="5"><c r="B5" t="s"><v>1</v></c><c r="D5"><v>7</v></c><c r="F5" t="s"/></row>'
            '<row><c r="B6" t="s"><v>1</v></c><c r="D6"><v>7.0</v></c></row>'
        )
        upload = task_file_read(workbook(rows, shared=shared, sheet=sheet), "xlsx", "desktop")
        assert [(task.instruction, task.seed) for task in upload.tasks] == [("Open the\nmenu", 7)]
        assert [(fault.row, "row 5" in fault.reason) for fault in upload.faults] == [(6, True)]

    @pytest.mark.parametrize(
        ("data", "row", "reason"),
        [
            (b"instruction,seed\nOpen,1\n", 1, "no XLSX workbook"),
            (b"", 1, "no XLSX workbook"),
            (workbook(HEADING)[:-30], 1, "no XLSX workbook"),
            (workbook(HEADING, sheet="worksheets/sheet9.xml"), 1, "sheet9"),
            (workbook(HEADING + '<row r="2"><c t="s"><v>5</v></c></row>'), 1, "damaged"),
            (workbook(HEADING + '<row r="2"><c r="ZZZ2"><v>5</v></c></row>'), 1, "ZZZ2"),
            (workbook(HEADING + '<row r="2"><c t="e"><v>#REF!</v></c></row>'), 2, "#REF!"),
            (workbook(HEADING + '<row r="2"><c t="str"><v>a_xD83D_</v></c></row>'), 2, "half a character"),
            (workbook(HEADING + '<row r="2"><c t="str"><v>a_x0000_</v></c></row>'), 2, "NUL"),
            (workbook(HEADING + '<row r="2"><c t="str"><v>Do</v></c><c><v>1.5</v></c></row>'), 2, "seed"),
            (workbook("<row>"), 1, "no XLSX workbook"),
            (workbook(""), 1, "no task"),
        ],
    )
    def test_what_is_wrong_is_named_with_its_row(self, data: bytes, row: int, reason: str) -> None:
        found = rows(data, "xlsx")
        assert reason in found[row], found


class TestJsonLines:
    def test_a_line_is_a_task_of_the_vocabulary(self) -> None:
        data = b'{"id": "a", "instruction": "Do", "suite": "fake", "seed": 3}\n\n{"id": "b", "instruction": "Do"}\n'
        assert [(task.id, task.seed) for task in task_file_read(data, "jsonl", "desktop").tasks] == [("a", 3), ("b", 0)]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b"nonsense", "no JSON"),
            (b"[1]", "no JSON object"),
            (b'{"id": "a"}', "instruction"),
            (b'{"id": "a", "instruction": "Do", "colour": 1}', "colour"),
            (b'{"id": "a", "instruction": "Do", "platform": "phone"}', "platform"),
            (b'{"id": "a", "instruction": "\\ud800"}', "half a character"),
            (b'{"id": "a", "instruction": "\\u0000"}', "NUL"),
            (b'{"id": "", "instruction": "Do"}', "id"),
            (b'{"id": "a", "instruction": "\xff"}', "UTF-8"),
            (b"[" * 100_000, "no JSON"),
            (b'{"instruction": "a", "parameters": {"x": NaN}}', "parameters.x: a number must be finite: NaN"),
            (b'{"instruction": "a", "parameters": {"x": [1e999]}}', "parameters.x.0"),
            (b'{"instruction": "a\x0bb"}', "column 19"),
        ],
    )
    def test_a_bad_line_is_named_with_its_reason(self, line: bytes, reason: str) -> None:
        found = rows(b'{"id": "x", "instruction": "Do"}\n' + line + b"\n", "jsonl")
        assert list(found) == [2]
        assert reason in found[2], found

    @pytest.mark.parametrize(
        "data",
        [
            b'[{"instruction":"a"},{"instruction":"b"}]\n',
            b'\xef\xbb\xbf\n [\n{"instruction": "a"},\n {"instruction": "b"}\n]',
            b'\xef\xbb\xbf{"instruction": "a"}\r\n\r\n{"instruction": "b", "seed": 0.0}\r\n',
        ],
    )
    def test_a_list_of_tasks_is_read_too(self, data: bytes) -> None:
        upload = task_file_read(data, "jsonl", "desktop")
        assert upload.faults == ()
        assert [task.instruction for task in upload.tasks] == ["a", "b"]

    def test_one_task_may_take_several_lines_and_a_line_separator_ends_none(self) -> None:
        (task,) = task_file_read('{\n "instruction": "a\u2028b"\n}\n'.encode(), "jsonl", "desktop").tasks
        assert task.instruction == "a\u2028b"
        assert len(task_file_read('{"instruction": "a\u2028b"}\n'.encode(), "jsonl", "desktop").tasks) == 1

    @pytest.mark.parametrize(
        ("data", "row", "reason"),
        [
            (b'[{"instruction": "a"}, 3]', 2, "no JSON object"),
            (b'[\n{"instruction": "a"},\n{"instruction": }\n]', 3, "no JSON"),
            (b'[1]\n{"instruction": "a"}', 1, "no JSON object"),
            (b'{"tasks": [1]}', 1, "tasks"),
        ],
    )
    def test_what_is_wrong_in_it_is_named_with_its_place(self, data: bytes, row: int, reason: str) -> None:
        found = rows(data, "jsonl")
        assert reason in found[row], found


class TestOsworld:
    def test_numbers_that_are_none_are_refused(self) -> None:
        for number in ("NaN", "1e999"):
            found = rows(f'{{"id": "x", "instruction": "a", "evaluator": {{"a": {number}}}}}'.encode(), "osworld")
            assert "parameters.osworld.evaluator.a" in found[1]

    def test_a_task_file_keeps_its_start_state_and_evaluator(self) -> None:
        given = {"id": "b21", "instruction": "Do", "snapshot": "chrome", "config": [], "evaluator": {"func": "exact"}}
        (task,) = task_file_read(json.dumps(given).encode(), "osworld", "desktop").tasks
        assert task.id == "b21"
        assert task.parameters["osworld"] == {"snapshot": "chrome", "config": [], "evaluator": {"func": "exact"}}

    def test_a_list_of_files_is_read_and_what_is_none_is_named(self) -> None:
        given = [{"id": "a", "instruction": "Do", "evaluator": {}}, {"id": "b", "instruction": "Do"}, 3]
        found = rows(json.dumps(given).encode(), "osworld")
        assert "evaluator" in found[2]
        assert "no JSON object" in found[3]


class TestHarbor:
    def test_an_archive_of_folders_is_a_task_a_folder(self) -> None:
        second = {**GOOD, "task.toml": b'[task]\nname = "lab/two"\n'}
        data = archive(
            {f"{name}/{path}": text for name, files in (("a", GOOD), ("b", second)) for path, text in files.items()}
        )
        found = task_file_read(data, "harbor", "terminal")
        assert not found.faults
        assert [task.id for task in found.tasks] == ["harbor/lab/sum", "harbor/lab/two"]
        assert all("harbor" in task.parameters for task in found.tasks)

    def test_a_folder_for_another_machine_or_with_a_fault_is_told_with_its_row(self) -> None:
        assert rows(archive(GOOD), "harbor") == {1: "platform: this pool's is desktop"}
        data = archive({**{f"a/{path}": text for path, text in GOOD.items()}, "b/task.toml": b""})
        found = task_file_read(data, "harbor", "terminal")
        assert [(fault.row, fault.reason[:18]) for fault in found.faults] == [(2, "b: harbor_missing:")]

    def test_a_pool_of_containers_takes_any_dockerfile(self) -> None:
        data = archive({**GOOD, "environment/Dockerfile": b"FROM debian:12\nUSER nobody\n"})
        assert "harbor_unsupported" in task_file_read(data, "harbor", "terminal").faults[0].reason
        (task,) = task_file_read(data, "harbor", "terminal", CONTAINER_IMAGE).tasks
        assert task.platform == "terminal"

    @pytest.mark.parametrize("name", BAD_ARCHIVES)
    def test_a_bad_archive_is_refused(self, name: str) -> None:
        code, data = BAD_ARCHIVES[name]
        (reason,) = rows(data, "harbor").values()
        assert code in reason


class TestPublishedBenchmarks:
    def test_rows_of_web_tasks_and_repositories_are_tasks(self) -> None:
        web = {"task_id": "lamp", "confirmed_task": "Turn it on.", "website": "https://shop.example/"}
        found = task_file_read(json.dumps([web]).encode(), "jsonl", "browser")
        assert [task.id for task in found.tasks] == ["online-mind2web/lamp"]
        site = find_site_task(found.tasks[0])
        assert site is not None
        assert site.site == LiveSite(url="https://shop.example/")
        assert "this pool's is desktop" in rows(json.dumps([web]).encode(), "jsonl")[1]
        in_containers = task_file_read(json.dumps(ROW).encode(), "jsonl", "terminal", CONTAINER_IMAGE)
        assert [task.id for task in in_containers.tasks] == ["swe-bench/django__django-1"]
        assert "docker_image" in rows(json.dumps(ROW).encode(), "jsonl")[1]

    def test_sealed_questions_and_bad_rows_are_told(self) -> None:
        sealed = {"problem": encrypt("Who?", "own"), "answer": encrypt("Nobody", "own"), "canary": "own"}
        bad = {"task_id": "../x", "confirmed_task": "Do.", "website": "a.example"}
        lines = f"{json.dumps(sealed)}\n{json.dumps(bad)}\n"
        found = rows(lines.encode(), "jsonl")
        assert "sealed" in found[1]
        assert "task_id" in found[2]
