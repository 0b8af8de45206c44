"""What the runner adds to a decision: from the screen at rest to the request, and from the last token to the event."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.runner import EpisodeRunner
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint, SamplingParams
from benchmarks.parts.concurrency import in_background
from benchmarks.parts.figures import percentile
from protocol.actions.types import Action, Click
from protocol.blobs import BlobRef
from protocol.messages.events import Act, EpisodeState, Event, ProposalsReady
from protocol.trajectory.observations import Transition
from protocol.trajectory.tasks import Task
from vm_bridge.machine import Machine
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

DECISIONS = 40
TIMEOUT_SECONDS = 120.0
CANDIDATES = 3
WORDS = 40
"""Chunks of one reply."""


@dataclass(frozen=True)
class Moment:
    """Now: by the clock on the wall, and by the processor time this process has had (seconds)."""

    wall: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=time.process_time)


class Times:
    """When what happened in the present decision."""

    seen = requested = answered = published = Moment(0.0, 0.0)

    @property
    def overhead_ms(self) -> float:
        """The runner's share of it."""
        return ((self.requested.wall - self.seen.wall) + (self.published.wall - self.answered.wall)) * 1000

    @property
    def overhead_cpu_ms(self) -> float:
        """The same in processor time, which a busy machine does not lengthen."""
        return ((self.requested.cpu - self.seen.cpu) + (self.published.cpu - self.answered.cpu)) * 1000


async def measure() -> dict[str, object]:
    """The median over decisions with five screenshots of 1280x720 in the prompt."""
    times, ready = Times(), asyncio.Event()

    async def hear(event: Event) -> None:
        if isinstance(event, ProposalsReady):
            times.published = Moment()
            ready.set()

    transport = httpx.MockTransport(fake_model_server(times))
    policy = OpenAIPolicy(
        PolicyEndpoint(
            base_url="http://model.invalid/v1",
            model="stub",
            dialect="ui_tars_1_5",
            name="stub",
            revision="1",
            sampling=SamplingParams(n=CANDIDATES),
        ),
        transport=transport,
    )
    runner = EpisodeRunner(
        InMemoryEpisodeStore(initial_state(), hear),
        painted_machine_factory(times),
        lambda: policy,
        hear,
        RunnerLimits(),
    )
    found: list[float] = []
    worked: list[float] = []
    try:
        async with in_background(runner.run()), asyncio.timeout(TIMEOUT_SECONDS):
            await ready.wait()
            for number in range(DECISIONS):
                ready.clear()
                act = Act(command_id=f"act-{number:04d}", thought="next", action=Click(x=9, y=9))
                await runner.submit(act, hear)
                await ready.wait()
                found.append(times.overhead_ms)
                worked.append(times.overhead_cpu_ms)
            runner.stop()
    finally:
        await policy.aclose()
    return {
        "service_overhead_ms": percentile(found, 0.5),
        "service_overhead_p95_ms": percentile(found, 0.95),
        "service_overhead_cpu_ms": percentile(worked, 0.5),
    }


def initial_state() -> EpisodeState:
    """An episode nobody has touched."""
    task = Task(id="bench", instruction="Open the report", max_steps=DECISIONS + 1)
    return EpisodeState(id="bench", version=0, status="warming", task=task, pool="bench", created_at=datetime.now(UTC))


def painted_machine_factory(times: Times) -> Callable[[EpisodeState], Coroutine[None, None, Machine]]:
    """Opens a painted machine that notes when it has answered."""

    class Noting(FakeMachine):
        async def perform(
            self,
            command_id: str,
            action: Action,
            *,
            settle: bool = True,
            snapshot: bool = False,
            expected: BlobRef | None = None,
            wait_for_timers: bool = True,
        ) -> Transition:
            transition = await super().perform(
                command_id, action, settle=settle, snapshot=snapshot, expected=expected, wait_for_timers=wait_for_timers
            )
            times.seen = Moment()
            return transition

    sandbox = FakeSandbox("desktop", width=1280, height=720)
    sandbox.settle_seconds = 0.0

    async def opened(_: EpisodeState) -> Machine:
        return Noting(sandbox, 1)

    return opened


def fake_model_server(times: Times) -> Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]:
    """A server that answers at once, token by token, with log-probabilities."""

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"weight_version": "1"})
        await request.aread()
        if request.url.path == "/tokenize":
            return httpx.Response(200, json={"count": len(request.content) // 4})
        times.requested = Moment()
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream(times))

    return answer


async def stream(times: Times) -> AsyncIterator[bytes]:
    """n replies in parts, then the end."""
    replies = [
        f"Thought: I click the {'very ' * index}button\nAction: click(start_box='({index},9)')"
        for index in range(CANDIDATES)
    ]
    for part in range(WORDS):
        for index, reply in enumerate(replies):
            size = -(-len(reply) // WORDS)
            choice = {
                "index": index,
                "delta": {"content": reply[part * size : (part + 1) * size]},
                "logprobs": {"content": [{"token": "", "logprob": -0.5}]},
                "token_ids": [part],
                "finish_reason": "stop" if part == WORDS - 1 else None,
            }
            times.answered = Moment()
            yield f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
    yield b"data: [DONE]\n\n"
