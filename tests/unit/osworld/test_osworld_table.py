"""The table of task files: what is read of a folder, how each stands, and how it is written."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from protocol.actions.types import TypeText
from protocol.benchmarks.forms import oracle_actions
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.errors import ApplicationMissing, MachineGone, NoMachine, UnsupportedTask, VerifierFailed
from vm_bridge.osworld_table import __main__ as program
from vm_bridge.osworld_table.attempts import TableRow, try_tasks
from vm_bridge.osworld_table.report import table_json, table_markdown, write_table
from vm_bridge.osworld_table.task_folder import FoundTask, read_task_folder
from vm_bridge.sandbox import Host

EVALUATOR = {
    "func": "exact_match",
    "result": {"type": "vm_command_line", "command": ["cat", "x"]},
    "expected": {"type": "rule", "rules": {"expected": "1"}},
}
SEVEN = "class Seven:\n    id = 'seven'\n    instruction = 'Do.'\n    def evaluate(self, env): return 1\n"
ACT = {"kind": "type_text", "text": "1"}


def task_file(name: str, **given: Any) -> dict[str, Any]:
    return {"id": name, "instruction": "Do.", "related_apps": ["os"], "evaluator": EVALUATOR, **given}


def write(folder: Path, files: dict[str, Any]) -> Path:
    for path, value in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def test_a_folder_is_read_with_its_solutions_and_says_what_is_no_task_file(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        {
            "os/one.json": task_file("one"),
            "oracles/one.jsonl": json.dumps(ACT),
            "two.json": task_file("two"),
            "test_all.json": {"os": ["one"]},
            "three.json": {"id": "three", "instruction": "Do."},
            "four.json": "{",
            "five.json": task_file("five"),
            "oracles/five.jsonl": '{"kind": "fly"}',
            "six.py": "class Six:\n    id = 'six'\n    instruction = words()\n    def evaluate(self, env): return 1\n",
            "seven.py": SEVEN,
            "oracles/seven.jsonl": json.dumps(ACT),
            "helper.py": "X = 1\n",
            "files/data.json": {"id": "data", "instruction": "x"},
        },
    )
    found = {each.name: each for each in read_task_folder(folder)}
    assert found.keys() == {"one", "two", "three", "four", "five", "six", "seven"}
    assert found["one"].task is not None
    assert oracle_actions(found["one"].task) == (TypeText(text="1"),)
    assert found["two"].task is not None
    assert "oracle" not in found["two"].task.parameters
    assert found["three"].problem == "form_unsupported: it has no evaluator object"
    assert found["six"].problem.startswith("form_unsupported: its instruction is computed")
    assert found["seven"].task is not None
    assert oracle_actions(found["seven"].task) == (TypeText(text="1"),)
    assert "no JSON" in found["four"].problem
    assert "recorded solution" in found["five"].problem


class ScriptedMachine:
    """Gives the scores it was made with, in order; an error in their place is raised."""

    def __init__(self, scores: Sequence[float | Exception], refusal: Exception | None, act_error: str) -> None:
        self.scores, self.refusal, self.act_error = list(scores), refusal, act_error
        self.answers: list[str] = []
        self.prepared = 0

    async def prepare(self, task: Task) -> None:
        self.prepared += 1
        if self.refusal is not None:
            raise self.refusal

    async def evaluate(self, *, answer: str = "") -> Verdict:
        self.answers.append(answer)
        score = self.scores.pop(0)
        if isinstance(score, Exception):
            raise score
        return Verdict(success=score == 1, score=score)

    async def perform(self, command_id: str, action: Any) -> Any:
        return SimpleNamespace(error=SimpleNamespace(code=self.act_error) if self.act_error else None)


class ScriptedHost:
    """One machine, and how many sandboxes were asked for and given back."""

    def __init__(self, machine: ScriptedMachine) -> None:
        self.machine, self.created, self.destroyed = machine, 0, 0

    async def create(self, image: str) -> Any:
        self.created += 1

        async def destroy() -> None:
            self.destroyed += 1

        return SimpleNamespace(bind=lambda token: self.machine, destroy=destroy)


def found(name: str, *, acts: Sequence[Any] = (ACT,), **evaluator: Any) -> FoundTask:
    parameters: dict[str, Any] = {"osworld": {"evaluator": {**EVALUATOR, **evaluator}}}
    if acts:
        parameters["oracle"] = list(acts)
    return FoundTask(name, ("os",), Task(id=name, instruction="Do.", parameters=parameters))


async def row_of(
    task: FoundTask, *scores: float | Exception, refusal: Exception | None = None, act_error: str = ""
) -> tuple[TableRow, ScriptedHost]:
    host = ScriptedHost(ScriptedMachine(scores, refusal, act_error))
    told: list[TableRow] = []
    (row,) = await try_tasks(cast(Host, host), [task], told.append)
    assert told == [row]
    assert host.created == host.destroyed
    return row, host


async def test_a_task_holds_where_nothing_scores_0_and_its_solution_1() -> None:
    row, host = await row_of(found("one"), 0, 1)
    assert (row.outcome, row.set_up, row.noop, row.oracle, row.oracle_source) == ("holds", True, 0, 1, "recorded")
    assert host.machine.prepared == 1


async def test_a_desktop_that_was_judged_by_steps_is_set_up_again_before_the_solution() -> None:
    steps = [{"type": "sleep", "parameters": {"seconds": 1}}]
    row, host = await row_of(found("one", postconfig=steps), 0, 1)
    assert (row.outcome, host.machine.prepared) == ("holds", 2)


async def test_the_solution_of_what_cannot_be_done_is_to_say_so() -> None:
    row, host = await row_of(found("one", acts=(), func="infeasible", result=None, expected=None), 0, 1)
    assert (row.outcome, row.oracle_source) == ("holds", "published")
    assert host.machine.answers == ["", "FAIL"]


@pytest.mark.parametrize(
    ("scores", "acts", "options", "outcome", "said"),
    [
        ((1,), (ACT,), {}, "noop_scores", "doing nothing scores 1"),
        ((0,), (), {}, "no_oracle", "no solution"),
        ((0, 0.5), (ACT,), {}, "oracle_fails", "scores 0.5"),
        (
            (0, 0),
            (ACT,),
            {"act_error": "no_such_key"},
            "oracle_fails",
            "act 1 of its solution (type_text): no_such_key",
        ),
        ((VerifierFailed("why"),), (ACT,), {}, "unjudged", "why"),
        ((), (ACT,), {"refusal": UnsupportedTask("no step fly")}, "unsupported", "no step fly"),
        ((), (ACT,), {"refusal": UnsupportedTask("application_missing: X")}, "application_missing", "X"),
        ((), (ACT,), {"refusal": MachineGone("a step failed")}, "set_up_failed", "a step failed"),
    ],
)
async def test_each_way_not_to_hold_has_its_name_and_reason(
    scores: Sequence[float | Exception], acts: Sequence[Any], options: dict[str, Any], outcome: str, said: str
) -> None:
    row, _ = await row_of(found("one", acts=acts), *scores, **options)
    assert row.outcome == outcome
    assert said in row.reason
    assert row.oracle != 1


async def test_a_desktop_whose_set_up_failed_is_not_used_again() -> None:
    host = ScriptedHost(ScriptedMachine([], MachineGone("gone"), ""))
    rows = await try_tasks(cast(Host, host), [found("one"), found("two")], lambda row: None)
    assert [row.outcome for row in rows] == ["set_up_failed", "set_up_failed"]
    assert (host.created, host.destroyed) == (2, 2)


async def test_what_is_no_task_file_needs_no_desktop() -> None:
    row, host = await row_of(FoundTask("six", problem="form_unsupported: …"))
    assert (row.outcome, host.created) == ("unsupported", 0)


def test_the_table_counts_outcomes_and_escapes_what_would_break_its_lines(tmp_path: Path) -> None:
    rows = [
        TableRow(
            id="a", applications=("os",), outcome="holds", set_up=True, noop=0, oracle=1, oracle_source="recorded"
        ),
        TableRow(id="b", applications=(), outcome="unsupported", reason="one | two\nthree"),
    ]
    table = table_json(rows, {"GIMP": "2.10"}, datetime(2026, 11, 30, tzinfo=UTC))
    assert table["outcomes"] == {"holds": 1, "unsupported": 1}
    text = table_markdown(table)
    assert "| a | os | passes | 0 | 1 | recorded | holds |" in text
    assert "one \\| two three" in text
    assert "GIMP 2.10" in text
    assert "2026-11-30" in text
    written = write_table(tmp_path / "out.json", rows)
    assert json.loads((tmp_path / "out.json").read_text()) == written
    assert set(written["versions"]) >= {"GIMP", "VLC", "Thunderbird", "LibreOffice Calc"}
    assert (tmp_path / "out.md").exists()


def test_the_program_says_that_a_folder_is_empty_and_which_applications_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--tasks", str(tmp_path), "--out", str(tmp_path / "out.json")]
    assert program.main(words) == 1
    assert "no task file" in capsys.readouterr().err
    write(tmp_path, {"one.json": task_file("one")})

    async def refuse(*given: Any) -> list[TableRow]:
        raise ApplicationMissing("the image applications needs GIMP")

    monkeypatch.setattr(program, "run_tasks", refuse)
    assert program.main(words) == 1
    assert "application_missing: the image applications needs GIMP" in capsys.readouterr().err
    assert issubclass(ApplicationMissing, NoMachine)
