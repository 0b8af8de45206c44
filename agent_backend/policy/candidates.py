"""Sampled replies become candidates: parsed, merged where they mean the same, ranked."""

import math
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import JsonValue

from agent_backend.policy.samples import Sample, Samples
from protocol.actions.equivalence import equivalent
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ParsedReply, UnparsedReply
from protocol.trajectory.proposals import (
    ImageLimits,
    ParseError,
    PolicyRef,
    Proposal,
    Reply,
    SafetyCheck,
    WeightSpan,
)

MISSING_TOKENS_WARNING = (
    "The server sent the reasoning without its tokens, so that the tokens are left out and not trained on. "
    "Start it without its reasoning parser."
)
TOOL_PARSER_WARNING = (
    "The server made tool calls of the reply: start it without its tool parser, or use the dialect json_calls."
)
_Number = TypeVar("_Number", int, float)
MAX_OTHER_TOKENS = 32_768
"""Tokens of other replies that are kept with one candidate; whole replies, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Vote:
    """A sampled reply and what it says."""

    sample: Sample
    reply: ParsedReply | UnparsedReply
    weight: float | None
    """Its probability per token, up to a factor that all votes share. None if a vote has no logprobs or was sampled at
    another temperature: such probabilities come from different distributions."""

    def agrees(self, other: "Vote") -> bool:
        """Whether two replies are one candidate: equivalent actions, or the same unreadable text."""
        mine, theirs = self.reply, other.reply
        if isinstance(mine, ParsedReply) and isinstance(theirs, ParsedReply):
            same_length = len(mine.actions) == len(theirs.actions)
            return same_length and all(map(equivalent, mine.actions, theirs.actions))
        return type(mine) is type(theirs) and self.sample.raw_text == other.sample.raw_text


def other_model_warning(asked: str, answered: Iterable[str], title: str) -> str:
    """A warning that names models that answered instead of the requested one. A dated name of the requested model is
    the same model."""
    wanted = asked.removeprefix("models/")
    others = {name for name in answered if name and not _same_model(wanted, name.removeprefix("models/"))}
    if not others:
        return ""
    return f"{title} was asked for {asked} and says that {', '.join(sorted(others))} answered."


def _same_model(asked: str, answered: str) -> bool:
    return answered == asked or (
        answered.startswith(f"{asked}-") and answered.removeprefix(f"{asked}-").replace("-", "").isdecimal()
    )


def build_proposals(
    samples: Samples,
    parse: Callable[..., ParsedReply | UnparsedReply],
    *,
    policy: PolicyRef,
    sampling: dict[str, JsonValue],
    latency_ms: float,
    prompt: BlobRef | None = None,
    image_limits: ImageLimits | None = None,
    warning: str = "",
    cost_usd: float | None = None,
) -> tuple[Proposal, ...]:
    """The candidates of one request, most likely first and unreadable ones last.

    A candidate speaks with its likeliest reply. Its likelihood is the share of its replies' weights among all
    readable ones, so that votes and the model's own certainty both count; without logprobs, and over several
    temperatures, the votes decide, and a candidate speaks with its coolest reply.

    Args:
        samples: What the server answered.
        parse: Reads a reply as an action.
        policy: Who proposes.
        sampling: How it was asked.
        latency_ms: From the request to the last token, in milliseconds.
        prompt: What the model was shown.
        image_limits: The sizes its pictures were scaled to.
        warning: For people, on every candidate.
        cost_usd: Price of the request in US dollars; None where it is unknown.
    """
    groups = sorted(merge_equivalent(parse_votes(samples, parse)), key=rank_key)
    total = sum(total_weight(group) or 0.0 for group in groups if isinstance(group[0].reply, ParsedReply))
    created_at = datetime.now(UTC)
    return tuple(
        Proposal(
            id=uuid.uuid4().hex,
            rank=rank,
            thought=group[0].reply.thought,
            action=group[0].reply.action if isinstance(group[0].reply, ParsedReply) else None,
            further_actions=group[0].reply.further_actions if isinstance(group[0].reply, ParsedReply) else (),
            action_text=group[0].reply.action_text,
            raw_text=group[0].sample.raw_text,
            error=group[0].reply.error if isinstance(group[0].reply, UnparsedReply) else None,
            count=len(group),
            likelihood=likelihood(group, total),
            policy=policy,
            sampling=sampling
            if (temperature := group[0].sample.temperature) is None
            else sampling | {"temperature": temperature},
            prompt_token_ids=None if samples.prompt_token_ids is None else tuple(samples.prompt_token_ids),
            completion_token_ids=_if_complete(group[0].sample, group[0].sample.token_ids),
            logprobs=_if_complete(group[0].sample, group[0].sample.logprobs),
            others=other_replies(group, samples.weight_versions),
            prompt=prompt,
            image_limits=image_limits,
            weight_versions=_weight_spans(group[0].sample, samples.weight_versions),
            finish_reason=group[0].sample.finish_reason,
            warning=" ".join(filter(None, (warning, "" if group[0].sample.has_all_tokens else MISSING_TOKENS_WARNING))),
            safety_checks=tuple(dict.fromkeys(check for vote in group for check in _safety_checks(vote.sample))),
            provider_calls=group[0].sample.provider_calls,
            cost_usd=cost_usd,
            latency_ms=latency_ms,
            created_at=created_at,
        )
        for rank, group in enumerate(groups, 1)
    )


def _safety_checks(sample: Sample) -> tuple[SafetyCheck, ...]:
    return tuple(check for call in sample.provider_calls for check in call.safety_checks)


def parse_votes(samples: Samples, parse: Callable[..., ParsedReply | UnparsedReply]) -> list[Vote]:
    """Every reply read, the coolest and among these the likeliest first."""
    finished = samples.finished()
    certainties = [sample.mean_logprob for sample in finished]
    known_certainties = [certainty for certainty in certainties if certainty is not None]
    weights: list[float | None] = [None] * len(finished)
    if (
        known_certainties
        and len(known_certainties) == len(finished)
        and len({sample.temperature for sample in finished}) == 1
    ):
        weights = [math.exp(certainty - max(known_certainties)) for certainty in known_certainties]
    parsed = [
        Vote(sample, parse_sample(sample, parse), weight) for sample, weight in zip(finished, weights, strict=True)
    ]
    return sorted(parsed, key=lambda vote: (vote.sample.temperature or 0.0, -(vote.sample.mean_logprob or 0.0)))


def parse_sample(sample: Sample, parse: Callable[..., ParsedReply | UnparsedReply]) -> ParsedReply | UnparsedReply:
    """Parse a reply; refusals and tool calls that the server extracted are reported as such."""
    options = {"reasoning": sample.reasoning, "finish_reason": sample.finish_reason}
    parsed = parse(sample.text or sample.tool_calls_text, **{name: value for name, value in options.items() if value})
    if sample.refusal:
        words = " ".join(sample.refusal.split())[:500]
        error = ParseError(code="refused", message=f"The model refused: “{words}”. Do this step yourself.")
        return UnparsedReply(thought=parsed.thought, action_text="", error=error)
    if sample.tools and not sample.text and isinstance(parsed, UnparsedReply):
        message = f"{parsed.error.message} {TOOL_PARSER_WARNING}"
        return parsed.model_copy(update={"error": parsed.error.model_copy(update={"message": message})})
    return parsed


def _if_complete(sample: Sample, values: list[_Number]) -> tuple[_Number, ...] | None:
    """The tokens of a reply, or their logprobs, if they cover the whole reply."""
    return tuple(values) or None if sample.has_all_tokens else None


def _weight_spans(sample: Sample, weights: tuple[str, ...]) -> tuple[WeightSpan, ...]:
    """The weights that sampled a reply; without counts if its tokens are left out."""
    spans = sample.weight_spans(weights)
    return spans if sample.has_all_tokens else tuple(WeightSpan(version=span.version) for span in spans)


def merge_equivalent(parsed: list[Vote]) -> list[list[Vote]]:
    """Votes for the same candidate together, each group led by its likeliest."""
    groups: list[list[Vote]] = []
    for vote in parsed:
        for group in groups:
            if group[0].agrees(vote):
                group.append(vote)
                break
        else:
            groups.append([vote])
    return groups


def other_replies(group: list[Vote], weights: tuple[str, ...]) -> tuple[Reply, ...]:
    """The other replies of a candidate, as tokens; replies beyond the bound are left out. `weights` are those that
    answered."""
    others: list[Reply] = []
    left = MAX_OTHER_TOKENS
    for sample in (vote.sample for vote in group[1:]):
        left -= len(sample.token_ids)
        if left < 0:
            break
        if sample.token_ids and sample.has_all_tokens:
            others.append(
                Reply(
                    token_ids=tuple(sample.token_ids),
                    logprobs=tuple(sample.logprobs) or None,
                    temperature=sample.temperature,
                    finish_reason=sample.finish_reason,
                    weight_versions=sample.weight_spans(weights),
                )
            )
    return tuple(others)


def total_weight(group: list[Vote]) -> float | None:
    """The total weight of a candidate's votes; None without logprobs."""
    weights = [vote.weight for vote in group if vote.weight is not None]
    return sum(weights) if weights else None


def rank_key(group: list[Vote]) -> tuple[bool, float, int]:
    """Sorts candidates: readable before unreadable, then by weight, then by votes."""
    return isinstance(group[0].reply, UnparsedReply), -(total_weight(group) or 0.0), -len(group)


def likelihood(group: list[Vote], total: float) -> float | None:
    """The candidate's share of `total`, the weight of all readable replies; from 0 to 1.

    None for an unreadable candidate or without logprobs.
    """
    weight = total_weight(group)
    if weight is None or isinstance(group[0].reply, UnparsedReply) or not total:
        return None
    return min(1.0, weight / total)
