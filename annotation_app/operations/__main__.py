"""The command line behind `./pilothouse`."""

import argparse
import enum
import os
import sys
from collections.abc import Callable
from pathlib import Path

from annotation_app.operations import glossary, program_commands
from annotation_app.operations.audit.command import run_audit
from annotation_app.operations.audit.pinning import run_pinning
from annotation_app.operations.backup import backup, restore
from annotation_app.operations.bridge_keys import bridge_keys
from annotation_app.operations.console import Console
from annotation_app.operations.doctor import run_doctor
from annotation_app.operations.documentation import add_docs_options, docs
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.file_locks import data_lock
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.install.frontend import ensure_frontend_packages
from annotation_app.operations.install.node import ensure_node
from annotation_app.operations.install.readiness import check_installed
from annotation_app.operations.install.requirement_locks import write_locks
from annotation_app.operations.install.setup import (
    SETUP_LOG,
    SetupPurpose,
    ensure_python_packages,
    ensure_setup,
    ensure_uv,
)
from annotation_app.operations.install.system_packages import (
    ALL_TEST_PACKAGES,
    DEVELOPMENT_PACKAGES,
    ensure_system_packages,
)
from annotation_app.operations.install.system_packages import BENCHMARK_PACKAGES as BENCHMARK_NEEDS
from annotation_app.operations.program_commands import require_platform
from annotation_app.operations.runtime import demo
from annotation_app.operations.runtime.ports import PortAllocator
from annotation_app.operations.runtime.stack import LOOPBACK, ROOT
from annotation_app.operations.runtime.toy_flywheel import run_toy_flywheel
from annotation_app.operations.testing.affected.command import print_affected, run_affected
from annotation_app.operations.testing.checks import frontend_tests, selected_tests, unit_tests
from annotation_app.operations.testing.generated_types import check_types, write_types
from annotation_app.operations.testing.runs import TestRun, check_lanes, keep_durations, run_and_report, test_lanes
from protocol.legacy_names import current_words

BENCHMARKS = ROOT / "benchmarks"
DEFAULT_DATA = ROOT / ".data"
TOY_FLYWHEEL = DEFAULT_DATA / "toy-flywheel"
Command = Callable[[argparse.Namespace, list[str], Console], int]
HELP_OPTIONS = {"-h", "--help"}
FORWARDED_HELP = {"manage", "openenv", "benchmark", "evaluate", "factory", "trainer"}
"""Commands that forward `--help` to the program they start."""


class EnvironmentRequirement(enum.Enum):
    """What a command needs of the Python environment `.venv`."""

    CREATE = enum.auto()
    """It installs what is missing, including the environment."""
    PRESENT = enum.auto()
    """Its programs need packages, but it installs none."""
    ANY = enum.auto()
    """The standard library is enough."""


def main(words: list[str] | None = None) -> int:
    """Run one subcommand. Returns the exit status."""
    return execute(*parse(sys.argv[1:] if words is None else words))


def parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Parse the subcommand, its options, and the words to forward. Exits on a request for help and on errors."""
    words = current_words(words) or ["--help"]
    help_words = [word for word in words if word in HELP_OPTIONS and words[0] in FORWARDED_HELP]
    arguments, rest = build_parser().parse_known_args([word for word in words if word not in help_words])
    if help_words and not rest and words[0] in ("manage", "trainer"):  # without a subcommand, print our own help
        build_parser().parse_args(words)
    rest += help_words
    if rest and not arguments.takes_rest:
        build_parser().error(f"unknown: {' '.join(rest)}")
    return arguments, rest


def execute(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Run the parsed command. Returns the exit status."""
    console = Console()
    command: Command = arguments.command
    try:
        return command(arguments, rest, console)
    except OperationsError as error:
        console.problem(error)
        return 1
    except KeyboardInterrupt:
        console.say()
        return 130


