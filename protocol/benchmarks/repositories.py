"""SWE-bench and data sets of its form: an issue of a repository, judged by tests that its fix makes pass.

A row becomes a Harbor folder. Its tests restore the files of the test patch, run the tests that the row names, and
require every one of them to pass (`repository_checker.py`).
"""

import json
import re
import shlex
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from protocol.benchmarks.forms import BENCHMARK, FolderSettings, FormError, Row, origin, text_of
from protocol.harbor.folder_files import FolderFiles
from protocol.harbor.task_folders import parse_folder
from protocol.trajectory.tasks import Task

NAME = "swe-bench"
WORKDIR = "/testbed"
MAX_STEPS = 250
OutputFormat = Literal["pytest", "unittest", "sympy"]
"""How the output of a test command is read: pytest's summary, unittest's verbose lines (Django's too), SymPy's own."""
COMMANDS: Mapping[str, tuple[str, OutputFormat]] = {
    "django/django": ("./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1", "unittest"),
    "sympy/sympy": ("bin/test -C --verbose", "sympy"),
    "sphinx-doc/sphinx": ("tox --current-env -epy39 -v --", "pytest"),
}
"""What runs test files, by repository; the others have pytest."""
PYTEST: tuple[str, OutputFormat] = ("python -m pytest -rA -p no:cacheprovider", "pytest")
INSTRUCTION_PREFIX = (
    "Fix this issue in the code of the repository {repository}, in the folder where commands run. Tests that you do "
    "not see run afterwards."
)
MAX_ISSUE = 7_500
"""Longest issue that is told whole (characters); the end of a longer one is left out."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")
_PATCHED = re.compile(r"^(?:---|\+\+\+) [ab]/(.+?)\t?$", re.MULTILINE)


def is_repository_task(row: Row) -> bool:
    """Whether a row has the fields of an instance of SWE-bench."""
    return {"instance_id", "base_commit", "test_patch", "FAIL_TO_PASS"} <= row.keys()


def repository_task(
    row: Row, settings: FolderSettings, environment: FolderFiles | None = None, *, containers: bool = False
) -> Task:
    """A row as a task.

    Args:
        row: An instance, as published; beside it may stand `test_cmd` and `test_style`.
        settings: The image where it is another than the published one.
        environment: The files of an environment of one's own, for machines of ours or a container engine.
        containers: Whether a container engine plays the task.

    Raises:
        FormError: The row is none.
        FolderError: No machine plays its environment.
    """
    folder = repository_folder(row, settings, environment)
    identifier = text_of(row, "instance_id")
    executable = ("tests/test.sh", "solution/solve.sh")
    task = parse_folder(folder, identifier, executable=executable, containers=containers)
    source: Literal["published", "none"] = "published" if "solution/solve.sh" in folder else "none"
    parameters = {**task.parameters, "category": NAME, BENCHMARK: origin(NAME, source)}
    return task.model_copy(update={"id": f"{NAME}/{identifier}", "parameters": parameters})


def repository_folder(row: Row, settings: FolderSettings, environment: FolderFiles | None = None) -> dict[str, bytes]:
    """The files of a row's Harbor folder. Raises FormError."""
    identifier = text_of(row, "instance_id")
    if _ID.fullmatch(identifier) is None:
        raise FormError("instance_id: it is no name")
    steps = settings.max_steps or MAX_STEPS
    manifest = f'schema_version = "1.4"\n[task]\nname = "{NAME}/{identifier}"\n[metadata]\nmax_steps = {steps}\n'
    if environment is None:
        image = json.dumps(_image(identifier, settings))
        manifest += f'[environment]\nworkdir = "{WORKDIR}"\ndocker_image = {image}\n'
    issue = text_of(row, "problem_statement")
    if len(issue) > MAX_ISSUE:
        issue = f"{issue[:MAX_ISSUE]}\n[The rest of the issue is left out.]"
    instruction = INSTRUCTION_PREFIX.format(repository=row.get("repo", "")) + f"\n\n{issue}\n"
    checker = files("protocol.benchmarks").joinpath("repository_checker.py").read_bytes()
    made = {
        "task.toml": manifest.encode(),
        "instruction.md": instruction.encode(),
        "tests/test.sh": _TEST.encode(),
        "tests/check.py": checker,
        "tests/case.json": json.dumps(_case(row), ensure_ascii=False).encode(),
        "tests/test.patch": _patch(row["test_patch"]),
        **{f"environment/{path}": data for path, data in (environment or {}).items()},
    }
    patch = row.get("patch")
    if isinstance(patch, str) and patch.strip():
        made["solution/solve.sh"] = _SOLUTION.encode()
        made["solution/fix.patch"] = _patch(patch)
    return made


_TEST = """#!/bin/bash
python=$(command -v python3 || command -v python || echo /opt/miniconda3/envs/testbed/bin/python)
exec "$python" -I /tests/check.py
"""
_SOLUTION = """#!/bin/bash
git apply --whitespace=nowarn /solution/fix.patch
"""


def _case(row: Row) -> dict[str, Any]:
    """What the checker is told."""
    patched = sorted(set(_PATCHED.findall(text_of(row, "test_patch"))))
    if not patched:
        raise FormError("test_patch: it names no file")
    command, output_format = COMMANDS.get(str(row.get("repo", "")), PYTEST)
    if row.get("test_cmd"):
        command, output_format = text_of(row, "test_cmd"), _output_format(row.get("test_style", "pytest"))
    must_pass = [*_names(row, "FAIL_TO_PASS"), *_names(row, "PASS_TO_PASS")]
    if not must_pass:
        raise FormError("FAIL_TO_PASS: it names no test")
    return {
        "base_commit": text_of(row, "base_commit"),
        "patched": patched,
        "must_pass": must_pass,
        "command": shlex.split(command),
        "output_format": output_format,
        "labels": "modules" if row.get("repo") == "django/django" else "paths",
    }


def _patch(text: str) -> bytes:
    """A patch as a file, which ends with a line."""
    return (text if text.endswith("\n") else f"{text}\n").encode()


def _output_format(given: object) -> OutputFormat:
    match given:
        case "pytest" | "unittest" | "sympy":
            return given
        case _:
            raise FormError("test_style: it is pytest, unittest or sympy")


def _names(row: Row, field: str) -> list[str]:
    """Names of tests: a list, or the JSON of one, as some files have it. Raises FormError."""
    value = row.get(field, [])
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise FormError(f"{field}: it is no list") from None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise FormError(f"{field}: it is no list of names")
    return value


def _image(identifier: str, settings: FolderSettings) -> str:
    """The name of the image that holds the repository: the publishers write `__` as `_1776_`."""
    published = f"swebench/sweb.eval.x86_64.{identifier.lower().replace('__', '_1776_')}:latest"
    return settings.image.replace("{id}", identifier) if settings.image else published
