"""`pilothouse-recorder`: record, pause, stop, list, edit and upload sessions."""

import argparse
import json
import os
import signal
import sys
import uuid
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .audio.capture import VoiceCapture, check_microphone
from .control import ControlServer, send_command
from .errors import RecorderError
from .pairing import (
    PairedServer,
    find_brief,
    is_paired,
    load_pairing,
    pair,
    pool_terms,
    refresh_pools,
    reopen,
    unpair,
)
from .review import cut, summarize
from .sessions import delete_session, lock_session, open_session, view_session
from .settings import (
    CONSENT_TEXT,
    CONSENT_VERSION,
    SESSIONS,
    URL,
    find_home,
    find_token,
    load_settings,
    require_consent,
    set_consent,
)
from .speech.activity import find_detector
from .speech.engines import find_engine
from .speech.transcription import transcribe_session
from .speech.word_times import find_timer
from .uploads import Server, require_not_uploaded, upload_session

SPEECH_URL = "PILOTHOUSE_SPEECH_URL"
DEFAULT_URL = "http://127.0.0.1:8000"
MAX_INSTRUCTION = 8_000
MAX_KNOWLEDGE = 2_000
MAX_FRAMES_PER_SECOND = 30.0


def main(arguments: list[str] | None = None) -> int:
    """Runs one command. Returns 1 if it fails, with the error code on standard error."""
    options = _parser().parse_args(arguments)
    try:
        home = find_home()
        result = options.run(home, options)
    except RecorderError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"storage: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result, ensure_ascii=False))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pilothouse-recorder",
        description="Records screen and input while you work. What is excluded is never stored. "
        "With Ctrl+Shift+Super: F forgets the last minute, P pauses and goes on, M marks the moment, H outside help.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    record = commands.add_parser("record", help="record until `stop` or Ctrl+C")
    record.add_argument("instruction", type=_instruction, nargs="?", help="what you are going to do")
    record.add_argument("--pool", default="", help="the pool that you record for, by id or name: see `pools`")
    record.add_argument("--task", default="", metavar="KEY", help="the task that you record: its brief is what you do")
    record.add_argument("--track", choices=("expert", "novice"), default="expert", help="how well you know the task")
    record.add_argument(
        "--knows", type=int, choices=range(1, 6), help="how well you know it: 1 not at all, 5 very well"
    )
    record.add_argument("--knowledge", type=_knowledge, default="", metavar="TEXT", help="what you knew of it before")
    record.add_argument("--exclude-app", action="append", default=[], metavar="PATTERN", help="a window's class")
    record.add_argument("--exclude-title", action="append", default=[], metavar="PATTERN", help="a window's title")
    record.add_argument("--fps", type=_frames_per_second, default=5.0, help="most frames a second")
    record.add_argument("--voice", action="store_true", help="record the microphone too: think aloud")
    record.add_argument("--microphone", default="", metavar="NAME", help="the microphone; the default one if left out")
    record.set_defaults(run=_record)
    consent = commands.add_parser("consent", help="print or accept the terms of recording")
    answer = consent.add_mutually_exclusive_group()
    answer.add_argument("--accept", action="store_true", help="agree; recording needs it")
    answer.add_argument("--withdraw", action="store_true", help="agree no longer")
    consent.add_argument("--pool", default="", help="the terms of a pool, by id or name, in place of the recorder's")
    consent.set_defaults(run=_consent)
    microphone = commands.add_parser(
        "microphone", help="listen for three seconds, and print whether anything was heard"
    )
    microphone.add_argument("--microphone", default="", metavar="NAME", help="the microphone")
    microphone.add_argument("--seconds", type=float, default=3.0, help="how many seconds to listen")
    microphone.set_defaults(run=_microphone)
    for name, text in (
        ("pause", "store nothing until `resume`"),
        ("resume", "go on after `pause`"),
        ("forget", "remove the last minute from the disk"),
        ("status", "what is recorded right now"),
    ):
        commands.add_parser(name, help=text).set_defaults(run=_command, command=name, outcome=None, note="")
    for name, command, text in (
        ("mark", "mark", "mark this moment"),
        ("outside-help", "help", "mark that you use help from outside: a search, a manual, a person"),
    ):
        mark = commands.add_parser(name, help=text)
        mark.add_argument("note", nargs="?", default="", help="what it is, in a few words")
        mark.set_defaults(run=_command, command=command, outcome=None)
    stop = commands.add_parser("stop", help="end the session")
    stop.add_argument("--outcome", choices=("success", "failure"), help="how the task ended")
    stop.set_defaults(run=_command, command="stop", note="")
    window = commands.add_parser("window", help="a small window with start, pause, mark, forget and stop")
    window.add_argument("--language", choices=("en", "zh"), help="its language; that of your session by default")
    window.set_defaults(run=_window)
    tray = commands.add_parser("tray", help="an icon in the tray with start, pause, mark and stop")
    tray.add_argument("--language", choices=("en", "zh"), help="its language; that of your session by default")
    tray.set_defaults(run=_tray)
    review = commands.add_parser("review", help="list sessions, see one, cut or delete")
    review.add_argument("session", nargs="?", help="its id")
    review.add_argument("--cut", nargs=2, type=float, metavar=("FROM", "TO"), help="remove these seconds")
    review.add_argument("--delete", action="store_true", help="delete the whole session")
    review.set_defaults(run=_review)
    transcribe = commands.add_parser("transcribe", help="turn a session's voice into words")
    transcribe.add_argument("session", help="its id")
    transcribe.add_argument("--engine", choices=("auto", "server", "whisper", "sphinx"), default="auto")
    transcribe.add_argument("--server", default=os.environ.get(SPEECH_URL, ""), help=f"…/v1; {SPEECH_URL} by default")
    transcribe.add_argument("--model", default="whisper-1", help="the server's model")
    transcribe.add_argument("--weights", type=Path, help="a folder with weights of faster-whisper")
    transcribe.add_argument("--language", default="en", help="its code, such as en or zh")
    transcribe.set_defaults(run=_transcribe)
    upload = commands.add_parser("upload", help="upload a session; repeated, it resumes or sends nothing")
    upload.add_argument("session", help="its id")
    upload.add_argument("--url", default=os.environ.get(URL, DEFAULT_URL), help=f"without pairing: {URL} by default")
    upload.add_argument("--pool", default="", help="the pool of what comes in; the recording's own by default")
    upload.set_defaults(run=_upload)
    reopened = commands.add_parser(
        "reopen", help="allow a session that you deleted on the platform to be cut and uploaded again"
    )
    reopened.add_argument("session", help="its id")
    reopened.set_defaults(run=_reopen)
    pairing = commands.add_parser(
        "pair", help="let this computer upload your recordings, with a code from the web page"
    )
    pairing.add_argument("url", help="the platform's address")
    pairing.add_argument("code", help="the code of the page *Recorder*")
    pairing.add_argument("--insecure", action="store_true", help="allow http:// to another computer")
    pairing.set_defaults(run=_pair)
    commands.add_parser("unpair", help="end the pairing").set_defaults(run=_unpair)
    commands.add_parser("pools", help="list the pools that you may upload to, and their tasks").set_defaults(run=_pools)
    return parser


