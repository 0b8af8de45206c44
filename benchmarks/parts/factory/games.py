"""Games: those that are kept are checked again and cheated in, and replies with planted defects must be refused."""

import tempfile
from pathlib import Path

from benchmarks.parts.factory.planted_games import make_replies
from benchmarks.parts.figures import floor_share, print_progress
from task_factory.games.command import open_engines
from task_factory.games.exploits import find_working_exploits
from task_factory.games.making import make_game
from task_factory.games.origin import BY_RECORDED_REPLIES, find_origin_faults
from task_factory.games.validation import GameReport, validate_game
from task_factory.language_models import RecordedModel
from vm_bridge.browser import Engine
from vm_bridge.suites.web import MADE_GAMES

DEFECT_PLAYOUTS = 200
"""Random games in each run of a game with a planted defect."""


async def measure_games() -> dict[str, object]:
    """Every figure of games, in two browser processes. Raises BrowserFailed."""
    async with open_engines() as (first, second):
        return await _measure_kept(first, second) | await _measure_planted(first, second)


async def _measure_kept(first: Engine, second: Engine) -> dict[str, object]:
    reports, tried, working = list[GameReport](), list[int](), list[str]()
    for name, folder in MADE_GAMES.folders.items():
        print_progress(f"the game {name} is played and cheated in")
        report = await validate_game(folder.path, first, second)
        report.faults.extend(find_origin_faults(folder))
        reports.append(report)
        if not report.faults:
            count, missed = await find_working_exploits(first, folder, report.experts)
            tried.append(count)
            working += [f"{name}: {one}" for one in missed]
    total = sum(tried)
    return {
        "games_accepted": sum(not report.faults for report in reports),
        "games_refused": [f"{report.name}: {fault}" for report in reports for fault in report.faults],
        "game_playouts": min(report.playouts for report in reports),
        "game_exploits": min(tried, default=0),
        "game_exploits_total": total,
        "game_exploits_caught_share": floor_share(total - len(working), total),
        "game_exploits_missed": working,
        "hash_chain_equal": all(report.chains_equal for report in reports),
        "verifier_ms": max(round(report.verifier_ms or 0.0, 2) for report in reports),
    }


async def _measure_planted(first: Engine, second: Engine) -> dict[str, object]:
    print_progress("replies with planted defects are checked")

    async def validate(folder: Path) -> GameReport:
        return await validate_game(folder, first, second, playouts=DEFECT_PLAYOUTS)

    missed, planted = list[str](), 0
    with tempfile.TemporaryDirectory(prefix="planted-") as place:
        for defect, reply in make_replies():
            planted += 1
            model, out = RecordedModel([reply]), Path(place) / str(planted)
            made = await make_game(model, out, validate, author=BY_RECORDED_REPLIES, repairs=0)
            codes = [fault.code for fault in made.rounds[0]]
            if made.folder is not None or defect.code not in codes:
                missed.append(f"{defect.name}: {', '.join(codes) or 'accepted'}, not {defect.code}")
    figures = {"planted_defects": planted, "planted_defects_refused": planted - len(missed)}
    return {**figures, "planted_defects_missed": missed}
