"""What is wrong with a model, from what it answered."""

from collections.abc import Sequence
from math import hypot, sqrt
from statistics import fmean, stdev

from agent_backend.probe.coordinate_spaces import SpaceFit
from agent_backend.probe.targets import Target
from protocol.dialects.action_readers import STRIPPED_TOKENS_HINT
from protocol.dialects.dialect import ParsedReply, UnparsedReply
from protocol.evaluation.probes import (
    DialectScore,
    Grounding,
    GroundingPoint,
    PixelBox,
    ProbeFinding,
    ProbeReport,
    ScreenSet,
    ServerAbilities,
)
from protocol.evaluation.statistics import wilson_rate

Reading = ParsedReply | UnparsedReply
MAX_REPLY_CHARACTERS = 300
MIN_READ_SHARE = 0.8
"""Share of replies that the dialect has to read."""
MIN_HIT_SHARE = 0.5
SAME_LOGPROBS = 1e-5
"""Weights are the same where every log-probability differs by less."""


def point_of(reading: Reading) -> tuple[int, int] | None:
    """Where a reply clicks; None where it does not."""
    action = reading.action if isinstance(reading, ParsedReply) else None
    x, y = getattr(action, "x", None), getattr(action, "y", None)
    return (x, y) if isinstance(x, int) and isinstance(y, int) else None


def measure_grounding(
    screens: ScreenSet, targets: Sequence[Target], readings: Sequence[Reading], replies: Sequence[str]
) -> Grounding:
    """Hits and errors of all targets. Needs one."""
    points, errors = list[GroundingPoint](), list[float]()
    for target, reading, reply in zip(targets, readings, replies, strict=True):
        point = point_of(reading)
        if point is not None:
            errors.append(hypot(point[0] - target.center[0], point[1] - target.center[1]))
        error = reading.error.code if isinstance(reading, UnparsedReply) else "" if point else "no_point"
        left, top, right, bottom = target.box
        points.append(
            GroundingPoint(
                screen=target.screen,
                width=target.size[0],
                height=target.size[1],
                instruction=target.instruction,
                box=PixelBox(left=left, top=top, right=right, bottom=bottom),
                x=point and point[0],
                y=point and point[1],
                hit=point is not None and target.hit(*point),
                error=error,
                reply=reply[:MAX_REPLY_CHARACTERS],
            )
        )
    spread = 1.96 * stdev(errors) / sqrt(len(errors)) if len(errors) > 1 else None
    return Grounding(
        screens=screens,
        points=tuple(points),
        rate=wilson_rate(sum(point.hit for point in points), len(points)),
        mean_error_px=round(fmean(errors), 1) if errors else None,
        mean_error_ci_px=None if spread is None else round(spread, 1),
    )


def server_findings(server: ServerAbilities) -> list[ProbeFinding]:
    """What a researcher should know of a server that works."""
    findings = []
    if server.several_choices is False:
        findings.append(
            _note("single_choice", "It gives one reply a request, so that candidates take several requests.")
        )
    if server.logprobs is False:
        findings.append(
            _note("no_logprobs", "It gives no log-probabilities: its proposals are not used in on-policy training.")
        )
    if server.logprobs and server.token_ids is False:
        findings.append(_note("no_token_ids", "It gives no token ids: proposals are tokenized again in training."))
    if server.images == 1:
        message = (
            "It takes one picture a prompt: start it with a higher limit (vLLM: --limit-mm-per-prompt), or let the "
            "revision remember one screenshot."
        )
        findings.append(ProbeFinding(code="one_picture", severity="warning", message=message))
    return findings


def grounding_findings(
    grounding: Grounding, readings: Sequence[Reading], fit: SpaceFit | None, *, picture_ignored: bool
) -> list[ProbeFinding]:
    """The main fault of the replies themselves; empty if there is none."""
    unread = [reading for reading in readings if isinstance(reading, UnparsedReply)]
    stripped = [reading for reading in unread if STRIPPED_TOKENS_HINT in reading.error.message]
    if len(stripped) > len(readings) / 2:
        message = (
            "Points are missing from its replies: have its server send special tokens (skip_special_tokens: false)."
        )
        return [ProbeFinding(code="stripped_tokens", severity="error", message=message)]
    if picture_ignored:
        message = (
            "Its replies do not depend on the picture: the server drops pictures, or the model cannot see. Look at the "
            "server's log and at its version."
        )
        return [ProbeFinding(code="picture_ignored", severity="error", message=message)]
    if fit is not None:
        remedy = (
            "Set the limits and the factor of the server's image processor as the dialect has them."
            if fit.code == "wrong_factor"
            else "Choose a dialect of that space."
        )
        message = (
            f"Its points are {fit.space}: read so they are {fit.error_px:g} px from the targets on average, and "
            f"{fit.own_error_px:g} px as the dialect reads them. {remedy}"
        )
        return [ProbeFinding(code=fit.code, severity="error", message=message)]
    if len(unread) > (1 - MIN_READ_SHARE) * len(readings):
        message = f"{len(unread)} of {len(readings)} replies are no action in this dialect: {unread[0].error.message}"
        return [ProbeFinding(code="unread_replies", severity="error", message=message)]
    if grounding.rate.high < MIN_HIT_SHARE:
        message = f"It hits {grounding.rate.successes} of {grounding.rate.attempts} targets."
        return [ProbeFinding(code="low_hits", severity="warning", message=message)]
    return []


def dialect_finding(dialect: str, scores: Sequence[DialectScore]) -> ProbeFinding | None:
    """Another dialect that reads this model better: at least half of its replies hit, and at least twice the share of
    the chosen dialect."""
    own = next((score for score in scores if score.dialect == dialect), None)
    best = max(scores, key=_hit_share, default=None)
    if own is None or best is None or _hit_share(best) < max(0.5, 2 * _hit_share(own)):
        return None
    message = (
        f"The dialect {best.dialect} reads it better: {best.hits} of {best.questions} replies hit, with {dialect} "
        f"{own.hits} of {own.questions}."
    )
    return ProbeFinding(code="other_dialect", severity="error", message=message)


def comparison_findings(report: ProbeReport, last: ProbeReport | None) -> list[ProbeFinding]:
    """What changed since the last probe of the same model."""
    if last is None:
        return []
    findings = []
    renamed = last.server.weight_version != report.server.weight_version
    if renamed and last.server.weight_version and _same_numbers(last.fingerprint, report.fingerprint):
        message = (
            f"The server says that its weights are now {report.server.weight_version}, yet it answers exactly as with "
            f"{last.server.weight_version}: they were not loaded. Restart it."
        )
        findings.append(ProbeFinding(code="stale_weights", severity="error", message=message))
    before, now = last.grounding, report.grounding
    if before and now and before.screens == now.screens and now.rate.high < before.rate.low:
        message = (
            f"It hits {now.rate.successes} of {now.rate.attempts} targets, and hit {before.rate.successes} of "
            f"{before.rate.attempts} in the last probe: more than chance."
        )
        findings.append(ProbeFinding(code="below_last", severity="error", message=message))
    return findings


def _same_numbers(first: Sequence[float], second: Sequence[float]) -> bool:
    return (
        bool(first)
        and len(first) == len(second)
        and all(abs(one - other) < SAME_LOGPROBS for one, other in zip(first, second, strict=True))
    )


def _hit_share(score: DialectScore) -> float:
    return score.hits / score.questions if score.questions else 0.0


def _note(code: str, message: str) -> ProbeFinding:
    return ProbeFinding.model_validate({"code": code, "severity": "note", "message": message})
