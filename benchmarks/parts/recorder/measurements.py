"""The recorder beside a scripted person at a real X server: what it stores, when, and what it must not."""

import io
import itertools
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import TypeAdapter

from benchmarks.parts.figures import floor_share, percentile
from benchmarks.parts.recorder.accessibility import gtk_program, has_accessibility, private_bus, with_bus
from benchmarks.parts.recorder.canaries import found_canaries
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, SentInput, recorder
from benchmarks.parts.recorder.scripted_input import (
    ALPHABET,
    INPUT_KINDS,
    LEVEL_STEP,
    LEVELS,
    PACE_SECONDS,
    PLACE,
    counted_color,
    match_inputs,
    send_inputs,
    time_errors_ms,
)
from protocol.formats.recorded_acts import RecordedEvent
from protocol.formats.recording_reader import place_acts
from recorder.pilothouse_recorder.sessions import Session, open_session

EVENTS: TypeAdapter[list[RecordedEvent]] = TypeAdapter(list[RecordedEvent])
LOAD_SECONDS = 20.0
"""How long the recorder's use of the processor is measured, while the screen changes all the time."""
LOST_NS = 2_000_000_000
"""What a crash may lose."""
SECRET_COLOR = 0xD02090
CTRL, SHIFT, SUPER, ENTER = 0xFFE3, 0xFFE1, 0xFFEB, 0xFF0D
TICKS = os.sysconf("SC_CLK_TCK")


def measure_events(folder: Path, desktop: Desktop, environment: dict[str, str]) -> dict[str, Any]:
    """A thousand clicks and keys; a window shows how many acts were done, so that every frame tells when it was
    taken."""
    with recorder(folder, environment) as running:
        window = desktop.open_window("form", "form", counted_color(0), place=PLACE)
        running.wait_stored()
        send_inputs(desktop, window)
        running.stop()
        window.destroy()
        desktop.display.sync()
    session = open_session(running.folder)
    return {**_stored_figures(session, desktop.sent), **_act_figures(session)}


def _stored_figures(session: Session, sent: list[SentInput]) -> dict[str, Any]:
    stored = [one for one in session.events if one["kind"] in INPUT_KINDS]
    matched = match_inputs(sent, stored)
    errors = time_errors_ms(matched)
    return {
        "events": len(sent),
        "events_recorded_share": floor_share(len(matched), len(sent)),
        "events_never_sent": len(stored) - len(matched),
        "events_timed": len(errors),
        "event_time_error_p50_ms": percentile(errors, 0.5),
        "event_time_error_p95_ms": percentile(errors, 0.95),
        "event_time_error_stated_ms": round(max(one["t_error_ns"] for one in stored) / 1e6, 2),
    }


def _act_figures(session: Session) -> dict[str, Any]:
    acts, without = place_acts(EVENTS.validate_python(session.events))
    shown: dict[str, int] = {}
    after = stale = 0
    for index, one in enumerate(acts):
        sha256 = one.before.sha256
        if sha256 not in shown:
            shown[sha256] = _shown_count(session.folder / "frames" / f"{sha256}.jpg")
        after += shown[sha256] > index
        stale += shown[sha256] < index
    return {
        "acts": len(acts),
        "acts_without_frame": without,
        "frame_after_act": after,
        "frame_before_other_acts": stale,
        "frames": len(shown),
    }


