"""Runs a probe: asks a model to click targets on the bundled screens, and reports what is wrong with it."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import httpx
from PIL import Image

from agent_backend.errors import PolicyError
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from agent_backend.policy.providers import ClosablePolicy, open_policy
from agent_backend.probe.coordinate_spaces import better_space, raw_point
from agent_backend.probe.diagnosis import (
    Reading,
    comparison_findings,
    dialect_finding,
    grounding_findings,
    measure_grounding,
    point_of,
    server_findings,
)
from agent_backend.probe.server import server_abilities
from agent_backend.probe.targets import Target, probe_targets, screen_picture
from protocol.actions.types import ACTION_CLASSES
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects
from protocol.evaluation.probes import (
    DialectScore,
    Grounding,
    ProbeFinding,
    ProbeReport,
    ScreenSet,
    ServerAbilities,
)
from protocol.messages.events import Partial
from protocol.providers import DIALECTS
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import ParseError, Proposal
from protocol.trajectory.tasks import Task

CONCURRENCY = 4
HEALTH_TIMEOUT_SECONDS = 30.0
"""How long one token about a picture may take."""
BLIND_TARGETS = 4
"""Targets that are asked for again on an empty screen."""
OTHER_DIALECT_TARGETS = 3
"""Targets that are asked for in the words of each other dialect, where the chosen one does not fit."""
MAX_TOKENS = 512
SMALL_SCREEN_KINDS = frozenset(
    {"click", "double_click", "right_click", "drag", "press_keys", "type_text", "scroll", "wait", "finish"}
)
"""What the bundled policy is offered on its small pages."""
OnProgress = Callable[[int, int], Awaitable[None]]
"""Called with the number of answered questions and their total."""


async def answer_to_picture(
    endpoint: PolicyEndpoint,
    *,
    timeout_seconds: float = HEALTH_TIMEOUT_SECONDS,
    transport: httpx.AsyncBaseTransport | None = None,
) -> float:
    """Health check of a model server: milliseconds until its first token about a picture.

    Raises TimeoutError if it takes longer than the timeout, and PolicyError if the server does not answer.
    """
    return await _Prober(endpoint, "small", _ignore_progress, transport).health_ms(timeout_seconds)


async def run_probe(
    endpoint: PolicyEndpoint,
    screens: ScreenSet = "desktop",
    *,
    last: ProbeReport | None = None,
    on_progress: OnProgress | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> ProbeReport:
    """Probe a model. Faults are findings of the report, never exceptions.

    Args:
        endpoint: The model, where it is served, and the dialect it is thought to speak.
        screens: What it is shown.
        last: The last probe of this model, to compare with.
        on_progress: Called with the progress.
        transport: Replaces the network.
    """
    report = await _Prober(endpoint, screens, on_progress or _ignore_progress, transport).report()
    return report.model_copy(update={"findings": (*report.findings, *comparison_findings(report, last))})


class _Prober:
    def __init__(
        self,
        endpoint: PolicyEndpoint,
        screens: ScreenSet,
        on_progress: OnProgress,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._endpoint = endpoint.model_copy(
            update={
                "sampling": SamplingParams(n=1, temperature=0, max_tokens=MAX_TOKENS),
                "budget": HistoryBudget(images=1),
            }
        )
        self._screens, self._targets = screens, probe_targets(screens)
        self._on_progress, self._transport = on_progress, transport
        self._answered, self._questions = 0, len(self._targets) + BLIND_TARGETS
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def health_ms(self, timeout_seconds: float) -> float:
        """See `answer_to_picture`."""
        started = time.monotonic()
        limited = self._endpoint.model_copy(update={"sampling": SamplingParams(n=1, temperature=0, max_tokens=1)})
        async with asyncio.timeout(timeout_seconds):
            await self._ask(limited, self._targets[0])
        return round((time.monotonic() - started) * 1000, 1)

    @property
    def _hosted(self) -> bool:
        return self._endpoint.provider != "openai_compatible"

    @property
    def _dialects(self) -> tuple[str, ...]:
        """Those that the model may speak: a hosted one speaks its provider's."""
        if self._hosted:
            return (self._endpoint.dialect,)
        return tuple(name for name in list_dialects() if name not in DIALECTS.values())

    def _open(self, endpoint: PolicyEndpoint) -> ClosablePolicy:
        if self._transport is not None:
            return OpenAIPolicy(endpoint, transport=self._transport)
        return open_policy(endpoint)

    async def _abilities(self) -> ServerAbilities:
        """What the server can do; a provider of hosted models is not asked."""
        if self._hosted:
            return ServerAbilities()
        return await server_abilities(self._endpoint, transport=self._transport)

    async def report(self) -> ProbeReport:
        """The whole probe."""
        began_at, started = datetime.now(UTC), time.monotonic()
        server, findings = ServerAbilities(), list[ProbeFinding]()
        grounding, scores, fingerprint = None, list[DialectScore](), tuple[float, ...]()
        try:
            health_ms = await self.health_ms(HEALTH_TIMEOUT_SECONDS)
            first_token_ms, first = await self._first_token()
            server = (await self._abilities()).model_copy(
                update={"answers_picture": True, "health_ms": health_ms, "first_token_ms": first_token_ms}
            )
            if first is not None:
                fingerprint = first.logprobs or ()
                server = server.model_copy(update=_reply_abilities(first, server))
            proposals = await self._ask_all(self._endpoint, self._targets)
            grounding, scores, findings = await self._judge(proposals)
            findings = [*findings, *server_findings(server)]
        except TimeoutError:
            error = PolicyError(f"no token about a picture came within {HEALTH_TIMEOUT_SECONDS:g} s")
            findings.append(await self._unusable(error))
        except PolicyError as error:
            findings.append(await self._unusable(error))
        return ProbeReport(
            base_url=self._endpoint.base_url,
            model=self._endpoint.model,
            dialect=self._endpoint.dialect,
            began_at=began_at,
            seconds=round(time.monotonic() - started, 2),
            server=server,
            grounding=grounding,
            dialects=tuple(scores),
            fingerprint=fingerprint,
            findings=tuple(findings),
        )

    async def _judge(self, proposals: Sequence[Proposal]) -> tuple[Grounding, list[DialectScore], list[ProbeFinding]]:
        readings = [_reading(proposal) for proposal in proposals]
        grounding = measure_grounding(self._screens, self._targets, readings, [each.raw_text for each in proposals])
        fit = better_space(
            self._targets,
            [raw_point(reading.action_text) for reading in readings],
            [point_of(reading) for reading in readings],
            absolute=get_dialect(self._endpoint.dialect).absolute,
        )
        ignored = await self._ignores_picture(proposals)
        findings = grounding_findings(grounding, readings, fit, picture_ignored=ignored)
        scores = [
            _score(name, self._targets, proposals, own_prompt=name == self._endpoint.dialect) for name in self._dialects
        ]
        if any(finding.code in ("unread_replies", "low_hits") for finding in findings):
            scores += await self._other_dialects()
        better = dialect_finding(self._endpoint.dialect, scores)
        if better and not any(finding.code in ("stripped_tokens", "picture_ignored") for finding in findings):
            findings.append(better)
        return grounding, scores, findings

    async def _other_dialects(self) -> list[DialectScore]:
        """The model's replies to prompts of the other dialects."""
        step = len(self._targets) // OTHER_DIALECT_TARGETS
        targets = self._targets[::step][:OTHER_DIALECT_TARGETS]
        others = [name for name in self._dialects if name != self._endpoint.dialect]
        self._questions += len(others) * len(targets)
        scores = []
        for name in others:
            replies = await self._ask_all(self._endpoint.model_copy(update={"dialect": name}), targets)
            scores.append(_score(name, targets, replies, own_prompt=True))
        return scores

    async def _ignores_picture(self, proposals: Sequence[Proposal]) -> bool:
        """Whether replies are the same about an empty screen, to different questions on different screens."""
        step = len(self._targets) // BLIND_TARGETS
        chosen = range(0, step * BLIND_TARGETS, step)
        blind = await self._ask_all(self._endpoint, [self._targets[place] for place in chosen], empty=True)
        seen = [proposals[place] for place in chosen]
        hits = sum(
            self._targets[place].hit(*point)
            for place, proposal in enumerate(proposals)
            if (point := point_of(_reading(proposal))) is not None
        )
        same = all(one.raw_text == other.raw_text for one, other in zip(seen, blind, strict=True))
        return same and hits < len(proposals) / 2

    async def _first_token(self) -> tuple[float | None, Proposal | None]:
        """Milliseconds to the first token of a reply, and the reply."""
        started = time.monotonic()
        first: list[float] = []

        async def on_partial(_: tuple[Partial, ...]) -> None:
            if not first:
                first.append((time.monotonic() - started) * 1000)

        proposal = await self._ask(self._endpoint, self._targets[0], on_partial=on_partial)
        return (round(first[0], 1) if first else None), proposal

    async def _unusable(self, error: PolicyError) -> ProbeFinding:
        """Why there is no answer to a picture: whether there is one to a text."""
        abilities = await self._abilities()
        if abilities.several_choices is not None and abilities.images is None:
            message = f"It answers texts and no pictures: {error}"
            return ProbeFinding(code="no_picture", severity="error", message=message)
        return ProbeFinding(code="unreachable", severity="error", message=f"It does not answer: {error}")

    async def _ask_all(
        self, endpoint: PolicyEndpoint, targets: Sequence[Target], *, empty: bool = False
    ) -> list[Proposal]:
        """The reply to each target, in order."""
        policy = self._open(endpoint)

        async def one(target: Target) -> Proposal:
            async with self._slots:
                proposal = await self._propose(policy, target, empty=empty)
            self._answered += 1
            await self._on_progress(self._answered, self._questions)
            return proposal

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(target)) for target in targets]
        except ExceptionGroup as failed:  # an error that `except*` raises would be a group again
            raise failed.exceptions[0] from None
        finally:
            await policy.aclose()
        return [task.result() for task in tasks]

    async def _ask(
        self,
        endpoint: PolicyEndpoint,
        target: Target,
        on_partial: Callable[[tuple[Partial, ...]], Awaitable[None]] | None = None,
    ) -> Proposal:
        policy = self._open(endpoint)
        try:
            return await self._propose(policy, target, on_partial=on_partial)
        finally:
            await policy.aclose()

    async def _propose(
        self,
        policy: ClosablePolicy,
        target: Target,
        *,
        empty: bool = False,
        on_partial: Callable[[tuple[Partial, ...]], Awaitable[None]] | None = None,
    ) -> Proposal:
        """The only reply to a target. Raises PolicyError."""
        screenshot, data = _empty_screen(target.size) if empty else screen_picture(target.screen)

        async def read(ref: BlobRef) -> bytes:
            return data

        small = self._screens == "small"
        proposals = await policy.propose(
            Task(id="probe", instruction=target.instruction, platform="browser" if small else "desktop"),
            (),
            _observation(screenshot, target.size),
            kinds=SMALL_SCREEN_KINDS if small else frozenset(ACTION_CLASSES),
            blob=read,
            partial=on_partial or _ignore_partial,
        )
        return proposals[0]


