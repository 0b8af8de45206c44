"""The checks and tests of the project, as a table; `./pilothouse check` and `./pilothouse test` run parts of it.

Checks are arranged in lanes that run in parallel. CPU-bound checks have their own lane, in parallel to tests that also
wait for other programs, so that the processors stay busy to the end.
"""

import os
import sys
import sysconfig
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from annotation_app.operations.console import Console
from annotation_app.operations.install.frontend import FRONTEND_FOLDER
from annotation_app.operations.install.node import Node
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.testing.check_processes import CheckProcesses, check_processes
from annotation_app.operations.testing.results import OutcomeCounts

REPORTS_FOLDER = ROOT / "test-results"
WORKER_COUNT = 3
"""Number of test workers. Tests wait half of their time, and another lane runs in parallel."""
PARALLEL_OPTIONS = ("-n", str(WORKER_COUNT), "--dist", "loadscope", "--longest-first")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""For training in tests: the models are tiny, and more threads would only wait for each other."""
RERUN_OPTIONS = ("--second-tries", "-rfER")
"""Only tests in `tests/second_tries.toml` are rerun once after a failure. The report counts skipped tests."""
MAX_OUTPUT_LINES = 400
"""How many output lines of a failed check are shown. Its log has all of them."""
TRAINER_PLUGINS = ("django", "xdist", "xdist.looponfail", "playwright", "rerunfailures", "cacheprovider")
TRAINER_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
"""pytest and its plugins come from the platform's environment, which follows the trainer's on the path."""


@dataclass(frozen=True, slots=True)
class Check:
    """One command. If it writes a JUnit file, the `report`, its tests are counted. Otherwise it counts as one test.

    A `live` check shows its output immediately, any other only if it fails.
    """

    name: str
    command: tuple[str, ...]
    folder: Path = ROOT
    environment: dict[str, str] = field(default_factory=dict)
    report: Path | None = None
    live: bool = False

    @property
    def log(self) -> Path:
        """The output file of a check that is not live."""
        return REPORTS_FOLDER / "logs" / f"{self.name.replace(' ', '-')}.log"


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The result of a check, and its times: seconds since the epoch."""

    check: Check
    results: OutcomeCounts
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began


def static_checks(node: Node) -> tuple[Check, ...]:
    """Checks that read the code without running it."""
    return (
        Check("format", _tool("ruff", "format", "--check", ".")),
        Check("lint", _tool("ruff", "check", ".")),
        Check("types", _tool("mypy")),
        Check("import rules", _tool("lint-imports")),
        Check("generated types", (sys.executable, "-m", "annotation_app.operations", "types", "--check")),
        _npm(node, "front-end lint", "lint"),
        _npm(node, "front-end types", "typecheck"),
    )


def frontend_tests(node: Node) -> tuple[Check, ...]:
    """Tests of the pages' components and functions, without a server."""
    report = REPORTS_FOLDER / "frontend.xml"
    junit = ("--", "--reporter=default", "--reporter=junit", f"--outputFile.junit={report}")
    return (_npm(node, "front-end tests", "test", *junit, report=report),)


def unit_tests() -> tuple[Check, ...]:
    """Tests without database, network and desktop."""
    return (_pytest("unit", "tests/unit", *PARALLEL_OPTIONS),)


def trainer_tests(python: Path, *paths: str) -> tuple[Check, ...]:
    """Tests that need torch, with the interpreter of the trainer's environment: these files, or all."""
    report = REPORTS_FOLDER / "trainer.xml"
    words = (
        *(paths or ["tests/trainer"]),
        "-q",
        "-c",
        os.devnull,
        "--rootdir=.",
        "--confcutdir=tests/trainer",
        "-W",
        "error",
    )
    words += ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", f"--junitxml={report}")
    words += ("-p", "tests.timing", f"--timing={_timing_file('trainer')}")
    words += tuple(word for name in TRAINER_PLUGINS for word in ("-p", f"no:{name}"))
    command = (str(python), "-c", TRAINER_PROGRAM, sysconfig.get_paths()["purelib"], *words)
    return (Check("trainer tests", command, environment={"HF_HUB_OFFLINE": "1", **ONE_THREAD}, report=report),)


def platform_tests(*, everything: bool = False) -> tuple[Check, ...]:
    """Tests with real servers, desktops and browsers, and those that need none, in one run so that they share them."""
    more = ("--all",) if everything else ()
    folders = ("tests/unit", "tests/contract", "tests/integration", "tests/e2e")
    return (_pytest("platform", *folders, *PARALLEL_OPTIONS, *RERUN_OPTIONS, *more, live=True),)


def selected_tests(arguments: Sequence[str], trainer: Path) -> tuple[Check, ...]:
    """Tests that these pytest arguments name. Trainer test files run in the trainer's environment."""
    theirs = [word for word in arguments if word.startswith("tests/trainer")]
    others = [word for word in arguments if word not in theirs]
    options = [word for word in others if not word.startswith("tests/")]
    platform = (_pytest("chosen", *others, live=True),) if options != others or not theirs else ()
    return (*platform, *(trainer_tests(trainer, *theirs, *options) if theirs else ()))


