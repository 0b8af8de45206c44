"""Packs a session as one zip file for the platform's import: `session.json` and its frames.

The same session gives the same bytes, so that an interrupted upload can resume.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import RecorderError
from .levels import measure_levels
from .sessions import FRAMES, Session

ROW, IMAGES = "session.json", "images"
CONSENT_TO_LEVELS = 3
"""The first version of the consent text that states that loudness is uploaded."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Modification time of every file in the zip."""


def pack_session(session: Session, target: Path) -> None:
    """Write the zip. Raises RecorderError with `no_frames` if the session has no frames."""
    events = list(needed_events(session.events))
    frames = sorted({one["sha256"] for one in events if one["kind"] == "screen.frame"})
    if not frames:
        raise RecorderError("no_frames", f"Session {session.id} holds no frame: there is nothing to upload.")
    row = {**session.manifest, "events": events}
    if session.speech is not None:
        row["speech"] = session.speech
    if _may_upload_levels(session) and (levels := measure_levels(session.folder, session.events)) is not None:
        row["levels"] = levels
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
        archive.writestr(zipfile.ZipInfo(ROW, LONG_AGO), text, zipfile.ZIP_DEFLATED)
        for sha256 in frames:
            content = (session.folder / FRAMES / f"{sha256}.jpg").read_bytes()
            archive.writestr(zipfile.ZipInfo(f"{IMAGES}/{sha256}.jpg", LONG_AGO), content)


def _may_upload_levels(session: Session) -> bool:
    """Whether the person agreed to a text that states the upload of levels."""
    version = str((session.manifest.get("consent") or {}).get("version", ""))
    return version.isdigit() and int(version) >= CONSENT_TO_LEVELS


def needed_events(events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events that acts are made of.

    Leaves out sound. Leaves out pointer moves between acts, since only a drag needs its path. Leaves out inserted text
    if no input method wrote any: keys carry the same text.
    """
    events = list(events)
    composed = any(not one["text"].isascii() for one in events if one["kind"] == "text.inserted")
    pressed: set[int] = set()
    for event in events:
        match event["kind"]:
            case "pointer.down":
                pressed.add(event["button"])
            case "pointer.up":
                pressed.discard(event["button"])
            case "gap.begin":
                pressed.clear()
            case "audio.chunk":
                continue
            case "text.inserted" if not composed:
                continue
            case "pointer.move" if not pressed:
                continue
        yield event
