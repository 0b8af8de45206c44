"""Whether anything that an attempt at a sealed question writes to the disk has its words in it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.episode.limits import RunnerLimits
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult, run_episode
from agent_backend.rollout.rewards import RewardDecider, rewarded
from agent_backend.rollout.task_sources import read_tasks
from agent_backend.trajectory_folders import TrajectoryFolderWriter, read_trajectories
from benchmarks.parts.published.adapters import HOST, browser, website
from benchmarks.parts.published.own_tasks import ANSWER, MARKER, QUESTION, write_questions
from benchmarks.parts.published.roles import scripted_policy
from benchmarks.parts.published.stand_in_judge import StandInJudge
from protocol.actions.types import Action, Click, Finish, TypeText
from protocol.trajectory.tasks import Task

WORDS = (MARKER, "lighthouse keeper", ANSWER, ANSWER.casefold())


async def sealed_texts_found(scratch: Path) -> int:
    """Plays a question whose words the policy repeats, writes it down as a rollout does, and counts the files in which
    they stand. Raises RuntimeError where the attempt is not read back as it was."""
    judge = StandInJudge()
    decider = RewardDecider((judge.open("reference"),), scratch / "out.judgements.jsonl")
    async with website() as port, browser(scratch) as machine:
        hosts = (f"{HOST}:{port}",)
        (task,) = read_tasks(write_questions(scratch / "questions", f"http://{HOST}:{port}/", hosts))
        answer = Finish(answer=f"It is {ANSWER}, as {MARKER} is green")
        acts: list[Action] = [answer]

        async def attempt(task: Task) -> AttemptResult:
            return await run_episode(machine, task, scripted_policy(acts), RunnerLimits())

        await rewarded(attempt, decider)(task)
        found = sum(1 for _ in _files_with(scratch, WORDS))  # the machine has its logs still
        acts[:0] = [Click(x=200, y=350), TypeText(text=QUESTION)]
        result = await rewarded(attempt, decider)(task)
    await decider.aclose()
    assert result.trajectory is not None, result.error
    writer = TrajectoryFolderWriter(scratch / "out", {})
    writer.add(result.trajectory, result.blob)
    AttemptLog(scratch / "out.attempts.jsonl").add(result.trajectory)
    writer.finish(at=datetime.now(UTC))
    ((_, read_back),) = read_trajectories([scratch / "out"])
    if (read_back.task, read_back.answer) != (result.trajectory.task, result.trajectory.answer):
        raise RuntimeError("a sealed attempt is not read back as it was")
    return found + sum(1 for _ in _files_with(scratch, WORDS))


def _files_with(folder: Path, words: tuple[str, ...]) -> Iterator[Path]:
    """Files that hold one of the words, in whatever part of them."""
    wanted = [word.encode() for word in words]
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file() and any(word in path.read_bytes() for word in wanted):
                yield path
