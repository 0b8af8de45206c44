"""Checks a repository after an attempt. It runs inside the machine with nothing but Python's standard library.

`case.json` beside it names the commit, the files of the test patch, the command and the tests that must pass. The
reward, 1 or 0, goes to `/logs/verifier/reward.json`; where the repository cannot be checked at all, none is written.

What an attempt left in test files counts for nothing: they are restored from the commit before the patch is applied.
Results are read from output that the checked code can write to as well. So a test that must fail, whose name nothing
in the repository can know, runs among the others: where it does not fail, or a test has two results, the reward is 0.
"""

from __future__ import annotations  # the Python of an old repository runs this

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
REWARD = Path("/logs/verifier/reward.json")
RESULT_SECONDS = 560
"""Longest the tests may take."""
PROTECTED = frozenset({"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "sitecustomize.py", "usercustomize.py"})
"""Names of files that change how tests run and are no part of a fix."""
GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*")
CONDA = Path("/opt/miniconda3/bin/activate")
"""Where the published images keep the environment of the tests."""
PASSED, FAILED = "passed", "failed"
PYTEST_WORDS = {"PASSED": PASSED, "XFAIL": PASSED, "FAILED": FAILED, "ERROR": FAILED, "XPASS": PASSED}
UNITTEST_WORDS = {"ok": PASSED, "expected failure": PASSED, "FAIL": FAILED, "ERROR": FAILED}
SYMPY_WORDS = {"ok": PASSED, "F": FAILED, "E": FAILED, "f": PASSED}


def git(*words: str) -> str:
    """What a git command prints. Raises CalledProcessError where it fails."""
    environment = {**os.environ, "GIT_NO_REPLACE_OBJECTS": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    ran = subprocess.run((*GIT, *words), check=True, capture_output=True, text=True, env=environment)
    return ran.stdout


def restore(commit: str, patched: list[str]) -> None:
    """Put the files of the test patch, and those that change how tests run, back to the commit."""
    changed = git("diff", "--name-only", "-z", commit).split("\0")
    changed += git("ls-files", "--others", "-z").split("\0")
    suspect = {path for path in changed if path and (Path(path).name in PROTECTED or path.endswith(".pth"))}
    for path in sorted({*patched, *suspect}):
        known = git("ls-tree", "-r", "--name-only", commit, "--", path).strip()
        if Path(path).is_symlink() or (Path(path).exists() and not known):
            Path(path).unlink()
        if known:
            git("checkout", commit, "--", path)


def plant_failing_test(case: dict[str, Any], name: str) -> str:
    """Write the test that must fail beside the first test file of the patch; its path."""
    neighbour = next((path for path in case["patched"] if Path(path).exists()), case["patched"][0])
    path = Path(neighbour).parent / f"test_{name}.py"
    body = f"    def test_{name}(self):\n        self.fail('as it must')\n"
    function = f"\n\ndef test_{name}():\n    raise AssertionError('as it must')\n"
    text = (
        function
        if case["output_format"] == "sympy"
        else f"import unittest\n\n\nclass Planted(unittest.TestCase):\n{body}"
    )
    path.write_text(text)
    return str(path)


def command_line(case: dict[str, Any], planted: str) -> list[str]:
    """The test command with the patched test files and the planted one."""
    tests = [path for path in case["patched"] if path.endswith(".py") and Path(path).exists()] + [planted]
    if case["labels"] == "modules":
        tests = [str(Path(path).with_suffix("")).replace("tests/", "", 1).replace("/", ".") for path in tests]
    return [*case["command"], *tests]


def run_tests(command: list[str]) -> str:
    """What the tests print, in the environment of the published images where there is one."""
    argv = command
    if CONDA.exists():
        argv = ["bash", "-c", f'source {CONDA} && conda activate testbed && exec "$@"', "tests", *command]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, timeout=RESULT_SECONDS
        )
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode("utf-8", "replace")
    return ran.stdout.decode("utf-8", "replace")


def read_results(output: str, output_format: str) -> dict[str, set[str]]:
    """The results of each test by its name, several where the output contradicts itself."""
    found: dict[str, set[str]] = {}
    for line in output.splitlines():
        name, result = {"pytest": _pytest, "unittest": _unittest, "sympy": _sympy}[output_format](line.strip())
        if result is not None:
            found.setdefault(name, set()).add(result)
    return found


def _pytest(line: str) -> tuple[str, str | None]:
    word, _, rest = line.partition(" ")
    return (rest.split(" ")[0], PYTEST_WORDS.get(word)) if rest else ("", None)


def _unittest(line: str) -> tuple[str, str | None]:
    name, dots, word = line.rpartition(" ... ")
    return (name, UNITTEST_WORDS.get(word)) if dots else ("", None)


def _sympy(line: str) -> tuple[str, str | None]:
    words = line.split()
    return (words[0], SYMPY_WORDS.get(words[1])) if len(words) == 2 and words[0].startswith("test_") else ("", None)


def faults(case: dict[str, Any], results: dict[str, set[str]], planted: str) -> list[str]:
    """Why the attempt is not rewarded; none where it is."""
    of_planted = [result for name, result in results.items() if planted in name]
    if of_planted != [{FAILED}]:
        return ["the test that must fail did not fail: the results are not those of the tests"]
    return [
        f"{name}: {' and '.join(sorted(results.get(name, {'not run'})))}"
        for name in case["must_pass"]
        if results.get(name) != {PASSED}
    ]


def main() -> int:
    """Write the reward. Returns 1 without one where the test patch cannot be applied."""
    case = json.loads((FOLDER / "case.json").read_text("utf-8"))
    try:
        git("cat-file", "-e", f"{case['base_commit']}^{{commit}}")
        restore(case["base_commit"], case["patched"])
        git("apply", "--whitespace=nowarn", str(FOLDER / "test.patch"))
    except subprocess.CalledProcessError as failed:
        print(f"the repository cannot be checked: {failed.stderr}")
        return 1
    name = f"planted_{secrets.token_hex(8)}"
    planted = plant_failing_test(case, name)
    output = run_tests(command_line(case, planted))
    found = faults(case, read_results(output, case["output_format"]), name)
    print(output[-4_000:])
    print("\n".join(found[:50]))
    REWARD.write_text(json.dumps({"reward": int(not found)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
