"""Runs probes in a worker, and finds the models whose probe is due."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from pydantic import SecretStr

from agent_backend.errors import PolicyError
from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.probe.prober import answer_to_picture, run_probe
from agent_backend.probe.server import server_identity
from agent_backend.probe.targets import screen_picture
from annotation_app.errors import NotFound
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import provider_key_of
from annotation_app.probes import selectors, services
from annotation_app.probes.schemas import ProbeIn, ProbeOut, ProbeReason
from protocol.evaluation.probes import ProbeReport
from protocol.providers import ProviderSettings

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.5
"""Seconds between updates of a probe's progress and checks for its cancellation."""
INTERVAL = timedelta(days=1)
"""Time between two probes of a proposing model whose server does not change."""


def probe_execute(*, probe_id: UUID) -> None:
    """Run a queued probe until it is done or cancelled. Any other probe is left unchanged."""
    probe = services.probe_begin(probe_id=probe_id)
    if probe is None:
        return
    with services.probe_heartbeat(probe_id=probe_id):
        try:
            report = _run(probe)
        except Exception as error:
            logger.exception("the probe %s failed", probe_id)
            services.probe_fail(probe_id=probe_id, error=f"{type(error).__name__}: {error}"[:1000])
            return
    if report is not None:
        services.probe_finish(probe_id=probe_id, report=report)


def probes_request_due() -> tuple[UUID, ...]:
    """Queue a probe of each proposing model that has had none for a day, or whose server or weights have changed."""
    queued = []
    for revision in selectors.active_revisions():
        endpoint = _endpoint(revision.base_url, revision.model, revision.dialect)
        reason = _reason_to_probe(endpoint)
        if reason is None:
            continue
        body = ProbeIn.model_validate(
            {
                "base_url": revision.base_url,
                "model": revision.model,
                "dialect": revision.dialect,
                "prompt": revision.prompt,
                "screens": selectors.screens_before(revision.base_url, revision.model),
            }
        )
        probe, new = services.probe_request(user=None, endpoint=body, reason=reason)
        if new:
            queued.append(probe.id)
    return tuple(queued)


def picture_problem(base_url: str, model: str, dialect: str, *, timeout_seconds: float) -> str:
    """The fault of a model server that is asked for one token about a picture; empty if it answers.

    Raises TimeoutError if it takes longer than the timeout.
    """
    try:
        asyncio.run(answer_to_picture(_endpoint(base_url, model, dialect), timeout_seconds=timeout_seconds))
    except PolicyError as error:
        return str(error)
    return ""


def screen_png(name: str) -> bytes:
    """A bundled screen. Raises NotFound."""
    try:
        return screen_picture(name)[1]
    except KeyError:
        raise NotFound("There is no such screen.") from None


def _reason_to_probe(endpoint: PolicyEndpoint) -> ProbeReason | None:
    last = selectors.probe_latest(base_url=endpoint.base_url, model=endpoint.model, dialect=endpoint.dialect)
    if last is None or last.created_at < timezone.now() - INTERVAL:
        return "scheduled"
    if last.report is None:
        return None
    known = last.report.server.version, last.report.server.weight_version
    now = asyncio.run(server_identity(endpoint))
    changed = any(new and new != old for new, old in zip(now, known, strict=True))
    return "server_changed" if changed else None


def _run(probe: ProbeOut) -> ProbeReport | None:
    """The report; None if the probe was cancelled."""
    progress = [0, 0]
    last = selectors.last_report(probe_id=probe.id)
    given = selectors.given_key(probe_id=probe.id)
    endpoint = _endpoint(probe.base_url, probe.model, probe.dialect).model_copy(
        update={
            **({"api_key": SecretStr(given)} if given else {}),
            "provider": probe.provider,
            "prompt": probe.prompt,
            "settings": ProviderSettings.model_validate(probe.provider_settings),
            "teacher": probe.provider != "openai_compatible",
        }
    )

    async def on_progress(answered: int, questions: int) -> None:
        progress[:] = answered, questions

    async def probing() -> ProbeReport:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await run_probe(endpoint, probe.screens, last=last, on_progress=on_progress)

    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[ProbeReport] | None]] = []
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="probe") as threads:
        future = threads.submit(lambda: asyncio.run(probing()))
        while True:
            wait((future,), PROGRESS_SECONDS)
            goes_on = services.probe_progress(probe_id=probe.id, answered=progress[0], questions=progress[1])
            if future.done():
                return None if not goes_on or future.cancelled() else future.result()
            if not goes_on:
                for loop, task in running:
                    if task is not None:
                        loop.call_soon_threadsafe(task.cancel)


def _endpoint(base_url: str, model: str, dialect: str) -> PolicyEndpoint:
    return PolicyEndpoint(
        base_url=base_url,
        model=model,
        dialect=dialect,
        name=model,
        revision="probe",
        api_key=SecretStr(provider_key_of(base_url) or api_key_for(base_url)),
    )