def _demo(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_setup(SetupPurpose.RUN, console)
    try:
        ensure_trainer(console)
        arguments.nano = True
    except OperationsError as error:
        console.say(f"  The bundled policy is left out, the scripts propose alone: {error}")
    return _run_stack(arguments, console)


def _serve(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Start the demo without setup, for tests."""
    check_installed(console, storage_only=arguments.storage_only)
    return _run_stack(arguments, console)


def _run_stack(arguments: argparse.Namespace, console: Console) -> int:
    with data_lock(arguments.data), PortAllocator() as allocator:
        if arguments.reset:
            demo.wipe_data(arguments.data, console, confirmed=arguments.yes)
        trainer = ensure_trainer(console) if arguments.nano else None
        stack = demo.create_stack(
            arguments.data, host=arguments.host, port=arguments.port, allocator=allocator, console=console,
            trainer=trainer,
        )  # fmt: skip
        return demo.run_until_stopped(stack, console, storage_only=arguments.storage_only)


def _setup(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_setup(SetupPurpose.DEVELOP, console)
    console.step("Everything is installed.")
    return 0


def _check(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_setup(SetupPurpose.DEVELOP, console)
    node = ensure_frontend_packages(console, SETUP_LOG)
    return _status(run_and_report(check_lanes(node), console))


def _test(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    if arguments.changed is not None:
        return _test_changed(arguments, rest, console)
    if arguments.dry_run:
        raise OperationsError("--dry-run belongs to --changed.")
    packages = ALL_TEST_PACKAGES if arguments.all else DEVELOPMENT_PACKAGES
    ensure_setup(SetupPurpose.DEVELOP, console, trainer=not arguments.quick, packages=packages)
    node = ensure_frontend_packages(console, SETUP_LOG)
    if rest:
        run = run_and_report([selected_tests(rest, ensure_trainer(console))], console)
    elif arguments.quick:
        run = run_and_report([unit_tests(), frontend_tests(node)], console)
    else:
        trainer = ensure_trainer(console)
        run = run_and_report(test_lanes(node, trainer, everything=arguments.all), console, timed=True)
    return _status(run)


def _status(run: TestRun) -> int:
    return int(run.results.failed > 0)


def _test_changed(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    if rest:
        raise OperationsError(f"With --changed, pytest arguments are not passed on: {' '.join(rest)}")
    if arguments.dry_run:
        ensure_python_packages(SetupPurpose.DEVELOP, console)
        print_affected(arguments.changed, console, quick=arguments.quick)
        return 0
    ensure_setup(SetupPurpose.DEVELOP, console)
    node = ensure_frontend_packages(console, SETUP_LOG)
    run = run_affected(arguments.changed, console, node, ensure_trainer(console), quick=arguments.quick)
    return _status(run) if run else 0


def _types(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_python_packages(SetupPurpose.DEVELOP, console)
    (check_types if arguments.check else write_types)(console, SETUP_LOG)
    return 0


def _glossary(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    if not arguments.check:
        glossary.write(ROOT)
        return 0
    violations = glossary.violations(ROOT)
    for each in violations:
        console.say(f"{each.path}:{each.line}: {each.identifier} carries the retired word {each.word!r}")
    if not glossary.is_current(ROOT):
        raise OperationsError(f"{glossary.PAGE} is stale.", hint="./pilothouse glossary")
    return int(bool(violations))


def _lock(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_uv(console)
    write_locks(console, SETUP_LOG, upgrade=arguments.upgrade)
    return 0


def _audit(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_python_packages(SetupPurpose.DEVELOP, console)
    return run_audit(console, ensure_node(console, SETUP_LOG), strict=arguments.strict)


def _pin_images(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    return run_pinning(console, ROOT, arguments.mirror, update=arguments.update)


def _bench(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    if arguments.name not in _benchmarks():
        raise OperationsError(
            f"There is no benchmark {arguments.name}.", hint=f"There are: {', '.join(_benchmarks()) or 'none'}"
        )
    ensure_setup(SetupPurpose.DEVELOP, console)
    ensure_system_packages(console, SETUP_LOG, BENCHMARK_NEEDS)
    os.execv(sys.executable, [sys.executable, "-m", f"{BENCHMARKS.name}.{arguments.name}", *rest])  # noqa: S606 - a benchmark's name from the folder


def _benchmarks() -> list[str]:
    return sorted(path.stem for path in BENCHMARKS.glob("[a-z]*.py"))


def _flywheel(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    ensure_python_packages(SetupPurpose.RUN, console)
    python = ensure_trainer(console)
    if not arguments.toy:
        resumed = ["--resume"] if arguments.resume else []
        return _manage(
            arguments, ["run_flywheel", arguments.flywheel, "--cycles", str(arguments.cycles), *resumed], console
        )
    data = arguments.data if arguments.data != DEFAULT_DATA else TOY_FLYWHEEL
    run_toy_flywheel(data, cycles=arguments.cycles, python=python, console=console)
    return 0


def _manage(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    environment = {**os.environ, **require_platform(arguments.data).environment}
    os.execve(sys.executable, [sys.executable, str(ROOT / "manage.py"), *rest], environment)  # noqa: S606 - this interpreter


def _doctor(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    return run_doctor(arguments.data, console)


def _backup(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    if arguments.restores:
        restore(arguments.folder, arguments.data, console)
    else:
        backup(arguments.data, arguments.folder, console)
    return 0


def _bridge_keys(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    print(bridge_keys(arguments.hosts, manager=arguments.manager, ray=arguments.ray, data=arguments.data))
    return 0


def _positive_int(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 on")
    return int(text)


def build_parser() -> argparse.ArgumentParser:
    """The parser of every subcommand."""
    present = EnvironmentRequirement.PRESENT
    about = "Set up, run and check Pilothouse on this machine."
    parser = argparse.ArgumentParser(prog="./pilothouse", description=about)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str,
        command: Command,
        about: str,
        *,
        takes_rest: bool = False,
        environment: EnvironmentRequirement = EnvironmentRequirement.CREATE,
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(command=command, takes_rest=takes_rest, environment=environment)
        return added

    demo_parser = add("demo", _demo, "install what is missing, start everything, until Ctrl-C")
    serve_parser = add("serve", _serve, "start everything without installing anything", environment=present)
    for each in (demo_parser, serve_parser):
        each.add_argument("--data", type=Path, default=DEFAULT_DATA, help="where everything is kept (.data)")
        each.add_argument("--host", default=LOOPBACK, help="address browsers reach (127.0.0.1)")
        each.add_argument("--port", type=int, help="port of the web pages (8000 or the next free one); 0: any, for all")
        each.add_argument("--reset", action="store_true", help="wipe the data first, after asking")
        each.add_argument("--yes", action="store_true", help="do not ask")
        each.add_argument("--storage-only", action="store_true", help="only PostgreSQL and Redis")
        each.add_argument("--nano", action="store_true", help="the bundled policy too, which the demo always tries")
    test = add("test", _test, "all checks and tests; with pytest arguments only those tests", takes_rest=True)
    test.add_argument("--quick", action="store_true", help="only what needs no servers")
    test.add_argument("--all", action="store_true", help="also the tests that tests/moved_to_all.toml names")
    about = "only what the changes since a commit can affect (main)"
    test.add_argument("--changed", nargs="?", const="", metavar="COMMIT", help=about)
    about = "with --changed: list the files of tests and why, run none"
    test.add_argument("--dry-run", action="store_true", help=about)
    about = "keep how long each group of tests took, by which the next run sorts them"
    durations = add("durations", keep_durations, about)
    durations.add_argument("records", nargs="*", type=Path, help="timing records (those of the last run)")
    add("setup", _setup, "install what running and developing need")
    add("check", _check, "format, lint, types, import rules, quick tests: what a commit must pass")
    types = add("types", _types, "write the TypeScript types made from the Python ones")
    types.add_argument("--check", action="store_true", help="write nothing, fail when they are stale")
    about = "write docs/concepts/glossary.md from docs/concepts/glossary.toml"
    words = add("glossary", _glossary, about, environment=EnvironmentRequirement.ANY)
    words.add_argument("--check", action="store_true", help="write nothing; list retired words that identifiers carry")
    add_docs_options(add("docs", docs, "build the documentation's site and serve it, until Ctrl-C"))
    audit = add("audit", _audit, "look for known weaknesses and leaked secrets; its last line is one JSON object")
    audit.add_argument("--strict", action="store_true", help="fail also where a scanner or its database is unavailable")
    about = "write the digests of images in docker/"
    pins = add("pin-images", _pin_images, about, environment=EnvironmentRequirement.ANY)
    pins.add_argument("--mirror", action="append", default=[], help="NAME=URL of a registry that is reached elsewhere")
    pins.add_argument("--update", action="store_true", help="replace a digest where its tag names another image by now")
    lock = add("lock", _lock, "resolve the Python requirements again, with hashes; needs a package index")
    lock.add_argument("--upgrade", action="store_true", help="take the newest of what no requirements file names")
    about = "a Django management command on the running demo"
    manage = add("manage", _manage, about, takes_rest=True, environment=present)
    manage.add_argument("--data", type=Path, default=DEFAULT_DATA, help="where it is kept (.data)")
    about = "whether this machine can run Pilothouse, and what to do where not; changes nothing"
    doctor = add("doctor", _doctor, about, environment=EnvironmentRequirement.ANY)
    doctor.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the installation (.data)")
    about = "serve machines and tasks to OpenEnv clients and as MCP tools"
    openenv = add("openenv", program_commands.openenv, about, takes_rest=True, environment=present)
    openenv.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the running installation it uses (.data)")
    for name, about in (
        ("backup", "copy an installation, running or not, to a folder"),
        ("restore", "make an installation of a backup, in an empty folder"),
    ):
        each = add(name, _backup, about, environment=EnvironmentRequirement.ANY)
        each.set_defaults(restores=name == "restore")
        each.add_argument("folder", type=Path, help="the backup")
        each.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the installation (.data)")
    keys = add("bridge-keys", _bridge_keys, "print keys of bridge hosts", environment=EnvironmentRequirement.ANY)
    keys.add_argument("hosts", nargs="*", metavar="HOST", help="PILOTHOUSE_HOST_ID of a bridge host")
    keys.add_argument("--manager", action="store_true", help="also the key of managers, which give machines out")
    keys.add_argument("--ray", action="store_true", help="also the key of hosts that Ray places")
    keys.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the installation with the master key (.data)")
    flywheel = add("flywheel", _flywheel, "run a flywheel cycle: train on new trajectories, and let the gate judge")
    flywheel.add_argument("flywheel", nargs="?", default="main", help="which one of the running demo (main)")
    flywheel.add_argument("--cycles", type=_positive_int, default=1, help="how many (1); a stopped one is the first")
    how = flywheel.add_mutually_exclusive_group()
    how.add_argument("--toy", action="store_true", help="the toy world's, with servers of its own, in minutes")
    how.add_argument("--resume", action="store_true", help="begin with the last cycle, which failed or was cancelled")
    flywheel.add_argument("--data", type=Path, default=DEFAULT_DATA, help="its folder (.data; --toy has its own)")
    replies = add(
        "parse", program_commands.parse_replies, "read replies of models, JSON Lines in and out", environment=present
    )
    replies.add_argument("--dialect", required=True, help="how the model writes actions (docs/reference/dialects.md)")
    replies.add_argument("--size", required=True, help="the picture the model saw, such as 1920x1080 (pixels)")
    replies.add_argument("--finish-reason", help="why the server stopped, for lines that name none")
    about = "try a model: what it sees, which dialect reads it, where its points land; its last line is one JSON object"
    probe = add("probe", program_commands.probe, about, environment=present)
    probe.add_argument("server", help="the address of its OpenAI-compatible API, ending in /v1")
    probe.add_argument("--model", required=True, help="what the server calls it")
    probe.add_argument("--dialect", required=True, help="how it writes actions (docs/reference/dialects.md)")
    probe.add_argument("--screens", choices=("desktop", "small"), default="desktop", help="what it is shown (desktop)")
    about = "install OSWorld's own package, which judges its task files (1.3 GB); make a table of task files"
    osworld = add("osworld", program_commands.osworld, about, takes_rest=True)
    about = "which files of --tasks FOLDER work on our desktops with applications; into --out FILE"
    osworld.add_argument("work", nargs="?", choices=("table",), help=about)
    osworld.add_argument("--ocr", action="store_true", help="what reads text in pictures too, for one metric (1 GB)")
    about = "make a disk with Windows and our agent from an installation medium, without anybody at the screen"
    add("windows-image", program_commands.windows_image, about, takes_rest=True)
    about = "let a policy attempt a suite, a pool or tasks of a file, score it, and compare runs"
    benchmark = add("benchmark", program_commands.benchmark, about, takes_rest=True, environment=present)
    benchmark.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the running installation it uses (.data)")
    about = "a registered revision, in place of --model-url, --model, --dialect, …"
    benchmark.add_argument("--registered", nargs=2, metavar=("POLICY", "REVISION"), help=about)
    about = "report on a policy's attempts in folders: success, pass@k, scaling, and against others"
    evaluate = add("evaluate", program_commands.evaluate, about, takes_rest=True, environment=present)
    evaluate.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the running installation it uses (.data)")
    about = "make tasks and check them: games, tasks for web sites"
    factory = add("factory", program_commands.factory, about, takes_rest=True, environment=present)
    factory.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the running installation it uses (.data)")
    about = "have the tasks' expert annotate in the running demo through its pages, as a person would"
    run = program_commands.simulate_annotator
    simulated = add("simulate-annotator", run, about, takes_rest=True, environment=present)
    simulated.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the running installation it uses (.data)")
    about = (
        "where it works; in place of it --tasks SOURCE or --suite NAME, with a rollout's options"
        " (docs/guides/researcher/tasks.md)"
    )
    simulated.add_argument("--pool", help=about)
    simulated.add_argument("--user", default="annotator", help="the user it signs in as (annotator)")
    simulated.add_argument("--episodes", type=_positive_int, default=1, help="most episodes to annotate (1)")
    simulated.add_argument(
        "--aim", type=_positive_int, default=10, help="longest distance between clicks that count as the same (10 px)"
    )
    about = "a command of the trainer in its own environment: sft, ppo, …; serve, nano and toy are its programs"
    add("trainer", program_commands.trainer, about, takes_rest=True)
    bench = add("bench", _bench, "run a benchmark; its last line is one JSON object", takes_rest=True)
    bench.add_argument("name", help=f"one of {', '.join(_benchmarks())}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
