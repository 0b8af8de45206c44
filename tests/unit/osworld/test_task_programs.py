"""What a task program of OSWorld 2.0 says of itself without being run, and what of it an operator must give."""

from pathlib import Path

import pytest

from protocol.benchmarks.forms import FormError
from protocol.benchmarks.task_programs import TaskProgram, program_task, read_task_program
from vm_bridge.drivers.osworld.task_files import parse_task_file
from vm_bridge.errors import UnsupportedTask
from vm_bridge.hosts.osworld import task_interface
from vm_bridge.hosts.osworld.program_needs import (
    list_missing_of_program,
    program_services,
    read_services,
    service_hosts,
)
from vm_bridge.network.allowlist import AllowList

HEAD = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from desktop_env.controllers.gitlab import X\n"
CLASS = """
WHERE = "the desk"
class One(Base):
    id = "001"
    instruction = f"Tidy {WHERE}" + " now."
    related_apps = ["chrome"]
    %s
    def evaluate(self, env):
        return %s
"""


def program(lines: str = "", body: str = "", value: str = "1") -> TaskProgram:
    found = read_task_program(HEAD + lines + CLASS % (body, value))
    assert found is not None
    return found


def test_constants_are_put_together_and_imports_for_type_checkers_are_passed_over() -> None:
    found = program()
    assert (found.id, found.instruction, found.applications) == ("001", "Tidy the desk now.", ("chrome",))
    assert not found.needs
    assert not found.imports
    assert read_task_program("def evaluate(env):\n    return 1\n") is None


@pytest.mark.parametrize(
    ("lines", "body", "value", "need"),
    [
        ("from desktop_env.evaluators import model_client\n", "", "1", "judge"),
        ("", "", "metrics.compare_text_with_llm(1)", "judge"),
        ("from desktop_env.controllers.website import build_website_url\n", "", "1", "websites"),
        ("", "", "os.environ['GITLAB_URL']", "gitlab"),
        ("", "user_simulator = {'type': 'llm'}", "1", "user"),
        ("", "def get_phases(self): return []", "1", "phases"),
        ("from desktop_env.file_source import asset\n", "", "1", "assets"),
        ("", "", "'{CLIENT_PASSWORD}'", "password"),
    ],
)
def test_what_a_program_needs_is_seen_in_its_text(lines: str, body: str, value: str, need: str) -> None:
    assert need in program(lines, body, value).needs


def test_what_nobody_gave_is_named_and_services_go_to_those_that_need_them(tmp_path: Path) -> None:
    file = tmp_path / "services"
    file.write_text(
        "# of the lab\nexport WEBSITE_HOST_SUFFIX='web.example'\nOSWORLD_EVAL_MODEL_BASE_URL=http://j:8/v1\n"
    )
    given = read_services(file) | {"OSWORLD_EVAL_MODEL_NAME": "some"}
    judged = program("from desktop_env.evaluators.model_client import generate_text\n")
    services = program_services(judged, given, has_assets=True)
    assert "WEBSITE_HOST_SUFFIX" not in services
    assert service_hosts(services) == ("j:8",)
    assert service_hosts({"WEBSITE_HOST_SUFFIX": "web.example"}) == ("*.web.example",)

    def missing(one: TaskProgram, services: dict[str, str], *, whole: bool = False) -> list[str]:
        allowed = AllowList.of(())
        return [
            each.partition(":")[0]
            for each in list_missing_of_program(one, services, password=False, allowed=allowed, whole=whole)
        ]

    assert missing(judged, services) == []
    assert missing(judged, {}) == ["judge_needed"]
    assert missing(program("from desktop_env.controllers.website import build_website_url\n"), {}) == [
        "services_needed"
    ]
    assert missing(program("from desktop_env.evaluators import metrics\n", value="metrics.fly()"), {}) == [
        "package_needed"
    ]
    assert missing(program("from desktop_env.evaluators import metrics\n", value="metrics.fly()"), {}, whole=True) == []


def test_what_no_machine_does_is_refused_by_its_code() -> None:
    source = HEAD + CLASS % ("user_simulator = {'type': 'llm'}", "1")
    with pytest.raises(UnsupportedTask, match="user_needed"):
        parse_task_file(program_task(source, "task_001", {}))
    with pytest.raises(FormError, match="computed"):
        read_task_program("class A:\n    id = '1'\n    instruction = f()\n    def evaluate(self, env): return 1\n")


@pytest.mark.parametrize(
    ("said", "score", "details"),
    [(True, 1.0, ""), (sum([0.1] * 10), 1.0, ""), ({"score": 0.5, "safe": False}, 0.5, '{"safe": false}')],
)
def test_a_score_is_a_number_or_in_a_dict_with_its_parts(said: object, score: float, details: str) -> None:
    assert task_interface.read_score(said) == (score, details)


@pytest.mark.parametrize("said", [None, "much", float("nan"), 100, {"parts": 1}])
def test_what_is_no_score_from_0_to_1_is_no_0(said: object) -> None:
    with pytest.raises(task_interface.ProgramError, match="score_invalid"):
        task_interface.read_score(said)
