"""Looks after bundled browser tasks: `python -m vm_bridge.suites list | check [NAME…] | play NAME`."""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from vm_bridge.browser import Engine
from vm_bridge.config import browser_unsandboxed
from vm_bridge.suites.web import DRILLS, GAMES, MADE_GAMES, SITES, FolderSuite
from vm_bridge.suites.web.episodes import play_task
from vm_bridge.suites.web.manifest import LANGUAGES, Reference
from vm_bridge.suites.web.task_folder import TaskFolder
from vm_bridge.suites.web.validation import ValidationReport, validate_task

SUITES = (DRILLS, GAMES, MADE_GAMES, SITES)


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0 when all is well, 1 when a check found a fault, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "list":
            return _list()
        if options.command == "play":
            return asyncio.run(_play(options))
        return asyncio.run(_check(options))
    except (ValueError, LookupError) as error:
        print(error, file=sys.stderr)
        return 2


def _list() -> int:
    for suite in SUITES:
        for name, folder in suite.folders.items():
            manifest = folder.manifest
            marks = [
                f"{len(manifest.levels)} levels",
                *(["small"] if manifest.small else []),
                *(["webgl"] * manifest.webgl),
            ]
            print(f"{manifest.kind:5} {name:14} {manifest.title.en} ({', '.join(marks)})")
    return 0


async def _check(options: argparse.Namespace) -> int:
    wanted = [_find_task(name) for name in options.names] or [
        (suite, folder) for suite in SUITES for folder in suite.folders.values()
    ]
    failed = 0
    async with _engine(options) as first, _engine(options) as second:
        for suite, folder in wanted:
            report = await validate_task(suite, folder, first, second, seeds=1 if options.quick else options.seeds)
            print(json.dumps(report.summary(), ensure_ascii=False), flush=True)
            failed += bool(report.faults)
            if options.write and not report.faults:
                _write(folder, report)
    print(f"{len(wanted) - failed} of {len(wanted)} tasks keep the format", flush=True)
    return 1 if failed else 0


async def _play(options: argparse.Namespace) -> int:
    suite, folder = _find_task(options.name)
    task = suite.make(folder.manifest.name, seed=options.seed, level=options.level, language=options.language)
    async with _engine(options) as engine:
        record, actions = await play_task(engine, suite, task, "random" if options.random else "expert", frames=True)
    print(task.instruction)
    for action in actions:
        print(action.model_dump_json())
    print(record.model_dump_json())
    return 0


def _find_task(name: str) -> tuple[FolderSuite, TaskFolder]:
    for suite in SUITES:
        if name in suite.folders:
            return suite, suite.folders[name]
    raise LookupError(f"there is no task {name}; `list` shows all")


def _write(folder: TaskFolder, report: ValidationReport) -> None:
    """Put the measured reference at the end of the manifest, in a line of its own."""
    path = folder.path / "manifest.json"
    reference: Reference = report.reference
    line = f'  "reference": {json.dumps(reference.model_dump())}\n}}\n'
    text = re.sub(r',?\s*"reference": \{[^}]*\}', "", path.read_text().rstrip()).rstrip("}").rstrip()
    path.write_text(f"{text},\n{line}")


@asynccontextmanager
async def _engine(options: argparse.Namespace) -> AsyncIterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="suites-") as folder:
        engine = await Engine.start(
            Path(folder), exact=not options.script_clock, unsandboxed=browser_unsandboxed(os.environ)
        )
        try:
            yield engine
        finally:
            await engine.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.suites", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every task")
    checks = commands.add_parser("check", help="print what is missing, and check verifier, expert and pictures")
    checks.add_argument("names", nargs="*", help="tasks; all when none is named")
    checks.add_argument("--seeds", type=int, default=3, help="how many the expert plays on each level")
    checks.add_argument("--quick", action="store_true", help="one seed")
    checks.add_argument("--write", action="store_true", help="write the reference scores into the manifests")
    plays = commands.add_parser("play", help="print the expert's acts, one a line, and record them")
    plays.add_argument("name")
    plays.add_argument("--seed", type=int, default=0)
    plays.add_argument("--level", type=int, default=1)
    plays.add_argument("--language", choices=LANGUAGES, default="en")
    plays.add_argument("--random", action="store_true", help="the random baseline in the expert's place")
    for command in (checks, plays):
        command.add_argument("--script-clock", action="store_true", help="the script's clock, not the exact one")
    return parser


if __name__ == "__main__":
    sys.exit(main())
