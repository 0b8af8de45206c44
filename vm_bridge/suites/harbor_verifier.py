"""The verifier of exported task folders. It runs inside the machine with nothing but Python's standard library.

`checks.json` beside it has the judgements; the answer, where a task asks for one, is in `/home/user/answer.txt`. The
reward, 1 or 0, goes to `/logs/verifier/reward.json`.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any

ANSWER, REWARD, MAX_BYTES = Path("/home/user/answer.txt"), Path("/logs/verifier/reward.json"), 65_536


def read_text(path: str | Path) -> str | None:
    """The beginning of an ordinary file; None where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        ordinary = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return file.read(MAX_BYTES).decode("utf-8", "replace") if ordinary else None


def holds(check: dict[str, Any]) -> bool:
    """Whether a judgement finds no fault. Raises KeyError for one of an unknown kind."""
    return {
        "file_holds": _file_holds,
        "file_absent": lambda check: not os.path.exists(check["path"]),
        "is_executable": lambda check: os.access(check["path"], os.X_OK),
        "answer_is": _answer_is,
        "note_says": _note_says,
    }[check["kind"]](check)


def _file_holds(check: dict[str, Any]) -> bool:
    text = read_text(check["path"])
    return text is not None and text.rstrip() == check["text"].rstrip()


def _answer_is(check: dict[str, Any]) -> bool:
    given = {word.strip(".,;:!?\"'()") for word in (read_text(ANSWER) or "").casefold().split()}
    return not given.isdisjoint(word.casefold() for word in check["words"])


def _note_says(check: dict[str, Any]) -> bool:
    try:
        text = str(json.loads(read_text(check["path"]) or "{}").get(check["title"], "")).casefold()
    except (ValueError, AttributeError):
        return False
    return all(word in text for word in check["words"])


def main() -> None:
    checks = json.loads(Path(__file__).with_name("checks.json").read_text("utf-8"))
    found = [holds(check) for check in checks]
    for check, good in zip(checks, found, strict=True):
        if not good:
            print(f"check failed: {check['kind']} {check.get('path', '')}")
    REWARD.write_text(json.dumps({"reward": int(all(found))}))


if __name__ == "__main__":
    main()
