"""What the experiment tells: its table, and what is won and lost page by page."""

import statistics
from collections.abc import Iterator, Sequence

from benchmarks.turns.plan import ARMS, TASKS, Figures, Pages
from protocol.evaluation.statistics import sign_test

Pair = tuple[Pages, Pages]


def rate(pages: Pages) -> float:
    """Solved, of all attempts."""
    return statistics.mean(solved for each in pages.values() for solved in each.values())


def render_table(found: Sequence[Figures]) -> str:
    """A line an arm and turn: mean and range over its seeds."""
    lines = [
        "| arm | turn | seeds | by hand | taken | overridden | " + " | ".join(TASKS) + " | all |",
        "|---|" + "---|" * (len(TASKS) + 6),
    ]
    start = starting_result(found)
    if start is not None:
        lines.append(
            "| | 0 | | | | | " + " | ".join(f"{rate({t: start[t]}):.2f}" for t in TASKS) + f" | {rate(start):.2f} |"
        )
    for arm in ARMS:
        for turn in sorted({one.cell.turn for one in found}):
            rows = [one for one in found if (one.cell.arm, one.cell.turn) == (arm, turn)]
            if rows:
                lines.append(_line(arm, turn, rows))
    return "\n".join(lines)


def compare_arms(found: Sequence[Figures]) -> str:
    """Lines of what came after each turn, against the start and the arms against each other, seed by seed and page by
    page: pages that only the one and only the other solved, and the sign test. Its pages are counted as if each told
    something of its own, so that it says whether these weights differ, not whether other trainings would."""
    lines = ["| turn | | against | seeds | difference, seed by seed | only the one | only the other | sign test |"]
    lines.append("|---|" + "---|" * 7)
    start = starting_result(found)
    for turn in sorted({one.cell.turn for one in found}):
        after = {(one.cell.arm, one.cell.seed): one.after for one in found if one.cell.turn == turn}
        for index, arm in enumerate(ARMS):
            mine = {seed: pages for (name, seed), pages in sorted(after.items()) if name == arm}
            if start is not None and mine:
                lines.append(_compare_pairs(turn, arm, "the start", [(pages, start) for pages in mine.values()]))
            for other in ARMS[index + 1 :]:
                pairs = [(pages, after[other, seed]) for seed, pages in mine.items() if (other, seed) in after]
                if pairs:
                    lines.append(_compare_pairs(turn, arm, other, pairs))
    return "\n".join(lines)


def starting_result(found: Sequence[Figures]) -> Pages | None:
    """What all began with, where it was tried."""
    return next((one.before for one in found if one.before is not None and one.cell.turn == 1), None)


def _compare_pairs(turn: int, arm: str, other: str, pairs: Sequence[Pair]) -> str:
    unequal = [one for pair in pairs for one, two in _pages_of_both(pair) if one != two]
    each = ", ".join(f"{statistics.mean(one - two for one, two in _pages_of_both(pair)):+.2f}" for pair in pairs)
    won, lost = sum(unequal), len(unequal) - sum(unequal)
    told = str(turn), arm, other, str(len(pairs)), each, str(won), str(lost), f"{sign_test(won, lost):.2g}"
    return f"| {' | '.join(told)} |"


def _pages_of_both(pair: Pair) -> Iterator[tuple[bool, bool]]:
    """Of each page that both tried."""
    for name, pages in pair[0].items():
        for seed in pages.keys() & pair[1].get(name, {}).keys():
            yield pages[seed], pair[1][name][seed]


def _line(arm: str, turn: int, rows: Sequence[Figures]) -> str:
    overridden = [share for one in rows if (share := one.overridden) is not None]
    tasks = [f"{statistics.mean(rate({name: one.after[name]}) for one in rows):.2f}" for name in TASKS]
    told = [
        *(arm, str(turn), str(len(rows))),
        f"{statistics.mean(one.own for one in rows):.0f}",
        f"{statistics.mean(one.accepted for one in rows):.0f}",
        _format_range(overridden) if overridden else "",
        *tasks,
        _format_range([rate(one.after) for one in rows]),
    ]
    return f"| {' | '.join(told)} |"


def _format_range(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"
