"""`./pilothouse factory sites`: make tasks of web sites, and prove a file of them again."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue

from agent_backend.errors import AgentError
from task_factory.browsers import open_engine
from task_factory.language_models import LanguageModel, RecordedModel, ServedModel, TranscribedModel, open_served_model
from task_factory.sites.folders import (
    TRANSCRIPT,
    read_replies,
    read_task_file,
    write_report,
    write_site,
)
from task_factory.sites.frontier import CrawlBounds
from task_factory.sites.pipeline import TASKS_WANTED, make_site_tasks
from task_factory.sites.progress import Progress
from task_factory.sites.proof import Unproven, prove
from task_factory.sites.sources import SiteSource, open_bundled, open_live, open_source
from vm_bridge.browser import BrowserFailed
from vm_bridge.errors import BridgeError

FAILURES = (AgentError, BridgeError, BrowserFailed, LookupError, OSError, ValueError)


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `sites make` and `sites check` to the factory's command."""
    sites = subparsers.add_parser("sites", help="tasks on web sites")
    commands = sites.add_subparsers(dest="sites_command", required=True)
    make = commands.add_parser("make", help="crawl sites, have tasks written, keep those that a run proves")
    make.add_argument("sites", nargs="+", metavar="SITE", help="an address, or the name of a bundled site such as shop")
    make.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder, or one to go on with")
    make.add_argument("--model-url", default="", help="an OpenAI-compatible address, such as http://host:8000/v1")
    make.add_argument("--model", default="", help="a vision-language model's name there")
    make.add_argument("--replies", type=Path, metavar="FILE", help="recorded replies, or a folder with SITE.jsonl")
    make.add_argument("--tasks", type=int, default=TASKS_WANTED, help="the number of tasks (default: %(default)s)")
    make.add_argument("--seed", type=int, default=0, help="which world of bundled sites (default: %(default)s)")
    make.add_argument("--level", type=int, default=1, help="which level of bundled sites (default: %(default)s)")
    make.add_argument("--language", choices=("en", "zh"), default="en", help="of bundled sites (default: %(default)s)")
    make.add_argument("--host", action="append", default=[], help="one more host that a live site's pages load from")
    bounds = CrawlBounds()
    make.add_argument("--pages", type=int, default=bounds.pages, help="most pages of a site (default: %(default)s)")
    make.add_argument(
        "--depth", type=int, default=bounds.depth, help="most links from the first (default: %(default)s)"
    )
    make.add_argument("--seconds", type=float, default=bounds.seconds, help="longest crawl (default: %(default)s)")
    make.add_argument("--bytes", type=int, default=bounds.max_bytes, help="most bytes loaded (default: %(default)s)")
    make.set_defaults(run=_run_make)
    check = commands.add_parser("check", help="prove every task of a file again")
    check.add_argument("file", type=Path, help="tasks, JSON Lines")
    check.set_defaults(run=_run_check)


def _run_make(given: argparse.Namespace) -> int:
    if bool(given.replies) == bool(given.model_url):
        return _fail("give either --model-url and --model, or --replies")
    if given.model_url and not given.model:
        return _fail("--model-url needs --model")
    try:
        told = asyncio.run(_make(given))
    except FAILURES as failure:
        return _fail(str(failure))
    print(json.dumps({name: value for name, value in told.items() if name != "by_site"}, ensure_ascii=False))
    return 0 if told["kept"] else 1


async def _make(given: argparse.Namespace) -> dict[str, object]:
    bounds = CrawlBounds(pages=given.pages, depth=given.depth, seconds=given.seconds, max_bytes=given.bytes)
    progress = Progress.open(given.out, _options(given), keeps_transcript=bool(given.model_url))
    left = [name for name in dict.fromkeys(given.sites) if name not in progress.reports]
    served = _open_served(given)
    for name in given.sites:
        if name not in left:
            _progress(f"{name}: finished before")
    if left:
        async with open_engine() as (engine, folder):
            for number, name in enumerate(left, 1):
                async with _open_site(name, given, folder / f"site-{number}") as source:
                    model = served or _read_recorded(given.replies, source.name)
                    transcribed = TranscribedModel(model, given.out / TRANSCRIPT, resume=served is not None)
                    made, found = await make_site_tasks(
                        engine, source, transcribed, bounds=bounds, wanted=given.tasks, report=_progress
                    )
                write_site(given.out, made, found)
                progress.add(name, made)
                _write_report(given, progress)
    if served is not None:
        await served.aclose()
    return _write_report(given, progress)


def _write_report(given: argparse.Namespace, progress: Progress) -> dict[str, object]:
    return write_report(given.out, list(progress.reports.values()), given.model or "recorded replies")


def _options(given: argparse.Namespace) -> dict[str, JsonValue]:
    """What must not change while a folder is made; further sites may be added."""
    names = ("model", "tasks", "seed", "level", "language", "host", "pages", "depth", "seconds", "bytes")
    return {name: getattr(given, name) for name in names}


def _run_check(given: argparse.Namespace) -> int:
    try:
        unproven = asyncio.run(_check(given.file))
    except FAILURES as failure:
        return _fail(str(failure))
    return 1 if unproven else 0


async def _check(path: Path) -> int:
    """How many tasks of the file are not proven any more."""
    tasks, unproven = read_task_file(path), 0
    async with open_engine() as (engine, folder):
        for number, task in enumerate(tasks, 1):
            told: dict[str, object] = {"id": task.id, "proven": True}
            try:
                async with open_source(task, folder / f"site-{number}") as source:
                    told["acts"] = (await prove(engine, source, task)).acts
            except Unproven as fault:
                told |= {"proven": False, "code": fault.code, "reason": fault.reason}
                unproven += 1
            print(json.dumps(told, ensure_ascii=False), flush=True)
    print(json.dumps({"tasks": len(tasks), "proven": len(tasks) - unproven}))
    return unproven


@asynccontextmanager
async def _open_site(name: str, given: argparse.Namespace, folder: Path) -> AsyncIterator[SiteSource]:
    if "://" not in name:
        yield open_bundled(name, seed=given.seed, level=given.level, language=given.language)
        return
    async with open_live(name, folder, tuple(given.host)) as source:
        yield source


def _open_served(given: argparse.Namespace) -> ServedModel | None:
    if not given.model_url:
        return None
    return open_served_model(given.model_url, given.model)


def _read_recorded(path: Path, site: str) -> LanguageModel:
    """The replies for a site; none where a folder has none, which is no fault of a site that is rejected unasked."""
    file = path / f"{site}.jsonl" if path.is_dir() else path
    return RecordedModel(read_replies(file) if file.exists() or not path.is_dir() else [])


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 2
