"""Records one session: input, frames on change, and gaps while something private is on the screen."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .audio.assembly import RATE, Loss
from .audio.capture import SILENCE_DB, VoiceCapture, peak_db
from .clocks import MS, SECOND, now_ns
from .control import ControlServer
from .delay_buffer import DELAY_NS, DelayBuffer
from .desktop import Desktop, DesktopGone, Input
from .errors import RecorderError
from .events import Event, GapReason, gap_events
from .exclusions import ExclusionRules, Gate, is_excluded
from .frames import FrameFilter, FramePacer, encode_frame
from .sessions import SessionWriter

TICK_SECONDS = 0.02
"""Interval between two reads of input. An X server sends input only while it handles a request."""
SYNC_NS = SECOND
CLOCK_NS = 10 * SECOND
ECHO_NS = 50 * MS
"""Interval between two checks for a password field while no key is pressed."""
FORGET_NS = 60 * SECOND
UNWATCHED_NS = SECOND // 2
"""If the windows were not checked for this long, nothing from that time is stored. The recorder was suspended or
blocked, and input and sound of that time arrive late.
"""
SUSPEND_NS = SECOND
MAX_NOTE = 500
"""Maximum length of a mark's note."""


@dataclass
class Counts:
    """Counts of what was stored."""

    events: int = 0
    frames: int = 0