def affected_lanes(
    node: Node,
    trainer: Path,
    stages: Mapping[str, Sequence[str]],
    *,
    python: bool,
    frontend: bool,
    pages: bool,
) -> tuple[Sequence[Check], ...]:
    """Checks of the changed code, in parallel to test files by stage, with the last failures first.

    Args:
        stages: Paths of test files by stage, in the order in which they run; `trainer` runs in the trainer's
            environment.
        python: Whether Python or its settings changed.
        frontend: Whether the front-end changed.
        pages: Whether the front-end's own tests run.
    """
    static = (
        check for check in static_checks(node) if (frontend if check.folder == FRONTEND_FOLDER else python or frontend)
    )
    workers = ("-n", str(WORKER_COUNT), "--dist", "loadscope", "--failed-first")
    tests = [
        _pytest(name, *paths, *workers, live=True) for name, paths in stages.items() if paths and name != "trainer"
    ]
    own = frontend_tests(node) if pages else ()
    return tests, (*static, *own, *(trainer_tests(trainer, *paths) if (paths := stages.get("trainer")) else ()))


def run_checks(lanes: Iterable[Sequence[Check]], console: Console) -> tuple[CheckOutcome, ...]:
    """Run the lanes in parallel and the checks of a lane in order, continuing after failures. Print each outcome.

    All processes of the checks end with the run, also when a signal ends it.
    """
    REPORTS_FOLDER.mkdir(exist_ok=True)
    with check_processes() as processes:
        return _run_lanes(lanes, console, processes)


def _run_lanes(
    lanes: Iterable[Sequence[Check]], console: Console, processes: CheckProcesses
) -> tuple[CheckOutcome, ...]:
    stopped, print_lock, found = threading.Event(), threading.Lock(), list[CheckOutcome]()

    def run_lane(checks: Sequence[Check]) -> None:
        for check in checks:
            if stopped.is_set():
                return
            outcome = _run_check(check, processes)
            if stopped.is_set():
                return
            with print_lock:
                found.append(outcome)
                _print_outcome(outcome, console)

    lanes = [lane for lane in lanes if lane]
    with ThreadPoolExecutor(max(len(lanes), 1)) as threads:
        try:
            for done in as_completed([threads.submit(run_lane, lane) for lane in lanes]):
                done.result()
        except BaseException:
            stopped.set()
            processes.stop()
            raise
    return tuple(sorted(found, key=lambda outcome: outcome.began))


def _print_outcome(outcome: CheckOutcome, console: Console) -> None:
    check = outcome.check
    if outcome.results.failed and not check.live:
        lines = check.log.read_text(errors="replace").splitlines()
        console.say(f"--- {check.name} ---")
        for line in lines[-MAX_OUTPUT_LINES:]:
            console.say(line)
    mark = console.paint("✗", 31) if outcome.results.failed else console.paint("✓", 32)
    console.say(f"{mark} {check.name:<16} {outcome.results.line():<40} {outcome.seconds:6.1f} s")


def _run_check(check: Check, processes: CheckProcesses) -> CheckOutcome:
    if check.report:
        check.report.unlink(missing_ok=True)
    began, environment = time.time(), {**os.environ, **check.environment}
    if check.live:
        status = processes.run(check.command, folder=check.folder, environment=environment, output=None)
    else:
        check.log.parent.mkdir(parents=True, exist_ok=True)
        with check.log.open("wb") as log:
            status = processes.run(check.command, folder=check.folder, environment=environment, output=log)
    return CheckOutcome(check, _count_results(check, status), began, time.time())


def _count_results(check: Check, status: int) -> OutcomeCounts:
    failures = (f"{check.name}: ended with status {status}",) if status else ()
    one = OutcomeCounts(passed=int(status == 0), failed=int(status != 0), failures=failures)
    if not check.report:
        return one
    try:
        counted = OutcomeCounts.from_junit(check.report)
    except (FileNotFoundError, ElementTree.ParseError):
        return one
    return counted if counted.failed or not status else OutcomeCounts.total((counted, one))


def _tool(module: str, *arguments: str) -> tuple[str, ...]:
    return (str(Path(sys.executable).with_name(module)), *arguments)


def _npm(node: Node, name: str, script: str, *arguments: str, report: Path | None = None) -> Check:
    command = (*node.npm, "run", "--silent", script, *arguments)
    return Check(name, command, folder=FRONTEND_FOLDER, environment=node.environment, report=report)


def _timing_file(name: str) -> Path:
    return REPORTS_FOLDER / "timing" / f"{name}.jsonl"


def _pytest(name: str, *arguments: str, live: bool = False) -> Check:
    report = REPORTS_FOLDER / f"{name}.xml"
    options = ("-q", f"--junitxml={report}", f"--timing={_timing_file(name)}")
    command = (sys.executable, "-m", "pytest", *options, *arguments)
    return Check(f"{name} tests", command, environment=ONE_THREAD, report=report, live=live)
