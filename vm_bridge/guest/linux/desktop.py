"""Executes one action on the desktop, from the frame before it to the frame after it."""

import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from vm_bridge.guest.common.actions import Action, ActionOutput, play_gesture
from vm_bridge.guest.linux import shell
from vm_bridge.guest.linux.desktop_programs import DesktopIcons
from vm_bridge.guest.linux.machine_io import LinuxMachineIO
from vm_bridge.guest.linux.screen_capture import FocusedApplication, ScreenCapture
from vm_bridge.guest.linux.thread_activity import RedrawDelays, RedrawWatcher, ThreadSampler, WokenThreads
from vm_bridge.settle import IDLE_SECONDS, MAX_SETTLE_SECONDS, Recheck, SettleEvidence, ThreadSamples, decide_settled

SAMPLES_BEFORE_ACTION = 3
"""Maximum samples, before an action, to find a moment in which nothing runs."""
REDRAW_POLL_SECONDS = 0.015
"""Interval of picture checks while distinguishing a program's own redraws from an action's effects (seconds)."""

Answer = dict[str, Any]


class ActionInput(Protocol):
    """Executes pointer and key actions."""

    def do(self, action: Action) -> None:
        """Do one action."""
        ...


class ApplicationProbe(Protocol):
    """Reports the focused application."""

    def name(self) -> str:
        """Its name; empty if there is none."""
        ...


@dataclass
class Settle:
    """A settle: samples from before the action and since. Times are seconds of the monotonic clock."""

    before: ThreadSamples
    acted_at: float
    limit: float
    """Time limit in seconds after the action."""
    began: float
    first_at: float
    first: ThreadSamples
    delay_before: float
    woken: WokenThreads