def _shown_count(path: Path) -> int:
    with Image.open(io.BytesIO(path.read_bytes())) as picture:
        pixel = picture.convert("RGB").getpixel((PLACE[0] + PLACE[2] // 2, PLACE[1] + PLACE[3] // 2))
    assert isinstance(pixel, tuple)
    red, green, blue = (round(channel / LEVEL_STEP) for channel in pixel)
    return (red * LEVELS + green) * LEVELS + blue


def measure_load(folder: Path, desktop: Desktop, environment: dict[str, str]) -> dict[str, Any]:
    """The recorder's use of one core and of memory at 5 frames a second, while the whole screen changes all the
    time."""
    with recorder(folder, environment) as running:
        window = desktop.open_window("film", "film", 0, place=(0, 0, 1280, 720))
        begin, used = time.monotonic(), _processor_seconds(running)
        for count in itertools.count():
            if time.monotonic() - begin >= LOAD_SECONDS:
                break
            desktop.paint(window, counted_color(count))
            desktop.move(count % 1_000, 300)
            time.sleep(PACE_SECONDS)
        seconds = time.monotonic() - begin
        used = _processor_seconds(running) - used
        memory = _peak_memory_mb(running)
        frames = running.command("status")["frames"]
        running.stop()
        window.destroy()
        desktop.display.sync()
    return {
        "cpu_share": round(used / seconds, 3),
        "rss_mb": memory,
        "frames_per_s": round(frames / seconds, 1),
    }


def _processor_seconds(running: RecorderProcess) -> float:
    fields = Path(f"/proc/{running.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _peak_memory_mb(running: RecorderProcess) -> float:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024, 1)


def measure_kills(
    folder: Path, desktop: Desktop, environment: dict[str, str], kills: int, rng: random.Random
) -> dict[str, Any]:
    """Kill the recorder at random moments while a person types; each session must open and lack at most 2 s."""
    survived = 0
    lost: list[float] = []
    for number in range(kills):
        home = folder / str(number)
        with recorder(home, environment) as running:
            desktop.sent.clear()
            ends = time.monotonic() + rng.uniform(0.0, 4.0)
            while time.monotonic() < ends:
                desktop.press(ord(ALPHABET[number % 26]))
                time.sleep(PACE_SECONDS)
            running.process.kill()
            killed_ns = time.monotonic_ns()
        session = open_session(running.folder)
        stored = [one for one in session.events if one["kind"] in INPUT_KINDS]
        due = [one for one in desktop.sent if one.after_ns < killed_ns - LOST_NS]
        last_ns = stored[-1]["t_ns"] if stored else desktop.sent[0].before_ns if desktop.sent else killed_ns
        lost.append((killed_ns - last_ns) / 1e9)
        survived += len(match_inputs(due, stored)) == len(due) and session.manifest["state"] == "crashed"
        shutil.rmtree(home)
    return {"kills": kills, "kills_survived": survived, "kill_lost_max_s": round(max(lost, default=0), 2)}


def measure_canaries(
    folder: Path, desktop: Desktop, environment: dict[str, str], count: int, rng: random.Random
) -> dict[str, Any]:
    """Secrets typed into and shown by whatever is excluded; then every byte is searched. What was typed in between
    must be found: it shows that the search works."""
    with ExitStack() as stack:
        if has_accessibility():
            environment = with_bus(environment, stack.enter_context(private_bus(folder)), folder)
        return _search_canaries(folder, desktop, environment, count, rng)


def _search_canaries(
    folder: Path, desktop: Desktop, environment: dict[str, str], count: int, rng: random.Random
) -> dict[str, Any]:
    options = ("--exclude-app", "vault*", "--exclude-title", "*my bank*")
    canaries: list[str] = []
    controls: list[str] = []
    found: list[str] = []
    seen: set[str] = set()
    part = 0
    while len(canaries) < count:
        home = folder / str(part)
        written: list[str] = []
        with recorder(home, environment, *options) as running:
            person = Secretive(desktop, running, environment, rng)
            for exclusion in person.exclusions:
                written.append(_word(rng))
                desktop.type(written[-1])
                running.wait_stored()
                canaries += exclusion()
            if part % 2:
                running.kill()
            else:
                running.stop()
        desktop.display.sync()
        controls += written
        seen |= {hit.split()[0] for hit in found_canaries(home, written, {})}
        found += found_canaries(home, [*canaries, "my bank", "vault"], {"secret": SECRET_COLOR})
        shutil.rmtree(home)
        part += 1
    return {
        "canaries": len(canaries),
        "canaries_found": len(found),
        "canaries_found_names": found[:5],
        "controls": len(controls),
        "controls_found": len(seen & set(controls)),
        "exclusions": len(person.exclusions),
    }


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(ALPHABET, k=9))


class Secretive:
    """Shows and types secrets in every excluded way; each way returns the texts that must not be found."""

    def __init__(
        self, desktop: Desktop, running: RecorderProcess, environment: Mapping[str, str], rng: random.Random
    ) -> None:
        self._desktop, self._running, self._environment, self._rng = desktop, running, environment, rng
        self.exclusions: tuple[Callable[[], list[str]], ...] = (
            lambda: self.in_window("Entries", "vault-app"),
            lambda: self.in_window("Database", "keepassxc"),
            lambda: self.in_window("my bank - Browser", "browser"),
            lambda: self.in_window("News - Private Browsing", "navigator"),
            lambda: self.in_window("Entries", "vault-app", focused=False),
            self.in_title_that_changes,
            self.in_terminal,
            self.while_paused,
            *([self.in_password_field] if has_accessibility() else []),
        )

    def in_window(self, title: str, application: str, *, focused: bool = True) -> list[str]:
        """An excluded window, in front or at the side."""
        window = self._desktop.open_window(title, application, SECRET_COLOR)
        if focused:
            self._desktop.focus(window)
        texts = [self._type()]
        self._running.wait(reason="excluded")
        texts.append(self._type())
        window.destroy()
        self._desktop.display.sync()
        self._running.wait(recording=True)
        return texts

    def in_title_that_changes(self) -> list[str]:
        """A window that only becomes private when its page is there."""
        window = self._desktop.open_window("Loading", "browser", SECRET_COLOR)
        texts = [self._type()]
        window.set_wm_name("my bank")
        self._desktop.display.sync()
        self._running.wait(reason="excluded")
        window.destroy()
        self._desktop.display.sync()
        self._running.wait(recording=True)
        return texts

    def in_terminal(self) -> list[str]:
        """A password in a terminal."""
        script = "stty -echo; read secret; stty echo; read more"
        with subprocess.Popen(["xterm", "-e", "sh", "-c", script], env=dict(self._environment)) as terminal:
            self._desktop.focus(self._desktop.wait_for_window("xterm"))
            self._running.wait(reason="password")
            texts = [self._type()]
            self._desktop.press(ENTER)
            self._running.wait(recording=True)
            terminal.kill()
        return texts

    def in_password_field(self) -> list[str]:
        """A password field of a real program, known by accessibility."""
        with gtk_program(self._desktop, self._environment) as (left, top):
            self._desktop.click(left + 150, top + 250)
            texts = [self._type()]
            self._running.wait(reason="password")
            texts.append(self._type())
        self._running.wait(recording=True)
        return texts

    def while_paused(self) -> list[str]:
        """A pause, by its hotkey."""
        self._desktop.press(CTRL, SHIFT, SUPER, ord("p"))
        self._running.wait(reason="paused")
        window = self._desktop.open_window("Mail", "mail", SECRET_COLOR)
        texts = [self._type(), self._type()]
        window.destroy()
        self._desktop.display.sync()
        self._running.command("resume")
        self._running.wait(recording=True)
        return texts

    def _type(self) -> str:
        text = _word(self._rng)
        self._desktop.type(text)
        return text