def _record(home: Path, options: argparse.Namespace) -> Any:
    from .adapters import open_desktop  # needs the libraries of the desktop, which `review` and `upload` do not
    from .recording import Recording

    settings = load_settings(home)
    rules = settings.rules
    rules = type(rules)((*rules.apps, *options.exclude_app), (*rules.titles, *options.exclude_title))
    consent = require_consent(settings)
    brief = find_brief(home, options.pool, options.task) if options.pool or options.task else None
    instruction = options.instruction or (brief.instruction if brief else "")
    if not instruction:
        raise RecorderError("no_instruction", "Say what you are going to do, or name a task with --task.")
    session_id = str(uuid.uuid4())
    manifest = {
        "id": session_id,
        "annotator": settings.annotator,
        "instruction": instruction,
        "track": options.track,
        "consent": asdict(consent),
        "knowledge": {"rating": options.knows, "text": options.knowledge},
    }
    if brief is not None:
        manifest["brief"] = {"pool": brief.pool, "task": brief.task}
    with ControlServer(home) as control:
        voice = VoiceCapture(options.microphone) if options.voice else None
        recording = Recording(home / SESSIONS / session_id, manifest, rules, options.fps, voice, desktop=open_desktop())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: recording.stop())
        print(json.dumps({"session": session_id}), flush=True)
        recording.run(control)
    return recording.status()


def _consent(home: Path, options: argparse.Namespace) -> Any:
    if options.pool:
        return pool_terms(home, options.pool, accept=options.accept, withdraw=options.withdraw)
    if options.accept or options.withdraw:
        set_consent(home, accepted=options.accept)
    given = load_settings(home).consent
    return {"version": CONSENT_VERSION, "text": CONSENT_TEXT, "accepted": None if given is None else asdict(given)}


