"""What people wait for the next candidates with a twin and without, on the demo's desktops, phones and browsers."""

import asyncio
from pathlib import Path
from typing import Any

from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.speculation.comparisons import compare_painted, compare_real, find_planted
from benchmarks.parts.speculation.episodes import Episode, Played, first_candidate
from benchmarks.parts.speculation.kinds import Kind, kinds, machines, policy_of
from protocol.trajectory.tasks import Task
from vm_bridge.sandbox import Sandbox

POLICY_SECONDS, READING_SECONDS = 1.0, 1.5
MOST_STEPS, TASKS_OF_A_KIND = 6, 4


async def measure(folder: Path) -> dict[str, Any]:
    """Waits with and without, how often the guess held, and how many episodes came out differently."""
    figures = await compare_painted() | await find_planted() | await compare_real(folder / "compared")
    waits: dict[bool, list[float]] = {True: [], False: []}
    beyond_act: list[float] = []
    held: list[bool] = []
    by_kind: dict[str, float] = {}
    for kind in kinds(TASKS_OF_A_KIND):
        of_kind: list[bool] = []
        async with machines(kind, folder / kind.image) as (machine, twin):
            for task in kind.tasks:
                plain = await _play(kind, task, machine, None)
                ahead = await _play(kind, task, machine, twin)
                timed = [one for one in zip(ahead.waits, ahead.acts, ahead.held, strict=True) if one[2]]
                waits[True] += [ms for ms, _act, _held in timed]
                beyond_act += [ms - act for ms, act, _held in timed]
                waits[False] += plain.waits
                of_kind += ahead.held
        held += of_kind
        by_kind[kind.image] = round(sum(of_kind) / len(of_kind), 3)
        print_progress(f"{kind.image}: the guess held at {sum(of_kind)} of {len(of_kind)} steps")
    return {
        "accept_to_proposals_p50_ms": percentile(waits[True], 0.5),
        "accept_to_proposals_beyond_act_p50_ms": percentile(beyond_act, 0.5),
        "accept_to_proposals_without_speculation_p50_ms": percentile(waits[False], 0.5),
        "speculation_hit_share": round(sum(held) / len(held), 3),
        "speculation_hit_share_by_kind": by_kind,
        "speculation_compared": figures["speculation_compared_painted"] + figures["speculation_compared_real"],
        "speculation_wrong": figures["speculation_wrong_painted"] + figures["speculation_wrong_real"],
        **figures,
    }


async def _play(kind: Kind, task: Task, machine: Sandbox, twin: Sandbox | None) -> Played:
    holder: list[Episode] = []
    episode = Episode(task, machine, twin, policy_of(kind, lambda: holder[0].machine, POLICY_SECONDS))
    holder.append(episode)
    return await episode.play(first_candidate(MOST_STEPS), lambda _: asyncio.sleep(READING_SECONDS))
