"""Attempts of the nano policy at live pages with the weights that are served: drawn for the trainer, or to measure."""

import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from agent_backend.policy.reload import ModelServerClient
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.page_attempts import run_page_attempts
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.browser.steps import machines
from benchmarks.parts.figures import print_progress
from benchmarks.parts.model_servers.launcher import run_server
from benchmarks.parts.nano.trials import Trial, trials
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.browser.host import BrowserSandbox

START = ROOT / "trainer" / "nano" / "checkpoint"
MODEL = "nano"
END_WITH_PARENT: tuple[str | Path, ...] = ("setpriv", "--pdeathsig", "KILL")
"""What is started so is gone with this process: two trainers of one run would take each other's attempts."""
CONTEXT = 2048
"""Tokens of a prompt and its reply."""
TOKENS = 64
"""A reply may have: a click has eight."""
TIMEOUT_SECONDS = 300.0
Take = Callable[[AttemptResult], None]
MAX_TRIES = 6
"""How often a page that fails is opened."""


class PagesFailed(Exception):
    """Pages failed again and again."""


class Player:
    """Plays on some machines, with a server whose weights are exchanged."""

    def __init__(self, sandboxes: Sequence[BrowserSandbox], url: str, acts: int | None, level: int = 1) -> None:
        """An attempt may have so many acts; None: as many as the benchmark gives its task. `level`: of drills."""
        self._sandboxes, self._url = sandboxes, url
        self._acts, self._trials = acts, {one.key: one for one in trials(level=level)}
        self._server = ModelServerClient(url)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    async def weights(self, folder: Path, version: str) -> None:
        """Play with these from now on. Raises PolicyError."""
        await self._server.reload(str(folder), version)

    def tasks(self, pages: Sequence[tuple[str, int]]) -> list[Task]:
        """These pages, by the names that the benchmark's figures have, each as often as it comes. Raises KeyError."""
        return [self._task(self._trials[key], seed) for key, seed in pages]

    def _task(self, trial: Trial, seed: int) -> Task:
        return trial.task(seed).model_copy(update={"max_steps": self._acts or trial.most})

    async def sample(self, target: Path, tasks: Sequence[Task], version: str, temperature: float) -> None:
        """A folder of attempts for the trainer; one that was begun is gone on with. Raises PagesFailed, PolicyError."""
        folder = TrajectoryFolderWriter(
            target, {"origin": "rollout", "policy": version, "tasks": [task.id for task in tasks]}
        )
        for left in range(MAX_TRIES, -1, -1):
            missing = Counter(task.id for task in tasks) - Counter(task.id for task in folder.tasks_by_id.values())
            todo = [task for task in {task.id: task for task in tasks}.values() for _ in range(missing[task.id])]
            if not todo:
                folder.finish(at=datetime.now(UTC))
                return
            if left:
                await self._attempted(todo, version, temperature, lambda made: _store_attempt(folder, made))
        raise PagesFailed(f"{len(todo)} attempts of {target.name} could not be made")

    async def won(self, tasks: Sequence[Task], version: str) -> list[bool]:
        """Which pages are solved by the likeliest replies, in order. Raises PagesFailed, PolicyError."""
        known = dict[str, bool]()

        def take(made: AttemptResult) -> None:
            if made.trajectory is not None:
                known[made.trajectory.task.id] = made.trajectory.verdict is not None and bool(
                    made.trajectory.verdict.success
                )

        for _ in range(MAX_TRIES):
            if todo := [task for task in tasks if task.id not in known]:
                await self._attempted(todo, version, 0.0, take)
        if todo := [task for task in tasks if task.id not in known]:
            raise PagesFailed(f"{len(todo)} pages could not be played")
        return [known[task.id] for task in tasks]

    async def _attempted(self, tasks: Sequence[Task], version: str, temperature: float, take: Take) -> None:
        policy = OpenAIPolicy(
            PolicyEndpoint(
                base_url=f"{self._url}/v1",
                model=MODEL,
                dialect="ui_tars_1_5",
                name="nano",
                revision=version,
                sampling=SamplingParams(n=1, temperature=temperature, max_tokens=TOKENS),
                timeouts=RequestTimeouts(token=TIMEOUT_SECONDS, total=TIMEOUT_SECONDS),
                budget=HistoryBudget(images=1, stride=1),
            )
        )
        try:
            await run_page_attempts(self._sandboxes, tasks, lambda _: policy, take, _report_lost_page)
        finally:
            await policy.aclose()


@asynccontextmanager
async def run_player(
    weights: Path, folder: Path, parallel: int, acts: int | None, level: int = 1
) -> AsyncIterator[Player]:
    """A player with so many machines and a server of these weights, while the block runs. `folder` is there,
    for their logs and profiles."""
    python, port = ensure_trainer(Console()), free_port()
    named = ("--served-model-name", MODEL, "--port", str(port), "--max-model-len", str(CONTEXT))
    command = [*END_WITH_PARENT, python, "-m", "trainer.serve", weights, *named, "--threads", "1", "--dev"]
    with run_server(command, folder, environment=dict(os.environ), workdir=ROOT, port=port) as url:
        async with machines(folder / "browsers", parallel) as sandboxes:
            player = Player(sandboxes, url, acts, level)
            try:
                yield player
            finally:
                await player.aclose()


def _store_attempt(folder: TrajectoryFolderWriter, made: AttemptResult) -> None:
    assert made.trajectory is not None
    folder.add(made.trajectory, made.blob)


def _report_lost_page(task: Task, why: str) -> None:
    print_progress(f"{task.id} is played again: {why}")
