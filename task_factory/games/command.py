"""`./pilothouse factory games`: make games, check them, bring in games from elsewhere."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agent_backend.errors import PolicyError
from task_factory.games.adapter import adapt_game
from task_factory.games.exploits import find_working_exploits
from task_factory.games.faults import Fault
from task_factory.games.making import REPAIRS, MadeGame, make_game
from task_factory.games.origin import BY_RECORDED_REPLIES, author_of, find_origin_faults
from task_factory.games.validation import PLAYOUTS, GameReport, validate_game
from task_factory.language_models import LanguageModel, RecordedModel, open_served_model, read_transcript
from vm_bridge.browser import Engine
from vm_bridge.config import browser_unsandboxed
from vm_bridge.suites.web import GAMES, MADE_GAMES
from vm_bridge.suites.web.task_folder import TaskFolder


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `games` and what it can do."""
    games = subparsers.add_parser("games", help="games that a language model writes")
    commands = games.add_subparsers(dest="games_command", required=True)
    makes = commands.add_parser("make", help="have a model write games, and keep those that are accepted")
    makes.add_argument("--model-url", default="", help="an OpenAI-compatible address, such as http://host:8000/v1")
    makes.add_argument("--model", default="", help="the model's name there")
    makes.add_argument(
        "--replies", type=Path, nargs="+", default=(), help="replies of before, a file a game: .md, .jsonl"
    )
    makes.add_argument("--out", type=Path, required=True, help="where accepted games go")
    makes.add_argument("--idea", default="", help="what the game shall be about")
    makes.add_argument("--count", type=int, default=1, help="the number of games")
    makes.add_argument("--repairs", type=int, default=REPAIRS, help="how often a model gets the faults of its reply")
    makes.set_defaults(run=_make)
    checks = commands.add_parser("check", help="check games again, and try to cheat in them")
    checks.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    checks.add_argument("--playouts", type=int, default=PLAYOUTS, help="random games in each of three runs")
    checks.add_argument("--no-exploits", action="store_true", help="leave out the attempts to cheat")
    checks.set_defaults(run=_check)
    adapts = commands.add_parser("adapt", help="make a task of a game with window.gameAPI")
    adapts.add_argument("folder", type=Path, help="the game's page, with its index.html")
    adapts.add_argument("--about", type=Path, required=True, help="JSON: name, title, instructions and more")
    adapts.add_argument("--out", type=Path, required=True, help="the folder in which the task's folder is made")
    adapts.set_defaults(run=_adapt)


def _make(options: argparse.Namespace) -> int:
    if bool(options.replies) == bool(options.model_url and options.model):
        print("Name a model with --model-url and --model, or files with --replies.", file=sys.stderr)
        return 2
    return asyncio.run(_make_games(options))


async def _make_games(options: argparse.Namespace) -> int:
    wanted = len(options.replies) or options.count
    made = list[MadeGame]()
    async with open_engines() as (first, second):
        for number in range(wanted):
            model, author = _model(options, number)
            names = sorted({*GAMES.folders, *MADE_GAMES.folders, *_games_in(options.out)} - _names_replaced(options))
            print(f"▸ game {number + 1} of {wanted} by {model.name}", file=sys.stderr, flush=True)
            try:
                made.append(
                    await make_game(
                        model,
                        options.out,
                        lambda folder: validate_game(folder, first, second),
                        author=author,
                        idea=options.idea,
                        names=names,
                        repairs=options.repairs,
                        on_round=_print_round,
                    )
                )
            except (PolicyError, LookupError) as error:
                print(f"✗ no reply: {error}", file=sys.stderr)
                made.append(MadeGame())
    accepted = [one for one in made if one.folder]
    print(json.dumps({"games": wanted, "accepted": [str(one.folder) for one in accepted]}, ensure_ascii=False))
    return 0 if len(accepted) == wanted else 1


def _model(options: argparse.Namespace, number: int) -> tuple[LanguageModel, str]:
    """Who writes the next game, and what origin.json says of it."""
    if options.replies:
        return read_replies(options.replies[number]), BY_RECORDED_REPLIES
    return open_served_model(options.model_url, options.model), author_of(options.model)


def read_replies(path: Path) -> RecordedModel:
    """A file's replies: one in Markdown, or those of a transcript. Raises OSError, ValidationError."""
    if path.suffix != ".jsonl":
        return RecordedModel([path.read_text()])
    exchanges = read_transcript(path)
    return RecordedModel([one.reply for one in exchanges], exchanges[0].model if exchanges else "recorded replies")


def _games_in(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/manifest.json")}


def _names_replaced(options: argparse.Namespace) -> set[str]:
    """Bundled games that may be made again elsewhere from their own replies."""
    return set(MADE_GAMES.folders) - _games_in(options.out) if options.replies else set()


def _print_round(number: int, faults: Sequence[Fault]) -> None:
    print(f"  reply {number + 1}: {'accepted' if not faults else f'{len(faults)} faults'}", file=sys.stderr, flush=True)
    for fault in faults:
        print(f"    {fault}", file=sys.stderr, flush=True)


def _check(options: argparse.Namespace) -> int:
    return asyncio.run(_check_games(options))


async def _check_games(options: argparse.Namespace) -> int:
    failed = 0
    async with open_engines() as (first, second):
        for path in options.folders:
            report = await validate_game(path.resolve(), first, second, playouts=options.playouts)
            summary = await _add_exploits(path.resolve(), report, first, with_exploits=not options.no_exploits)
            print(json.dumps(summary, ensure_ascii=False), flush=True)
            failed += not summary["ok"]
    print(f"{len(options.folders) - failed} of {len(options.folders)} games are accepted", flush=True)
    return 1 if failed else 0


async def _add_exploits(path: Path, report: GameReport, engine: Engine, *, with_exploits: bool) -> dict[str, object]:
    if not report.faults:
        report.faults.extend(find_origin_faults(TaskFolder.read(path, MADE_GAMES.kit)))
    summary = report.summary()
    if not report.faults and with_exploits:
        tried, working = await find_working_exploits(engine, TaskFolder.read(path, MADE_GAMES.kit), report.experts)
        summary |= {"exploits": tried, "exploits_working": working, "ok": not working}
    return summary


def _adapt(options: argparse.Namespace) -> int:
    try:
        print(adapt_game(options.folder, options.about, options.out))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


@asynccontextmanager
async def open_engines() -> AsyncIterator[tuple[Engine, Engine]]:
    """Two browser processes. Raises BrowserFailed."""
    with tempfile.TemporaryDirectory(prefix="games-") as place:
        unsandboxed, engines = browser_unsandboxed(os.environ), list[Engine]()
        try:
            for name in ("first", "second"):
                engines.append(await Engine.start(Path(place) / name, exact=True, unsandboxed=unsandboxed))
            yield engines[0], engines[1]
        finally:
            for engine in engines:
                await engine.close()
