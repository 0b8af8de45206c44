"""Files of tasks: what is read, and what is said of every bad row."""

import json

import pytest

from annotation_app.pools.uploads import MOST_FAULTS, UploadFormat, upload_read


def rows(data: bytes, kind: UploadFormat = "csv") -> dict[int, str]:
    """What is wrong, by row."""
    return {fault.row: fault.reason for fault in upload_read(data, kind, "desktop").faults}


class TestCommaSeparated:
    def test_a_task_is_a_row_and_only_its_instruction_is_needed(self) -> None:
        heading = "instruction,id,max_steps,parameters,network"
        data = f'{heading}\n"Say ""hi"",\nthen stop",one,7,"{{""a"": 1}}",a.org b.org\nDo,,,,\n'
        first, second = upload_read(data.encode("utf-8-sig"), "csv", "browser").tasks
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
            (b"instruction,id\nDo\n", 2, "1 cells where the heading has 2"),
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
        data = "instruction,seed\n" + "Do,x\n" * (MOST_FAULTS + 50)
        assert len(rows(data.encode())) == MOST_FAULTS


class TestJsonLines:
    def test_a_line_is_a_task_of_the_vocabulary(self) -> None:
        data = b'{"id": "a", "instruction": "Do", "suite": "fake", "seed": 3}\n\n{"id": "b", "instruction": "Do"}\n'
        assert [(task.id, task.seed) for task in upload_read(data, "jsonl", "desktop").tasks] == [("a", 3), ("b", 0)]

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
        ],
    )
    def test_a_bad_line_is_named_with_its_reason(self, line: bytes, reason: str) -> None:
        found = rows(b'{"id": "x", "instruction": "Do"}\n' + line + b"\n", "jsonl")
        assert list(found) == [2]
        assert reason in found[2], found


class TestOsworld:
    def test_a_task_file_keeps_its_start_state_and_evaluator(self) -> None:
        given = {"id": "b21", "instruction": "Do", "snapshot": "chrome", "config": [], "evaluator": {"func": "exact"}}
        (task,) = upload_read(json.dumps(given).encode(), "osworld", "desktop").tasks
        assert task.id == "b21"
        assert task.parameters["osworld"] == {"snapshot": "chrome", "config": [], "evaluator": {"func": "exact"}}

    def test_a_list_of_files_is_read_and_what_is_none_is_named(self) -> None:
        given = [{"id": "a", "instruction": "Do", "evaluator": {}}, {"id": "b", "instruction": "Do"}, 3]
        found = rows(json.dumps(given).encode(), "osworld")
        assert "evaluator" in found[2]
        assert "no JSON object" in found[3]