def _reading(proposal: Proposal) -> Reading:
    """What the dialect made of a reply."""
    if proposal.action is not None:
        return ParsedReply(thought=proposal.thought, action=proposal.action, action_text=proposal.action_text)
    error = proposal.error or ParseError(code="no_action", message="")
    return UnparsedReply(thought=proposal.thought, action_text=proposal.action_text or proposal.raw_text, error=error)


def _score(dialect: str, targets: Sequence[Target], proposals: Sequence[Proposal], *, own_prompt: bool) -> DialectScore:
    """How a dialect reads replies."""
    points = []
    for target, proposal in zip(targets, proposals, strict=True):
        screen = ScreenSize(width=target.size[0], height=target.size[1])
        points.append(point_of(get_dialect(dialect).parse(proposal.raw_text, screen)))
    return DialectScore(
        dialect=dialect,
        questions=len(targets),
        read=sum(point is not None for point in points),
        hits=sum(point is not None and target.hit(*point) for target, point in zip(targets, points, strict=True)),
        own_prompt=own_prompt,
    )


def _reply_abilities(reply: Proposal, server: ServerAbilities) -> dict[str, object]:
    """What a reply shows of its server."""
    versions = [span.version for span in reply.weight_versions]
    return {
        "logprobs": bool(reply.logprobs),
        "token_ids": bool(reply.completion_token_ids),
        "reasoning": reply.raw_text.startswith("<think>\n"),
        "weight_version": versions[-1] if versions else server.weight_version,
    }


def _observation(screenshot: BlobRef, size: tuple[int, int]) -> Observation:
    return Observation(
        screenshot=screenshot,
        width=size[0],
        height=size[1],
        captured_at=datetime.now(UTC),
        settled=True,
        rest="rested",
        settle_ms=0,
    )


def _empty_screen(size: tuple[int, int]) -> tuple[BlobRef, bytes]:
    """A grey picture."""
    file = io.BytesIO()
    Image.new("RGB", size, (128, 128, 128)).save(file, "PNG")
    return BlobRef.of(file.getvalue(), "image/png"), file.getvalue()


async def _ignore_progress(_answered: int, _questions: int) -> None:
    """Ignores progress."""


async def _ignore_partial(_: tuple[Partial, ...]) -> None:
    """Ignores the growing reply."""