class Recording:
    """One session. `run` returns when the session is stopped."""

    def __init__(
        self,
        folder: Path,
        manifest: dict[str, Any],
        rules: ExclusionRules,
        frames_per_second: float,
        voice: VoiceCapture | None = None,
        *,
        desktop: Desktop,
    ) -> None:
        self._voice, self._voice_db = voice, SILENCE_DB
        self._rules = rules
        self._desktop = desktop
        now = now_ns()
        self._gate, self._buffer, self._filter = Gate(), DelayBuffer(), FrameFilter()
        self._pacer = FramePacer(int(SECOND / frames_per_second))
        self._counts = Counts()
        self._paused = self._stopping = self._own_press = False
        self._outcome: str | None = None
        self._synced_ns, self._clock_sampled_ns, self._echo_checked_ns = now, now, 0
        self._password, self._gap_open = False, False
        self._suspended_ns = desktop.suspended_ns()
        self._size, self._flashes = desktop.size, desktop.flashes
        self._began_ns = self._paused_ns = self._checked_ns = now
        self._open_from_ns: int | None = None
        self._open_until_ns: int | None = None
        clock = {"monotonic_ns": now, "realtime_ns": time.time_ns()}
        self._writer = SessionWriter(folder, {**manifest, "screen": list(self._size), "clock": clock})
        self._write_clock()

    def run(self, control: ControlServer) -> None:
        """Record until a command stops it. Raises RecorderError with `display_gone` or `no_input`, and OSError."""
        try:
            while not self._stopping:
                self._desktop.wait(control.fileno(), TICK_SECONDS)
                self.tick()
                control.serve(self.command)
            self._finish()
        except DesktopGone:
            raise RecorderError("display_gone", "The desktop ended.") from None
        finally:
            self._writer.sync()

    def stop(self) -> None:
        """Stop after the current round. Safe in a signal handler."""
        self._stopping = True

    def command(self, words: dict[str, Any]) -> dict[str, Any]:
        """Run a person's command. Returns the state after it.

        Raises RecorderError with `unknown_command`, or `nothing_recorded` for a mark in a gap.
        """
        match words.get("command"):
            case "pause":
                self._pause(True, now_ns())
            case "resume":
                self._pause(False, now_ns())
            case "forget":
                self._forget(now_ns())
            case "stop":
                self._outcome, self._stopping = words.get("outcome"), True
            case "mark" | "help" as kind:
                if not self._note(kind, str(words.get("note") or "")[:MAX_NOTE]):
                    raise RecorderError("nothing_recorded", "Nothing is recorded right now: see `status`.")
            case "status":
                pass
            case other:
                raise RecorderError("unknown_command", f"There is no command {other!r}.")
        return self.status()

    def status(self) -> dict[str, Any]:
        """The current recording state."""
        reason = "paused" if self._paused else self._gate.reason
        return {
            "session": self._writer.folder.name,
            "recording": reason is None and not self._stopping,
            "reason": reason,
            "seconds": round((now_ns() - self._began_ns) / SECOND, 1),
            "events": self._counts.events,
            "frames": self._counts.frames,
            "voice": "off" if self._voice is None else "recorded" if self._voice.present else "no_microphone",
            "voice_peak_db": self._voice_db,
            "time_error_ms": round(self._desktop.time_error_ns / MS, 2),
        }

    def tick(self) -> None:
        """One round: read input, check the screen, take a frame if one is due, then write events that waited long
        enough.
        """
        inputs = self._desktop.take_inputs()
        now = now_ns()
        self._check_privacy(now, pressed=bool(inputs))
        self._keep_inputs(inputs)
        self._keep_voice()
        if self._desktop.take_damage():
            self._pacer.damage(now)
        if self._gate.open and self._pacer.due(now):
            self._keep_frame()
        for event, content in self._buffer.release(now):
            self._store(event, content)
        if now - self._synced_ns >= SYNC_NS:
            self._synced_ns = now
            self._writer.sync()
        if now - self._clock_sampled_ns >= CLOCK_NS:
            self._clock_sampled_ns = now
            self._sample_clock(now)

    def _check_privacy(self, now: int, *, pressed: bool) -> None:
        """Close or open the gate. Drops waiting events if something private appeared, or may have."""
        checked, self._checked_ns = self._checked_ns, now
        flashes = self._flashes
        self._desktop.sync()
        self._flashes = self._desktop.flashes
        reason = self._reason(now, pressed=pressed)
        unwatched = now - checked > UNWATCHED_NS or self._flashes != flashes
        if unwatched:
            self._drop_unwatched(checked, reason)
        if reason not in (None, "paused"):
            self._buffer.drop()
            self._open_from_ns = None
        if not self._gate.update(now, reason):
            return
        if self._gate.open:
            self._open_from_ns, self._open_until_ns = now, None
            self._end_gap(now)
            self._filter.reset()
            self._pacer.damage(now)
        elif reason == "paused":
            self._open_until_ns = self._paused_ns
            self._begin_gap(self._paused_ns, reason)
        else:
            self._begin_gap((checked if unwatched else now) - DELAY_NS, reason or "excluded")

    def _drop_unwatched(self, checked: int, reason: GapReason | None) -> None:
        """Store nothing from one second before the last check until now."""
        self._buffer.drop()
        if self._open_from_ns is not None:
            self._open_from_ns = now_ns()
        if self._gate.open and reason in (None, "paused"):
            for event in gap_events(checked - DELAY_NS, now_ns(), "unwatched"):
                self._store(event)
            self._filter.reset()
            self._pacer.damage(now_ns())

    def _reason(self, now: int, *, pressed: bool) -> GapReason | None:
        if is_excluded(self._desktop.windows, self._rules):
            return "excluded"
        if pressed or now - self._echo_checked_ns >= ECHO_NS:
            self._echo_checked_ns = now
            self._password = self._desktop.asks_for_password()
        return "password" if self._password else "paused" if self._paused else None

    def _keep_inputs(self, inputs: list[Input]) -> None:
        for one in inputs:
            event = one.event
            if event is not None and self._is_kept(event.t_ns) and not (one.own or self._is_own(event)):
                self._buffer.add(event)
                if event.kind == "pointer.down":
                    self._desktop.describe_element(event)
            match one.hotkey:
                case "forget":
                    self._forget(now_ns())
                case "pause":
                    self._pause(not self._paused, now_ns() if event is None else event.t_ns)
                case "mark" | "help" as kind:
                    self._note(kind, "")

    def _keep_voice(self) -> None:
        """Keep sound that began and ended while recording was open. A chunk is kept as a whole or not at all."""
        for one in self._voice.take() if self._voice is not None else ():
            if isinstance(one, Loss):
                data = {"duration_ns": one.end_ns - one.begin_ns, "reason": one.reason}
                self._store(Event("audio.gap", one.begin_ns, "capture", 0, data))
            elif self._is_kept(one.t_ns) and self._is_kept(one.t_ns + one.duration_ns):
                self._voice_db = peak_db(one.samples)
                data = {"duration_ns": one.duration_ns, "rate": RATE}
                self._buffer.add(Event("audio.chunk", one.t_ns, "capture", one.error_ns, data), one.samples)

    def _is_kept(self, t_ns: int) -> bool:
        """Whether input of this time is stored, which means that recording was open then. Input arrives a moment
        later."""
        since, until = self._open_from_ns, self._open_until_ns
        return since is not None and since <= t_ns and (until is None or t_ns < until)

    def _is_own(self, event: Event) -> bool:
        """Whether the pointer is over the recorder's own window, which is not part of the task."""
        match event.kind:
            case "pointer.down":
                self._own_press = self._desktop.is_own_at(event.data["x"], event.data["y"])
                return self._own_press
            case "pointer.up":
                own, self._own_press = self._own_press, False
                return own
            case "scroll":
                return self._desktop.is_own_at(event.data["x"], event.data["y"])
            case "key.down" | "key.up":
                return False  # the desktop reports it with the key
        return self._own_press

    def _note(self, kind: Literal["mark", "help"], note: str) -> bool:
        """Mark this moment. Returns whether it was recorded: False while nothing is recorded."""
        now = now_ns()
        if kept := self._is_kept(now):
            self._buffer.add(Event(kind, now, "receipt", 0, {"note": note}))
        return kept

    def _pause(self, paused: bool, at_ns: int) -> None:
        """Pause or resume at a time. Later input that arrives together with the hotkey of a pause is not stored."""
        if paused == self._paused:
            return
        self._paused = paused
        if paused:
            self._paused_ns = at_ns
        if self._gate.open:
            self._open_until_ns = at_ns if paused else None

    def _keep_frame(self) -> None:
        """Take a frame, unless something private is on the screen afterwards: the picture may show it.

        If a window appeared and disappeared meanwhile, the picture may show that too; then the frame is taken again.
        """
        begin = now_ns()
        damaged, changes = self._pacer.take(begin), self._desktop.changes
        picture = self._desktop.grab()
        end = now_ns()
        self._check_privacy(end, pressed=False)
        if picture is None or self._desktop.changes != changes:
            self._pacer.damage(end)
            return
        if self._size != (picture.width, picture.height):
            self._size = (picture.width, picture.height)
            self._filter.reset()
        if self._gate.open and (pixels := self._filter.new_picture(picture.pixels)) is not None:
            frame = encode_frame(pixels, picture.width, picture.height)
            data = {"sha256": frame.sha256, "width": frame.width, "height": frame.height, "begin_ns": begin}
            data |= {"damaged_ns": damaged, "app": self._desktop.application}
            self._buffer.add(Event("screen.frame", end, "capture", end - begin, data), frame.jpeg)

    def _forget(self, now: int) -> None:
        self._buffer.drop()
        self._writer.forget(now - FORGET_NS, now)
        if self._open_from_ns is not None:
            self._open_from_ns = max(self._open_from_ns, now)
        self._filter.reset()
        self._pacer.damage(now)

    def _sample_clock(self, now: int) -> None:
        self._desktop.sample_clock()
        self._write_clock()
        suspended = self._desktop.suspended_ns()
        if suspended - self._suspended_ns >= SUSPEND_NS:
            seconds = (suspended - self._suspended_ns) / SECOND
            self._store(Event("gap.begin", now, "receipt", 0, {"reason": "suspended", "seconds": seconds}))
            self._store(Event("gap.end", now, "receipt", 0, {"reason": "suspended"}))
        self._suspended_ns = suspended

    def _write_clock(self) -> None:
        data = {"realtime_ns": time.time_ns(), "x_server_error_ns": self._desktop.time_error_ns}
        self._store(Event("clock", now_ns(), "receipt", 0, data))

    def _begin_gap(self, t_ns: int, reason: GapReason) -> None:
        self._gap_open = True
        self._store(Event("gap.begin", t_ns, "receipt", 0, {"reason": reason}))

    def _end_gap(self, t_ns: int) -> None:
        if self._gap_open:
            self._store(Event("gap.end", t_ns, "receipt", 0, {}))
        self._gap_open = False

    def _store(self, event: Event, content: bytes = b"") -> None:
        self._writer.append(event, content)
        self._counts.events += 1
        self._counts.frames += event.kind == "screen.frame"

    def _finish(self) -> None:
        """Store waiting events, and one last frame that shows the result of the last act."""
        if self._voice is not None:
            self._voice.close()
        self.tick()
        time.sleep(TICK_SECONDS)  # an X server sends the last input only after another request
        self.tick()
        if self._gate.open and self._pacer.damaged_ns is not None:
            self._keep_frame()
        self._check_privacy(now_ns(), pressed=False)
        for event, content in self._buffer.release(now_ns(), 0):
            self._store(event, content)
        self._write_clock()
        self._writer.finish(self._outcome)
        self._desktop.close()
