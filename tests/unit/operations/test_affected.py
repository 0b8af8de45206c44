"""Which tests a change affects: on small made-up graphs, and a few facts of the real tree."""

from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.testing.affected.graph import build_project
from annotation_app.operations.testing.affected.selection import (
    LOADED,
    PATH,
    AffectedTest,
    Node,
    Project,
    affected_tests,
    sort_by_run_order,
)
from annotation_app.operations.testing.affected.source import read_source

UNIT, OTHER, END = "tests/unit/test_one.py", "tests/unit/test_two.py", "tests/e2e/test_pages.py"
THIS = str(Path(__file__).relative_to(ROOT))
MODULES = {
    "vm_bridge/__init__.py": "vm_bridge",
    "vm_bridge/pool.py": "vm_bridge.pool",
    "vm_bridge/machine.py": "vm_bridge.machine",
    UNIT: "tests.unit.test_one",
    OTHER: "tests.unit.test_two",
    END: "tests.e2e.test_pages",
}
MADE_UP = Project(
    modules=MODULES,
    tests={UNIT, OTHER, END},
    dependencies={
        Node("tests.unit.test_one"): {Node("vm_bridge.pool")},
        Node("vm_bridge.pool"): {Node("vm_bridge.machine"), Node("vm_bridge.gone")},
        Node("vm_bridge.machine"): set(),
        Node("tests.unit.test_two"): {Node("docs/*.md", PATH), Node("vm_bridge.pool", LOADED)},
        Node("vm_bridge.pool", LOADED): set(),
        Node("tests.e2e.test_pages"): set(),
    },
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("vm_bridge/machine.py", {UNIT}),
        ("vm_bridge/pool.py", {UNIT, OTHER}),
        ("vm_bridge/gone.py", {UNIT}),
        ("vm_bridge/data/list.json", {UNIT, OTHER}),
        (OTHER, {OTHER}),
        ("docs/guides/web.md", {OTHER}),
        ("README.md", set()),
        ("frontend/src/main.tsx", {END}),
        ("pyproject.toml", {UNIT, OTHER, END}),
        ("unheard/of.txt", {UNIT, OTHER, END}),
    ],
)
def test_a_change_affects_what_depends_on_it(changed: str, expected: set[str]) -> None:
    assert {test.path for test in affected_tests([changed], MADE_UP)} == expected


def test_the_reason_is_the_shortest_chain() -> None:
    (found,) = affected_tests(["vm_bridge/machine.py"], MADE_UP)
    assert found.chain == (UNIT, "vm_bridge.pool", "vm_bridge/machine.py")


def test_stages_come_first_then_failures_then_the_nearest() -> None:
    near, far = AffectedTest(UNIT, (UNIT, "a")), AffectedTest(OTHER, (OTHER, "b", "a"))
    contract, end = AffectedTest("tests/contract/test_it.py", ("", "", "", "")), AffectedTest(END, (END,))
    middle = AffectedTest("tests/integration/test_it.py", ("", ""))
    assert sort_by_run_order([end, middle, far, near, contract], {contract.path, END}) == [
        contract, near, far, middle, end,
    ]  # fmt: skip


def test_strings_name_modules_and_docstrings_do_not() -> None:
    text = '''"""See vm_bridge.pool."""
RUN = ("-m", "vm_bridge")
def start(name):
    """As vm_bridge.pool."""
    return import_module(f"trainer.{name}"), "vm_bridge.machine.Machine", "trainer"
'''
    assert read_source(text, "some").everything.modules == {
        "vm_bridge.__main__", "trainer.", "vm_bridge.machine.Machine",
    }  # fmt: skip


def test_relative_imports_are_read_in_full() -> None:
    text = "from . import display\nfrom ..errors import Wrong"
    assert read_source(text, "recorder.x11.windows").everything.imports == {
        "recorder.x11": {"display"}, "recorder.errors": {"Wrong"},
    }  # fmt: skip
    assert read_source(text, "recorder.x11", package=True).everything.imports.keys() == {
        "recorder.x11",
        "recorder.errors",
    }


def test_parametrized_arguments_are_no_fixtures() -> None:
    text = "@pytest.mark.parametrize('platform, x', [])\ndef test_it(platform, x, world): ..."
    assert read_source(text, "some").everything.parameters == {"world"}


@pytest.fixture(scope="module")
def project() -> Project:
    return build_project(ROOT)


def affected(path: str, project: Project) -> set[str]:
    """All but this file, which names many paths."""
    assert (ROOT / path).exists()
    return {test.path for test in affected_tests([path], project)} - {THIS}


def test_the_actions_affect_machines_and_pages(project: Project) -> None:
    found = affected("protocol/actions/types.py", project)
    assert {"tests/contract/test_machine.py", "tests/trainer/data/test_rendering.py"} <= found
    assert {str(path.relative_to(ROOT)) for path in ROOT.glob("tests/e2e/test_*.py")} <= found


def test_a_file_of_tests_affects_itself(project: Project) -> None:
    assert affected("tests/unit/operations/test_ports.py", project) == {"tests/unit/operations/test_ports.py"}


def test_the_simulated_guest_does_not_affect_the_vocabulary(project: Project) -> None:
    for path in Path(ROOT, "vm_bridge", "osworld").glob("*.py"):
        found = affected(str(path.relative_to(ROOT)), project)
        assert not any(test.startswith("tests/unit/protocol/") for test in found)


def test_a_program_that_only_an_image_names_affects_the_pages(project: Project) -> None:
    assert "tests/e2e/test_phone.py" in affected("vm_bridge/simulators/phone/main.py", project)


def test_tests_of_the_trainer_see_no_fixtures_of_the_others(project: Project) -> None:
    assert affected("tests/trainer/algorithms/test_sft.py", project) == {"tests/trainer/algorithms/test_sft.py"}
    found = affected("tests/conftest.py", project)
    assert not any(path.startswith("tests/trainer/") for path in found)


def test_documents_affect_those_who_read_them(project: Project) -> None:
    readers = {
        "tests/trainer/test_tutorials.py",
        "tests/unit/operations/test_documentation.py",
        "tests/unit/operations/test_documents.py",
    }
    assert affected("docs/architecture/web-app.md", project) == readers


def test_a_conftest_affects_what_lies_below(project: Project) -> None:
    below = {path for path in project.tests if not path.startswith("tests/trainer/")}
    assert affected("tests/conftest.py", project) == below - {THIS}
    assert "tests/unit/protocol/actions/test_keys.py" not in affected("tests/integration/web/conftest.py", project)
