"""Providers of hosted models: each case of the table told at the desk as it must be, and what our client costs."""

import asyncio
import io
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from pydantic import SecretStr

from agent_backend.errors import PolicyError, PolicyUnavailable
from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.hosted_requests import Budget
from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.policy.providers import ClosablePolicy, open_policy
from benchmarks.parts.models.provider_server import ProviderServer, provider_server
from protocol.actions.types import ACTION_ADAPTER
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.providers import DIALECTS, Prices, Provider, ProviderSettings
from protocol.sampling import SamplingParams
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

CASES_FILE = Path(__file__).with_name("provider_cases.jsonl")
KINDS = frozenset(
    {
        *("click", "double_click", "right_click", "move_to", "drag", "scroll", "type_text", "press_keys", "wait"),
        *("screenshot", "finish", "call_user", "infeasible"),
    }
)
MODELS: dict[Provider, str] = {
    "openai_compatible": "ui-tars",
    "anthropic": "claude-opus-5-5",
    "openai": "gpt-6-computer",
    "gemini": "gemini-3.5-flash",
}
KEY = "test-key-0123456789"
WIDTH, HEIGHT = 1280, 720
TIMEOUTS = RequestTimeouts(connect=10.0, token=20.0, total=60.0, attempts=2, pause=0.01)
SILENT = TIMEOUTS.model_copy(update={"token": 2.0})
"""For servers that go silent on purpose."""
ROUNDS = 30


def load_cases() -> list[dict[str, Any]]:
    """The table: what a provider answers, and what people must be told."""
    return [json.loads(line) for line in CASES_FILE.read_bytes().splitlines()]


