"""Compares the finished runs of a folder: runs over the same tasks and verifiers, best score first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_backend.benchmark.manifest import ATTEMPTS_FOLDER, RESULT_FILE, TASK_SETS, InvalidManifest
from agent_backend.evaluation.report_table import align_columns, format_number
from agent_backend.rollout.attempt_log import read_records
from protocol.evaluation.benchmarks import BenchmarkResult, GameScore, Leaderboard, LeaderboardRow
from protocol.evaluation.reports import Finding
from protocol.evaluation.statistics import classify_difference, sign_test, wilson_rate

HEADER = ("run", "success", "95 %", "score", "95 %", "normalised", "human", "steps", "cost", "against the first", "how")


def read_results(folder: Path) -> dict[Path, BenchmarkResult]:
    """The result of every finished run below a folder. Raises InvalidManifest."""
    found = {}
    for path in sorted(folder.glob(f"*/{RESULT_FILE}")):
        try:
            found[path.parent] = BenchmarkResult.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise InvalidManifest(f"{path} is no result of a run: {error.errors()[0]['msg']}") from None
    return found


def build_leaderboards(folder: Path) -> tuple[Leaderboard, ...]:
    """A leaderboard for each set of tasks and verifiers. Raises InvalidManifest and InvalidFolder."""
    groups: defaultdict[tuple[str, str], list[tuple[Path, BenchmarkResult]]] = defaultdict(list)
    for run, result in read_results(folder).items():
        groups[result.manifest.tasks_sha256, result.verifiers_sha256].append((run, result))
    return tuple(_leaderboard(runs) for _, runs in sorted(groups.items()))


def _leaderboard(runs: list[tuple[Path, BenchmarkResult]]) -> Leaderboard:
    ordered = sorted(runs, key=lambda each: (-_score(each[1]), each[0].name))
    first = _outcomes(ordered[0][0])
    result = ordered[0][1]
    games = normalise_games([each for _, each in ordered])
    return Leaderboard(
        name=result.manifest.name,
        tasks=len(result.manifest.tasks),
        tasks_sha256=result.manifest.tasks_sha256,
        verifiers_sha256=result.verifiers_sha256,
        rows=tuple(
            _row(run, each, first if place else None, played)
            for place, ((run, each), played) in enumerate(zip(ordered, games, strict=True))
        ),
    )


def _score(result: BenchmarkResult) -> float:
    """The sort key of runs: the mean score, else the success rate."""
    return float(_overall(result)["score"] or _overall(result)["success"])


def _overall(result: BenchmarkResult) -> dict[str, Any]:
    """Metrics over all attempts: scores weigh each task equally, the success rate weighs each attempt equally."""
    suites = result.evaluation.suites
    if len(suites) == 1:
        one = suites[0]
        rate = one.successes
        means = {
            name: getattr(one, name) for name in ("score", "score_low", "score_high", "normalised", "human", "steps")
        }
        return {**means, "success": rate.rate, "success_low": rate.low, "success_high": rate.high}
    tasks = result.evaluation.tasks
    attempts = sum(task.successes.attempts for task in tasks)
    rate = wilson_rate(sum(task.successes.successes for task in tasks), max(1, attempts))
    means = {name: _mean(getattr(task, name) for task in tasks) for name in ("score", "normalised", "human", "steps")}
    return {
        **means,
        **{"score_low": None, "score_high": None},
        **{"success": rate.rate, "success_low": rate.low, "success_high": rate.high},
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def normalise_games(results: Sequence[BenchmarkResult]) -> list[tuple[GameScore, ...]]:
    """The scores of each run's games; empty for runs that are not over a set of games.

    As in LMGame-Bench's own evaluation, the raw scores of a game map linearly to 1 (the lowest) to 100 (the highest).
    Runs with the harness and runs without it are normalised apart.
    """
    raw = [_raw_scores(result) for result in results]
    harness = [result.manifest.harness for result in results]

    def score(place: int, name: str) -> GameScore:
        beside = [
            raw[other][name] for other, used in enumerate(harness) if used == harness[place] and name in raw[other]
        ]
        low, high, own = min(beside), max(beside), raw[place][name]
        return GameScore(name=name, raw=own, normalised=1.0 if low == high else 1 + 99 * (own - low) / (high - low))

    return [tuple(score(place, name) for name in names) for place, names in enumerate(raw)]


def _raw_scores(result: BenchmarkResult) -> dict[str, float]:
    """The mean points of each game of a set of games, over all levels and seeds alike."""
    if result.manifest.name not in TASK_SETS:
        return {}
    tasks = result.evaluation.tasks
    found = {}
    for name in TASK_SETS[result.manifest.name][1]:
        counted = [
            (task.points, task.successes.attempts) for task in tasks if task.name == name and task.points is not None
        ]
        if attempts := sum(weight for _, weight in counted):
            found[name] = sum(points * weight for points, weight in counted) / attempts
    return found


def _row(
    run: Path, result: BenchmarkResult, first: Mapping[str, bool] | None, games: tuple[GameScore, ...]
) -> LeaderboardRow:
    evaluation, overall = result.evaluation, _overall(result)
    against = _against(_outcomes(run), first) if first is not None else None
    policy = result.manifest.plan["policy"]
    assert isinstance(policy, dict), "a plan names its policy"
    return LeaderboardRow(
        run=run.name,
        policy=str(policy["name"]),
        revision=str(policy["revision"]),
        **{**overall, "steps": overall["steps"] or 0.0},
        cost_usd=evaluation.cost_usd,
        attempts=evaluation.attempts,
        infrastructure=evaluation.infrastructure,
        missing=result.missing,
        harness=result.manifest.harness,
        games=games,
        games_mean=_mean(game.normalised for game in games),
        finding=against[0] if against is not None else None,
        chance=against[1] if against is not None else None,
        how=_how(result),
        finished_at=result.finished_at,
    )


def _outcomes(run: Path) -> dict[str, bool]:
    """Whether each attempt of a run was solved, by task and seed. Attempts without an outcome are left out."""
    records = read_records(run / ATTEMPTS_FOLDER)
    return {record.task: record.outcome == "success" for record in records if record.outcome in ("success", "failure")}


def _against(outcomes: Mapping[str, bool], first: Mapping[str, bool]) -> tuple[Finding, float]:
    """Compares two runs by the exact sign test on the attempts that only one of them solved."""
    both = outcomes.keys() & first.keys()
    won = sum(outcomes[task] and not first[task] for task in both)
    lost = sum(first[task] and not outcomes[task] for task in both)
    chance = sign_test(won, lost)
    return classify_difference(won - lost, chance), chance


def _how(result: BenchmarkResult) -> str:
    """What differs between runs of the same tasks, for people."""
    plan = result.manifest.plan
    policy, sampling, memory = plan["policy"], plan.get("sampling"), plan.get("memory")
    parts = [str(policy["dialect"])] if isinstance(policy, dict) else []
    if isinstance(sampling, dict):
        parts.append(f"temperature {sampling.get('temperature')}")
    if isinstance(memory, dict) and memory.get("images") is not None:
        parts.append(f"{memory['images']} pictures")
    if plan.get("harness"):
        parts.append(f"harness ({plan['harness']})")
    if plan.get("max_steps"):
        parts.append(f"{plan['max_steps']} steps")
    return ", ".join((*parts, result.manifest.software))


def render_leaderboards(boards: Sequence[Leaderboard]) -> str:
    """All leaderboards as plain text for people."""
    return "\n\n".join(_render(board) for board in boards) or "no finished runs"


def _render(board: Leaderboard) -> str:
    sums = f"tasks {board.tasks_sha256[:12]}, verifiers {board.verifiers_sha256[:12]}"
    title = f"{board.name}: {board.tasks} attempts, {sums}"
    lines = [title, *align_columns([HEADER, *map(_cells, board.rows)])]
    if any(row.games for row in board.rows):
        lines += ["", *align_columns(_game_table(board.rows))]
    return "\n".join(lines)


def _game_table(rows: Sequence[LeaderboardRow]) -> list[tuple[str, ...]]:
    """A column for each game: the raw score, and the normalised one in brackets."""
    names = tuple(dict.fromkeys(game.name for row in rows for game in row.games))
    table = [("run", "harness", *names, "mean")]
    for row in rows:
        cells = {game.name: f"{game.raw:.1f} ({game.normalised:.0f})" for game in row.games}
        mean = format_number(row.games_mean, 1)
        table.append((row.run, "yes" if row.harness else "no", *(cells.get(name, "–") for name in names), mean))
    return table


def _cells(row: LeaderboardRow) -> tuple[str, ...]:
    lost = f", {row.infrastructure} lost" if row.infrastructure else ""
    missing = f", {row.missing} missing" if row.missing else ""
    against = "–" if row.finding is None else f"{row.finding}, p {row.chance:.3g}"
    interval = (
        f"{format_number(row.score_low, 2)}–{format_number(row.score_high, 2)}" if row.score_low is not None else "–"
    )
    return (
        row.run,
        f"{100 * row.success:.1f}",
        f"{100 * row.success_low:.1f}–{100 * row.success_high:.1f}",
        format_number(row.score, 2),
        interval,
        format_number(row.normalised, 2),
        format_number(row.human, 1),
        format_number(row.steps, 1),
        "–" if row.cost_usd is None else f"${row.cost_usd:.2f}",
        against,
        f"{row.how}{lost}{missing}",
    )