class LinuxDesktop:
    """One desktop, driven by one thread. Other threads may call only `interrupt`, `cancel_frame_wait` and `frame`."""

    def __init__(
        self,
        picture: ScreenCapture,
        sampler: ThreadSampler,
        redraw_watcher: RedrawWatcher,
        stream: Callable[[], ScreenCapture],
        machine_io: LinuxMachineIO,
    ) -> None:
        """`stream` creates the capture for viewers on first use."""
        self._picture = picture
        self._sampler = sampler
        self._redraw_watcher = redraw_watcher
        self.icons: DesktopIcons | None = None
        """The first settled observation waits for the icons."""
        self._create_stream = stream
        self._machine_io = machine_io
        self._redraw_delays = RedrawDelays()
        self._unfinished: Settle | None = None
        """The last action's settle, if it did not wait for a program's timer."""
        self._interrupted = threading.Event()
        self._frame_wait_cancelled = os.eventfd(0)
        self._input: ActionInput | None = None
        self._focus: ApplicationProbe | None = None
        self._input_loader = threading.Thread(target=self._create_input)
        self._input_loader.start()

    def cancel_frame_wait(self) -> None:
        """Cancel the pending frame request."""
        os.eventfd_write(self._frame_wait_cancelled, 1)

    @cached_property
    def _stream(self) -> ScreenCapture:
        return self._create_stream()

    def interrupt(self) -> None:
        """Interrupt a running action, settle or wait."""
        self._interrupted.set()
        self._machine_io.interrupt()

    def observe(self, *, settle: bool) -> Answer:
        """Observe. With `settle`, after the screen has come to rest with its icons. After an action that did not wait
        for timers, continues its settle."""
        if not settle:
            rest, took = "skipped", 0.0
        elif self._unfinished is not None:
            # An interrupt since the action was meant for this settle.
            unfinished, self._unfinished = self._unfinished, None
            rest, took = self._settle(unfinished)
        else:
            self._interrupted.clear()
            if self.icons is not None:
                self.icons.wait()
            rest, took = self._settle(self._begin_settle(self._current_threads(), MAX_SETTLE_SECONDS, act=False))
        if settle:
            self._input_loader.join()
        return {
            "after": self._picture.capture(),
            "rest": rest,
            "settle_ms": took,
            "application": self._application(),
        }

    def frame(self, serial: int, wait: float) -> Answer:
        """The picture once it is newer than `serial`; the same one when nothing changed within `wait` seconds."""
        if self._stream.serial == serial and not self._stream.sync():
            ready, _, _ = select.select([self._stream.fileno(), self._frame_wait_cancelled], [], [], wait)
            if self._frame_wait_cancelled in ready:
                os.eventfd_read(self._frame_wait_cancelled)
        return self._stream.capture()

    def perform(self, action: Action, *, settle: bool, wait_for_timers: bool) -> Answer:
        """Execute an action. Returns the frame before it, its output or error, and the frame after it."""
        self._interrupted.clear()
        self._unfinished = None
        self._input_loader.join()
        threads = self._threads_before() if settle else {}
        before, application_before = self._picture.capture(), self._application()
        acted_at = time.monotonic()
        answer = self._machine_io.run_action(self._act, action)
        rest, took = "skipped", 0.0
        if settle:
            limit = MAX_SETTLE_SECONDS + time.monotonic() - acted_at
            begun = self._begin_settle(threads, limit, acted_at=acted_at)
            rest, took = self._settle(begun, wait_for_timers=wait_for_timers)
            self._unfinished = begun if rest == "timer_pending" else None
        return {
            "before": before,
            "before_application": application_before,
            "after": self._picture.capture(),
            "application": self._application(),
            "rest": "rested" if rest == "timer_pending" else rest,
            "timer_pending": rest == "timer_pending",
            "settle_ms": took,
            **answer,
        }

    def _application(self) -> str:
        """The focused application; empty until its probe is loaded."""
        return "" if self._focus is None else self._focus.name()

    def _act(self, action: Action) -> ActionOutput:
        kind = action["kind"]
        if kind in shell.ACTIONS:
            return shell.ACTIONS[kind](action)
        if kind in self._machine_io.action_handlers:
            return self._machine_io.action_handlers[kind](action)
        if kind == "wait":
            self._interrupted.wait(action["seconds"])
        elif kind == "gesture":
            play_gesture(action["inputs"], self._do, self._interrupted)
        else:
            self._do(action)
        return ActionOutput()

    def _create_input(self) -> None:
        # PyAutoGUI opens its display on import.
        from vm_bridge.guest.linux.x11_input import X11InputController

        self._input = X11InputController(self._wait_until_processed)
        self._focus = FocusedApplication()

    def _do(self, action: Action) -> None:
        assert self._input is not None  # the guest ends if they cannot be created
        self._input.do(action)

    def _begin_settle(
        self, before: ThreadSamples, limit: float, *, acted_at: float | None = None, act: bool = True
    ) -> Settle:
        """Start a settle now. Without an action there are no late effects."""
        began = time.monotonic()
        acted_at = began if acted_at is None else acted_at
        delay_before = self._sampler.scheduling_delay()
        self._picture.sync()
        first = self._sampler.sample()
        woken = WokenThreads(self._redraw_delays, self._redraw_watcher, before if act else {}, acted_at + limit)
        woken.note(first, acted_at)
        return Settle(before, acted_at, limit, began, began, first, delay_before, woken)

    def _settle(self, begun: Settle, *, wait_for_timers: bool = True) -> tuple[str, float]:
        """How the settle ended, and its duration so far (milliseconds). It may continue later if a timer is pending."""
        woken = begun.woken
        while True:
            self._picture.sync()
            second, now = self._sampler.sample(), time.monotonic()
            woken.note(second, now)
            evidence = SettleEvidence(
                begun.acted_at,
                begun.before,
                begun.first_at,
                begun.first,
                now,
                second,
                self._picture.changed_at,
                self._sampler.scheduling_delay() - begun.delay_before,
                woken.lateness,
            )
            verdict = decide_settled(evidence, limit=begun.limit, wait_for_timers=wait_for_timers)
            woken.capture(now - begun.acted_at)
            if not isinstance(verdict, Recheck):
                if verdict != "timer_pending":
                    woken.learn()
                return verdict, (now - begun.began) * 1000
            if verdict.moved:
                begun.first_at, begun.first = now, second
            look_at = min(verdict.at, now + REDRAW_POLL_SECONDS) if woken.learning else verdict.at
            if self._interrupted.wait(max(0.0, look_at - time.monotonic())):
                return "hurried", (time.monotonic() - begun.began) * 1000

    def _threads_before(self) -> ThreadSamples:
        """The threads just before an action. An occasional thread must not count as one that always runs."""
        for _ in range(SAMPLES_BEFORE_ACTION):
            threads = self._sampler.sample()
            if not any(thread.running for thread in threads.values()):
                break
            self._interrupted.wait(IDLE_SECONDS)
        return threads

    def _current_threads(self) -> ThreadSamples:
        """The current threads, without classification of habits: no action separates before from after."""
        return {tid: replace(thread, running=False) for tid, thread in self._sampler.sample().items()}

    def _wait_until_processed(self, longest: float) -> None:
        """Wait until every program has processed the executed part of the action, at most `longest` seconds."""
        was_interrupted, self._interrupted = self._interrupted, threading.Event()
        self._settle(self._begin_settle(self._current_threads(), longest, act=False))
        self._interrupted = was_interrupted
