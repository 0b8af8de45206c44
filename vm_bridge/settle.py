"""When has a screen come to rest after an act? Decided from what the sandbox's threads do, never by sleeping.

A sandbox without a network only changes its picture when one of its threads runs. A thread runs because of the
act, because another thread woke it, or because a time it set itself has come. So the screen rests once every thread
that ran since the act waits again and none of them set a new time. Two looks around a round trip through
the X server, between which no thread ran, show that nothing was on its way between two threads.

Threads that already waited for a time before the act are habits (a blinking caret, an animation): they are waited for
only where the act made them set an earlier time, where their next tick is about to show the act's effect, and for as
long as they are known to take (`lateness`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MAX_SETTLE_SECONDS = 3.0
"""Longest settle (seconds)."""
BUSY_POLL_SECONDS = 0.002
"""How soon to look again while a thread runs (seconds)."""
IDLE_SECONDS = 0.008
"""For how long nothing may run (seconds): a terminal's bytes pass through the kernel while no thread runs."""
MAX_SCHEDULING_DELAY_SECONDS = 0.1
"""Most that a busy machine adds to that (seconds)."""
ANIMATION_PERIOD_SECONDS = 0.1
"""A habit that ticks at least this often is an animation: its next picture is waited for (seconds)."""
UNCHANGED_SECONDS = 0.1
"""How long the picture must stay the same where a thread never waits at all (seconds)."""
TIMER_TOLERANCE_SECONDS = 0.005
"""Two times closer than this are the same time (seconds)."""


@dataclass(frozen=True)
class ThreadSample:
    """One thread at one look. Times are seconds of the monotonic clock."""

    runs: int
    """How often it was given a processor so far."""
    running: bool
    wakes_at: float | None
    """When it wakes by itself; None when only something else can wake it."""
    process: int = 0


ThreadSamples = Mapping[int, ThreadSample]


@dataclass(frozen=True)
class SettleEvidence:
    """What was seen: before the act, some time after it, and now; in between lie round trips through the X server."""

    acted_at: float
    before: ThreadSamples
    first_at: float
    first: ThreadSamples
    now: float
    second: ThreadSamples
    changed_at: float | None = None
    """When the picture last changed since the act."""
    scheduling_delay: float = 0.0
    """How long the guest itself waited for a processor since the act (seconds); the kernel's own work waits as long."""
    lateness: Mapping[int, float] = field(default_factory=dict)
    """For each thread with a habit that the act reached: how late after an act it is known to show what comes of it."""


@dataclass(frozen=True)
class Recheck:
    """Not yet known: look again at this time; `moved` when something ran since the first look, which is spent then."""

    at: float
    moved: bool


def decide_settled(
    evidence: SettleEvidence, *, limit: float = MAX_SETTLE_SECONDS, wait_for_timers: bool = True
) -> Literal["rested", "timeout", "timer_pending"] | Recheck:
    """Whether the screen rests, or when to look again; `limit` is in seconds after the act. Without `wait_for_timers` a
    screen that only a time can change which is further off than an animation's next tick is `timer_pending`."""
    ends = evidence.acted_at + limit
    if evidence.now >= ends:
        return "timeout"
    if any(_is_active(tid, evidence, ends) for tid in evidence.second):
        return Recheck(min(evidence.now + BUSY_POLL_SECONDS, ends), moved=True)
    waits = {tid: at for tid in evidence.second if (at := _recheck_at(tid, evidence, ends)) is not None}
    still_at = evidence.first_at + IDLE_SECONDS + min(evidence.scheduling_delay, MAX_SCHEDULING_DELAY_SECONDS)
    rechecks = [*waits.values(), *([still_at] if evidence.now < still_at else [])]
    if not rechecks:
        return "rested"
    soon = evidence.now + ANIMATION_PERIOD_SECONDS
    is_still = evidence.now >= still_at and all(
        at > soon and not evidence.second[tid].running for tid, at in waits.items()
    )
    if is_still and not wait_for_timers:
        return "timer_pending"
    return Recheck(min(max(min(rechecks), evidence.now + BUSY_POLL_SECONDS), ends), moved=False)


def has_earlier_timer(before: ThreadSample | None, ends: float) -> bool:
    """Whether a thread would have woken by itself within the bound: then it may hide a time that the act set."""
    return before is not None and before.wakes_at is not None and before.wakes_at < ends


def _is_active(tid: int, evidence: SettleEvidence, ends: float) -> bool:
    """Whether a thread runs, or ran since the first look, and not by habit."""
    before, first, thread = evidence.before.get(tid), evidence.first.get(tid), evidence.second[tid]
    if before is not None and (before.running or has_earlier_timer(before, ends)):
        return thread.running and not before.running
    return thread.running or first is None or first.runs != thread.runs


def _recheck_at(tid: int, evidence: SettleEvidence, ends: float) -> float | None:
    """When to look at a thread that waits; None when it does not keep the screen from resting."""
    before, thread = evidence.before.get(tid), evidence.second[tid]
    if thread.running:
        return _unchanged_at(evidence)
    if before is not None and before.runs == thread.runs:
        return None
    if before is not None and before.wakes_at is not None and has_earlier_timer(before, ends):
        shown_at = evidence.acted_at + evidence.lateness.get(tid, 0.0)
        return shown_at if evidence.now < shown_at else _timer_recheck_at(before.wakes_at, thread, evidence)
    # A time beyond the bound cannot be waited for: the screen rests for at least that long, but for an animation, which
    # would seem to rest whenever its last tick before the bound is over.
    if thread.wakes_at is None or thread.wakes_at >= max(ends, evidence.now + ANIMATION_PERIOD_SECONDS):
        return None
    return thread.wakes_at


def _timer_recheck_at(due: float, thread: ThreadSample, evidence: SettleEvidence) -> float | None:
    if evidence.now > due + TIMER_TOLERANCE_SECONDS:
        return None
    if due - evidence.acted_at <= ANIMATION_PERIOD_SECONDS:
        return due + TIMER_TOLERANCE_SECONDS + BUSY_POLL_SECONDS
    if thread.wakes_at is not None and thread.wakes_at < due - TIMER_TOLERANCE_SECONDS:
        return thread.wakes_at
    return None


def _unchanged_at(evidence: SettleEvidence) -> float | None:
    """For a thread that never waits: when the picture will have been the same for long enough."""
    since = max(evidence.acted_at, evidence.changed_at or evidence.acted_at)
    return None if evidence.now - since >= UNCHANGED_SECONDS else since + UNCHANGED_SECONDS
