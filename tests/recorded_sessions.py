"""A recorded session that somebody thought aloud in, as the recorder uploads it."""

from typing import Any
from uuid import UUID

SECOND = 1_000_000_000
SECRET = "Mustermann"
SAID = [(1.0, f"I open {SECRET}'s mail."), (4.1, "It opened."), (6.0, "Now I close the window.")]
"""When it was said, before the first act at 3 s, after it, and before the second one at 9 s."""


def words() -> list[dict[str, Any]]:
    return [
        {"t_ns": int((begin + 0.2 * place) * SECOND), "end_ns": int((begin + 0.2 * place + 0.15) * SECOND), "text": one}
        for begin, text in SAID
        for place, one in enumerate(text.split())
    ]


def session_row(session: UUID, picture: str) -> dict[str, Any]:
    """A session with two clicks on one picture (its SHA-256), as `session.json` of an upload has it."""

    def at(seconds: float, kind: str, **fields: Any) -> dict[str, Any]:
        return {"kind": kind, "t_ns": int(seconds * SECOND), "t_error_ns": 0, **fields}

    frames = [at(second, "screen.frame", sha256=picture, damaged_ns=0, app="mail") for second in (0, 3.5, 9.5)]
    link = {"role": "link", "name": f"From {SECRET}", "bounds": [0, 0, 20, 10], "late_ns": 7}
    clicks = [
        at(second + late, f"pointer.{kind}", x=5, y=5, button=1, **({"element": link} if second == 3 else {}))
        for second in (3, 9)
        for late, kind in ((0, "down"), (0.05, "up"))
    ]
    return {
        "format": "pilothouse-session-1",
        "id": str(session),
        "annotator": "recorder-1",
        "instruction": "Read the mail",
        "track": "expert",
        "state": "finished",
        "outcome": "success",
        "clock": {"monotonic_ns": 0, "realtime_ns": 1_795_000_000 * SECOND},
        "events": sorted([*frames, *clicks], key=lambda event: event["t_ns"]),
        "speech": {"engine": "scripted", "language": "en", "words": words()},
        "levels": {"rate": 20, "runs": [{"t_ns": SECOND, "values": "AP8="}]},
    }