def picture(width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """A screen of one colour."""
    data = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(data, "PNG")
    return data.getvalue()


@dataclass(frozen=True)
class Screen:
    """A picture and the observation that shows it."""

    data: bytes
    observation: Observation

    @classmethod
    def of(cls, data: bytes, width: int = WIDTH, height: int = HEIGHT) -> "Screen":
        """An observation of this picture at rest."""
        look = Observation(
            screenshot=BlobRef.of(data, "image/png"),
            width=width,
            height=height,
            captured_at=datetime.now(UTC),
            settled=True,
            rest="rested",
            settle_ms=0.0,
        )
        return cls(data, look)


def open_client(
    server: ProviderServer,
    *,
    candidates: int = 1,
    max_actions: int = 1,
    timeouts: RequestTimeouts = TIMEOUTS,
    prices: Prices | None = None,
    budget: Budget | None = None,
    **settings: Any,
) -> ClosablePolicy:
    """Our client of a provider's server."""
    provider = server.provider
    return open_policy(
        PolicyEndpoint(
            base_url=server.base_url,
            model=MODELS[provider],
            dialect=DIALECTS.get(provider, "ui_tars_1_5"),
            name="teacher",
            revision="1",
            provider=provider,
            api_key=SecretStr(KEY),
            sampling=SamplingParams(n=candidates, max_actions=max_actions),
            timeouts=timeouts,
            settings=ProviderSettings(prices=prices, **settings),
        ),
        budget,
    )


async def propose(
    policy: ClosablePolicy, screen: Screen, steps: tuple[Step, ...] = (), pictures: Sequence[Screen] = ()
) -> tuple[Proposal, ...]:
    """What a policy proposes at a screen. Raises PolicyError."""
    known = {one.observation.screenshot: one.data for one in (screen, *pictures)}

    async def read(ref: BlobRef) -> bytes:
        return known[ref]

    async def ignore(_: tuple[Partial, ...]) -> None:
        """Nobody reads along."""

    task = Task(id="t1", instruction="Open the report")
    return await policy.propose(task, steps, screen.observation, kinds=KINDS, blob=read, partial=ignore)


async def case_faults(case: dict[str, Any], screen: Screen) -> list[str]:
    """What is wrong with how a case is told; nothing where it is told as it must be."""
    async with provider_server(case["provider"], case["answers"]) as server:
        silent = any(answer.get("hang") for answer in case["answers"])
        policy = open_client(server, timeouts=SILENT if silent else TIMEOUTS)
        faults: list[str] = []
        try:
            (proposal,) = await propose(policy, screen)
        except PolicyError as error:
            faults += _error_faults(case, error)
        else:
            faults += _proposal_faults(case, proposal)
        finally:
            await policy.aclose()
        if "requests" in case and len(server.requests) != case["requests"]:
            faults.append(f"{len(server.requests)} requests instead of {case['requests']}")
        return faults


def _error_faults(case: dict[str, Any], error: PolicyError) -> list[str]:
    words = str(error)
    faults = [] if error.code == case.get("error") else [f"{error.code}: {words}"]
    faults += [f"“{words}” does not say “{part}”" for part in case.get("says", ()) if part not in words]
    if KEY in words:
        faults.append("it tells the key")
    wait = error.retry_after if isinstance(error, PolicyUnavailable) else None
    if "retry_after" in case and wait != case["retry_after"]:
        faults.append(f"it waits {wait} s")
    return faults


def _proposal_faults(case: dict[str, Any], proposal: Proposal) -> list[str]:
    faults: list[str] = []
    if "error" in case:
        faults.append(f"it proposes {proposal.raw_text[:200]}")
    if "action" in case and proposal.action != ACTION_ADAPTER.validate_python(case["action"]):
        faults.append(f"it reads {proposal.action or proposal.error}")
    if "reply_error" in case:
        found = proposal.error
        if found is None or found.code != case["reply_error"]:
            faults.append(f"it reads {found or proposal.action}")
        words = found.message if found else ""
        faults += [f"“{words}” does not say “{part}”" for part in case.get("says", ()) if part not in words]
    if "thought" in case and proposal.thought != case["thought"]:
        faults.append(f"it thinks “{proposal.thought}”")
    if [check.message for check in proposal.safety_checks] != case.get("checks", []):
        faults.append(f"its checks are {proposal.safety_checks}")
    warned = case.get("warning", [])
    if bool(warned) != bool(proposal.warning) or not all(part in proposal.warning for part in warned):
        faults.append(f"it warns “{proposal.warning}”")
    return faults


async def measure_cases() -> dict[str, object]:
    """How many cases there are, and how many people are told as they must be."""
    cases, screen = load_cases(), Screen.of(picture())
    gate = asyncio.Semaphore(8)

    async def one(case: dict[str, Any]) -> list[str]:
        async with gate:
            return await case_faults(case, screen)

    found = await asyncio.gather(*map(one, cases))
    return {
        "providers": len({case["provider"] for case in cases}),
        "provider_cases": len(cases),
        "provider_cases_told": sum(not faults for faults in found),
        "provider_faults": [
            f"{case['provider']} {case['name']}: {faults[0]}"
            for case, faults in zip(cases, found, strict=True)
            if faults
        ][:5],
    }


async def measure_overhead() -> float:
    """Milliseconds that a proposal of our client takes beyond the same request by a plain HTTP client, in the median;
    of the provider with the most."""
    return max([await _overhead(provider) for provider in DIALECTS])


async def _overhead(provider: Provider) -> float:
    answer = next(
        case["answers"][0] for case in load_cases() if (case["provider"], case["name"]) == (provider, "click")
    )
    screen = Screen.of(picture())
    ours: list[float] = []
    plain: list[float] = []
    async with provider_server(provider, [answer]) as server:
        policy = open_client(server)
        async with httpx.AsyncClient(trust_env=False) as client:
            try:
                for number in range(ROUNDS + 5):
                    started = time.perf_counter()
                    await propose(policy, screen)
                    between = time.perf_counter()
                    request = server.requests[-1]
                    body = json.dumps(request.body).encode()
                    encoded = time.perf_counter()
                    async with client.stream("POST", f"{server.origin}{request.path}", content=body) as response:
                        async for _ in response.aiter_lines():
                            pass
                    if number >= 5:  # the first ones load modules
                        ours.append(between - started)
                        plain.append(time.perf_counter() - encoded)
            finally:
                await policy.aclose()
    return (statistics.median(ours) - statistics.median(plain)) * 1000


async def measure() -> dict[str, object]:
    """Both, as `bench models` reports them."""
    return {**await measure_cases(), "service_overhead_ms": round(await measure_overhead(), 3)}
