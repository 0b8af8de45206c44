"""A stream of attempts: which come next, how far it runs ahead, what resumes it, and when it gives up."""

import asyncio
import itertools
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_backend.errors import PolicyRejected, PolicyUnavailable
from agent_backend.policy.reload import ModelServerClient
from agent_backend.rollout import streaming
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.streaming import (
    MAX_ROUNDS,
    AttemptStream,
    AttemptsUnusable,
    InboxBusy,
    NewestWeights,
    StreamPlan,
    attempt_name,
)
from agent_backend.trajectory_folders import read_trajectories
from protocol.training.inbox import (
    PROCESSED_FOLDER,
    REJECTED_FOLDER,
    SHORTAGE_FILE,
    AttemptShortage,
    waiting_folders,
)
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.rollout.test_runner import finished
from tests.waiting import eventually
from vm_bridge.errors import MachineGone


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "POLL_SECONDS", 0.001)


class Server(ModelServerClient):
    """Takes every checkpoint that is there, and notes which."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.refuses = ""

    async def reload(self, weights: str, version: str, *, freeze: bool = False) -> None:
        if version == self.refuses or not await asyncio.to_thread(Path(weights).exists):
            raise PolicyRejected(f"{version} cannot be read")
        self.loaded.append(version)


@dataclass
class Player:
    """A stream whose attempts end when the test lets them."""

    folder: Path
    server: Server = field(default_factory=Server)
    begun: list[str] = field(default_factory=list)
    """Ids of tasks, in the order in which attempts at them were begun."""
    weights: list[str] = field(default_factory=list)
    """Which weights answered then."""
    held: set[int] = field(default_factory=set)
    """Which attempts, by their number, do not end by themselves."""
    gates: dict[int, asyncio.Event] = field(default_factory=dict)
    fails: Callable[[str], BaseException | None] = lambda _: None

    @property
    def inbox(self) -> Path:
        return self.folder / "inbox"

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def stream(self, **plan: object) -> AttemptStream:
        settings = {"first_seed": 0, "seeds": 3, "attempts": 2, "ahead": 0, **plan}
        self.folder.mkdir(exist_ok=True)
        return AttemptStream(
            attempt_runner=self._attempt, attempt_log=AttemptLog(self.folder / "attempts.jsonl"), log=lambda _: None,
            plan=StreamPlan.model_validate({"inbox": self.inbox, "run": self.run, **settings}), pages=self._page,
            weights=NewestWeights(self.run, self.server), filters={"origin": "rollout"},
        )  # fmt: skip

    async def _page(self, seed: int) -> tuple[Task, ...]:
        return tuple(Task(id=f"{name}{seed}", instruction="Do.", seed=seed) for name in "ab")

    async def _attempt(self, task: Task) -> AttemptResult:
        number = len(self.begun)
        self.begun.append(task.id)
        self.weights.append(self.server.loaded[-1])
        if number in self.held:
            await self.gates.setdefault(number, asyncio.Event()).wait()
        if (error := self.fails(task.id)) is not None:
            raise error
        result = finished(task, success=True)
        assert result.trajectory is not None
        return AttemptResult(result.trajectory.model_copy(update={"id": f"t-{number}"}), "", {})

    def learn(self, update: int, count: int = 0) -> list[str]:
        """What a trainer does: a checkpoint, and then the first folders leave; returns them."""
        (self.run / f"update-{update:06}").mkdir(parents=True)
        taken = waiting_folders(self.inbox)[:count] if count else []
        self.set_aside(PROCESSED_FOLDER, taken)
        return taken

    def set_aside(self, where: str, names: list[str]) -> None:
        (self.inbox / where).mkdir(exist_ok=True, parents=True)
        for name in names:
            os.rename(self.inbox / name, self.inbox / where / name)

    def short(self, **shortage: object) -> None:
        told = AttemptShortage.model_validate({"wanted": 2, "usable": 0, "folders": (), "refused": {}, **shortage})
        (self.inbox / SHORTAGE_FILE).write_text(told.model_dump_json())


@asynccontextmanager
async def playing(stream: AttemptStream, parallel: int = 2) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(stream.run(parallel))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def player(tmp_path: Path) -> Player:
    player = Player(tmp_path)
    player.learn(0)
    return player


async def settled(check: Callable[[], object]) -> None:
    """It becomes true, and stays so through several looks of the stream."""
    await eventually(check)
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert check()


def test_names_rise_also_where_a_seed_has_thousands_of_tasks() -> None:
    order = itertools.product((0, 9, 10), (9, 999, 1000), (0, 99, 100))
    names = [attempt_name(*place) for place in order]
    assert names == sorted(names)


async def test_attempts_go_page_by_page_and_siblings_side_by_side(player: Player) -> None:
    async with playing(player.stream(seeds=2, start_at=1, group=2, attempts=10), parallel=1):
        await settled(lambda: len(waiting_folders(player.inbox)) == 10)
    assert player.begun == ["a1", "a1", "b1", "b1", "a0", "a0", "b0", "b0", "a1", "a1"]
    assert waiting_folders(player.inbox) == [
        attempt_name(page, place, repetition) for page in (0, 1) for place in (0, 1) for repetition in (0, 1)
    ] + [attempt_name(2, 0, 0), attempt_name(2, 0, 1)]
    assert len(list(read_trajectories(player.inbox / name for name in waiting_folders(player.inbox)))) == 10


@pytest.mark.parametrize("ahead", [0, 1, 2])
async def test_it_runs_no_further_ahead_than_it_may_and_with_the_newest_weights(player: Player, ahead: int) -> None:
    async with playing(player.stream(ahead=ahead)):
        for update in range(1, 4):
            await settled(lambda: len(waiting_folders(player.inbox)) == 2 * (ahead + 1))
            player.learn(update, 2)
        await settled(lambda: len(waiting_folders(player.inbox)) == 2 * (ahead + 1))
    learned_at = {number: 1 + number // 2 for number in range(len(player.begun))}
    ages = [learned_at[number] - 1 - int(version[-1]) for number, version in enumerate(player.weights)]
    assert max(ages) == ahead
    assert ages[0] == 0


async def test_a_straggler_delays_no_update_and_its_folder_comes_first_when_it_ends(player: Player) -> None:
    player.held = {1}
    async with playing(player.stream(ahead=1)):
        await settled(lambda: len(waiting_folders(player.inbox)) == 3)
        assert len(player.begun) == 4, "it counts as one of those that may wait"
        taken = player.learn(1, 2)
        assert attempt_name(0, 1, 0) not in taken, "the update does not wait for it"
        await settled(lambda: len(player.begun) == 6)
        player.gates[1].set()
        await eventually(lambda: attempt_name(0, 1, 0) == waiting_folders(player.inbox)[0])


async def test_a_killed_stream_resumes_with_the_missing_attempts(player: Player) -> None:
    player.held = {1}
    async with playing(player.stream(attempts=4)):
        await eventually(lambda: len(waiting_folders(player.inbox)) == 3)
    (player.inbox / f"{attempt_name(0, 1, 0)}.tmp" / "images").mkdir(parents=True)
    player.set_aside(PROCESSED_FOLDER, [attempt_name(0, 0, 0)])
    player.set_aside(REJECTED_FOLDER, [attempt_name(1, 0, 0)])
    player.begun.clear()
    player.held.clear()
    async with playing(player.stream(attempts=4), parallel=1):
        await settled(lambda: len(waiting_folders(player.inbox)) == 4)
    assert player.begun == ["b0", "a2", "b2"], "what was taken or refused is not played again"


async def test_only_one_stream_fills_an_inbox(player: Player) -> None:
    async with playing(player.stream()):
        await eventually(lambda: player.begun)
        with pytest.raises(InboxBusy):
            await player.stream().run(1)


async def test_what_cannot_be_used_now_is_made_up_for(player: Player) -> None:
    async with playing(player.stream()):
        await settled(lambda: len(waiting_folders(player.inbox)) == 2)
        player.short(usable=1, folders=(attempt_name(0, 0, 0),), later=(attempt_name(0, 1, 0),))
        await settled(lambda: len(waiting_folders(player.inbox)) == 3)


async def test_a_trainer_that_can_use_nothing_ends_it_with_the_reasons(player: Player) -> None:
    async with playing(player.stream()) as running:
        for _ in range(MAX_ROUNDS):
            await settled(lambda: len(waiting_folders(player.inbox)) == 2)
            player.set_aside(REJECTED_FOLDER, waiting_folders(player.inbox))
        player.short(refused={"attempt_stale": 8})
        with pytest.raises(AttemptsUnusable, match=r"only 0 of 2 .* after 8 were begun.*attempt_stale 8"):
            await running
    assert len(player.begun) == 2 * MAX_ROUNDS
    async with playing(player.stream()):
        await settled(lambda: len(player.begun) == 2 * MAX_ROUNDS + 2)
    assert player.begun[-2:] == ["a1", "b1"], "given again it goes on, further on"


async def test_machines_that_fail_end_it_too(player: Player) -> None:
    player.fails = lambda _: MachineGone("its host was killed")
    async with playing(player.stream()) as running:
        await eventually(lambda: len(player.begun) >= 3 * 2 * MAX_ROUNDS)
        player.short()
        with pytest.raises(AttemptsUnusable, match="none of what came: machines fail"):
            await running
    assert set(Counter(player.begun).values()) <= {3, 6}, "each is tried three times before the next"


async def test_a_model_server_that_is_gone_ends_it(player: Player) -> None:
    player.fails = lambda task: PolicyUnavailable("it is gone") if task == "b0" else None
    with pytest.raises(PolicyUnavailable):
        await player.stream(attempts=8).run(1)
    assert player.begun == ["a0", "b0"]


async def test_it_ends_with_the_last_update_and_gives_up_what_still_runs(player: Player) -> None:
    player.held = {3}
    async with playing(player.stream(ahead=1, updates=2)) as running:
        await settled(lambda: len(waiting_folders(player.inbox)) == 3)
        player.learn(1, 2)
        await settled(lambda: len(player.begun) == 4)
        player.learn(2)
        await running
    assert attempt_name(1, 1, 0) not in waiting_folders(player.inbox)


async def test_while_the_last_update_waits_free_workers_play_on_so_that_a_straggler_does_not_hold_it(
    player: Player,
) -> None:
    player.held = {1}
    async with playing(player.stream(ahead=1, updates=1)):
        await settled(lambda: len(player.begun) == 2)
        player.short(usable=1, folders=(attempt_name(0, 0, 0),))
        await settled(lambda: len(player.begun) == 4)


async def test_weights_that_were_cleared_away_have_newer_ones_after_them(player: Player) -> None:
    player.learn(1)

    class Late(Server):
        async def reload(self, weights: str, version: str, *, freeze: bool = False) -> None:
            if version == "update-000001":
                (player.run / version).rmdir()
                player.learn(2)
            await super().reload(weights, version)

    server = Late()
    newest = NewestWeights(player.run, server)
    await newest.load()
    await newest.load()
    assert server.loaded == ["update-000002"]
    player.learn(3)
    server.refuses = "update-000003"
    with pytest.raises(PolicyRejected):
        await newest.load()
