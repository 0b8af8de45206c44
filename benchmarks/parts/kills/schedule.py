"""The schedule: victim after victim in shuffled rounds, and how long people and jobs wait after each."""

import asyncio
import contextlib
import random
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.parts.figures import print_progress
from benchmarks.parts.kills.annotators import Annotator
from benchmarks.parts.kills.stack import Stack, now
from benchmarks.parts.kills.victims import Victim, send_signal, victims

RECOVERY_SECONDS = 60.0
"""Longest wait for a recovery; it counts as so long."""
POLL_SECONDS = 0.02
TOGETHER_SHARE = 0.15
"""Share of the turns that end two victims at once."""
SLOW_SECONDS = 10.0
"""After so long a progress line names the annotators that still wait."""
BEAT_STARTS = "beat: Starting"
PROGRESS_EVERY_KILLS = 20


@dataclass(frozen=True, slots=True)
class Death:
    """One kill, when it was (or when what was frozen went on), and how long until everybody had acted again."""

    victim: str
    at: float
    recovery: float


@dataclass(slots=True)
class KillSchedule:
    """Kills until `kills` are done or the time is over."""

    stack: Stack
    people: Sequence[Annotator]
    rng: random.Random
    deaths: list[Death] = field(default_factory=list)
    absent: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    kills: int = 0
    _beats: int = 1

    async def run(self, kills: int, seconds: float, only: Sequence[str] = ()) -> None:
        """Every victim once in each round, in an order drawn by the seed. ValueError for an unknown name in `only`."""
        if unknown := set(only) - {victim.name for victim in victims(self.stack)}:
            raise ValueError(f"no such victims: {', '.join(sorted(unknown))}")
        known = [victim for victim in victims(self.stack) if not only or victim.name in only]
        end, said = now() + seconds, 0
        while self.kills < kills and now() < end:
            for victim in self.rng.sample(known, len(known)):
                if self.kills >= kills or now() >= end:
                    break
                together = [victim]
                if self.rng.random() < TOGETHER_SHARE:
                    together.append(self.rng.choice([other for other in known if not other.freeze] or known))
                await self._turn(together)
                if self.kills // PROGRESS_EVERY_KILLS > said:
                    said = self.kills // PROGRESS_EVERY_KILLS
                    print_progress(f"{self.kills} kills, {sum(each.steps for each in self.people)} acts")
                await asyncio.sleep(self.rng.random() * 0.5)

    async def _turn(self, together: Sequence[Victim]) -> None:
        ended = await asyncio.gather(*map(self._end, together))
        struck = [(victim, at) for victim, at in zip(together, ended, strict=True) if at is not None]
        self.kills += len(struck)
        waits = await asyncio.gather(*(self._recovery(victim, at) for victim, at in struck))
        for (victim, at), recovery in zip(struck, waits, strict=True):
            self.deaths.append(Death(victim.name, at, recovery))

    async def _end(self, victim: Victim) -> float | None:
        """Kill or freeze it. Returns since when its absence counts; None where there was nothing to end."""
        if victim.sockets is not None:
            hit = victim.sockets(self.people, self.rng)
            return now() if hit else None
        found = await asyncio.to_thread(victim.pids)
        if not found:
            self.absent[victim.name] += 1
            return None
        pid = self.rng.choice(found)
        if victim.freeze is not None:
            return await self._freeze(pid, self.rng.uniform(*victim.freeze))
        at = now()
        if not await asyncio.to_thread(victim.kill, pid):
            self.absent[victim.name] += 1
            return None
        return at

    async def _freeze(self, pid: int, seconds: float) -> float | None:
        if not send_signal(pid, signal.SIGSTOP):
            return None
        try:
            await asyncio.sleep(seconds)
        finally:
            send_signal(pid, signal.SIGCONT)
        return now()

    async def _recovery(self, victim: Victim, at: float) -> float:
        slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._report_waiting, victim, at)
        try:
            async with asyncio.timeout(RECOVERY_SECONDS):
                await asyncio.gather(*(self._wait_for_action(person, at) for person in self.people))
                if victim.job:
                    await self._job(victim)
        except TimeoutError:
            print_progress(f"not recovered within {RECOVERY_SECONDS:g} s after {victim.name}")
        finally:
            slow.cancel()
        return min(RECOVERY_SECONDS, now() - at)

    def _report_waiting(self, victim: Victim, at: float) -> None:
        late = [f"{each.name} ({each.kind}) {each.idle}" for each in self.people if each.acted < at]
        print_progress(f"{now() - at:.0f} s after {victim.name}: {'; '.join(late) or 'a job is not done'}")

    async def _wait_for_action(self, person: Annotator, at: float) -> None:
        while person.acted < at:  # noqa: ASYNC110 - one of many conditions that no event tells of
            await asyncio.sleep(POLL_SECONDS)

    async def _job(self, victim: Victim) -> None:
        """A background job is done, or the beat has started again."""
        if victim.name == "beat":
            await _until(lambda: self.stack.log("beat").count(BEAT_STARTS) > self._beats)
            self._beats = self.stack.log("beat").count(BEAT_STARTS)
            return
        while True:
            with contextlib.suppress(OSError, ConnectionError):
                job = await asyncio.to_thread(self.stack.queue_job)
                break
            await asyncio.sleep(POLL_SECONDS)
        await _until(lambda: self.stack.job_is_done(job))


async def _until(true: Callable[[], bool]) -> None:
    while not await asyncio.to_thread(true):  # noqa: ASYNC110 - lines of a log send no event
        await asyncio.sleep(10 * POLL_SECONDS)