def _microphone(home: Path, options: argparse.Namespace) -> Any:
    return check_microphone(options.microphone, options.seconds)


def _command(home: Path, options: argparse.Namespace) -> Any:
    return send_command(home, {"command": options.command, "outcome": options.outcome, "note": options.note})


def _window(home: Path, options: argparse.Namespace) -> Any:
    from .window import run_window  # needs tkinter

    return run_window(home, options.language)


def _tray(home: Path, options: argparse.Namespace) -> Any:
    from .tray import run_tray

    return run_tray(home, options.language)


def _review(home: Path, options: argparse.Namespace) -> Any:
    sessions = home / SESSIONS
    if options.session is None:
        running = _running_session(home)
        names = sorted(path.name for path in sessions.iterdir()) if sessions.exists() else []
        return [summarize(view_session(sessions / name)).to_json() for name in names if name != running]
    folder = _session_folder(home, options.session)
    if options.delete:
        with lock_session(folder):
            delete_session(folder)
        return {"deleted": options.session}
    if options.cut is not None:
        with lock_session(folder):
            cut(open_session(folder), *options.cut)
    return summarize(view_session(folder)).to_json()


def _transcribe(home: Path, options: argparse.Namespace) -> Any:
    folder = _session_folder(home, options.session)
    with lock_session(folder):
        session = open_session(folder)
        require_not_uploaded(session)
        engine = find_engine(options.engine, url=options.server, model=options.model, weights=options.weights)
        detector, timer = find_detector(), find_timer(options.language)
        return transcribe_session(session, engine, options.language, detector=detector, timer=timer)


def _upload(home: Path, options: argparse.Namespace) -> Any:
    server = PairedServer(load_pairing(home)) if is_paired(home) else Server(options.url, find_token())
    folder = _session_folder(home, options.session)
    with lock_session(folder):
        session = open_session(folder)
        brief = session.manifest.get("brief") if is_paired(home) else None
        return upload_session(server, session, options.pool or (str(brief["pool"]) if brief else ""))


def _reopen(home: Path, options: argparse.Namespace) -> Any:
    server = PairedServer(load_pairing(home))
    folder = _session_folder(home, options.session)
    with lock_session(folder):
        reopen(server, open_session(folder))
    return {"reopened": options.session}


def _pair(home: Path, options: argparse.Namespace) -> Any:
    pairing = pair(home, options.url, options.code, insecure=options.insecure)
    pools: list[str] = []
    with suppress(RecorderError):  # the pairing has succeeded; `pools` retries
        pools = [pool["name"] for pool in refresh_pools(home)]
    return {"paired": pairing.url, "name": pairing.name, "until": pairing.expires_at, "pools": pools}


def _unpair(home: Path, options: argparse.Namespace) -> Any:
    return {"unpaired": unpair(home).url}


def _pools(home: Path, options: argparse.Namespace) -> Any:
    return refresh_pools(home)


def _session_folder(home: Path, session_id: str) -> Path:
    """Raises RecorderError for an invalid session id, and for the session that is being recorded."""
    try:
        name = str(uuid.UUID(session_id))
    except ValueError:
        raise RecorderError("no_session", f"{session_id!r} is no session's id.") from None
    if name == _running_session(home):
        raise RecorderError("still_recording", "This session is being recorded. Stop it first.")
    return home / SESSIONS / name


def _running_session(home: Path) -> str | None:
    try:
        return str(send_command(home, {"command": "status"})["session"])
    except RecorderError as error:
        if error.code == "not_recording":
            return None
        raise


def _instruction(text: str) -> str:
    if not 1 <= len(text.strip()) <= MAX_INSTRUCTION:
        raise argparse.ArgumentTypeError(f"1 to {MAX_INSTRUCTION} characters")
    return text.strip()


def _knowledge(text: str) -> str:
    if len(text.strip()) > MAX_KNOWLEDGE:
        raise argparse.ArgumentTypeError(f"at most {MAX_KNOWLEDGE} characters")
    return text.strip()


def _frames_per_second(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= MAX_FRAMES_PER_SECOND:
        raise argparse.ArgumentTypeError(f"more than 0 and at most {MAX_FRAMES_PER_SECOND:g}")
    return value


if __name__ == "__main__":
    sys.exit(main())
