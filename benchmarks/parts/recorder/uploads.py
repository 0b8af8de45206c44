"""An upload to a real platform over a line that breaks all the time."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.temporary_platform import temporary_platform
from benchmarks.parts.figures import print_progress
from recorder.pilothouse_recorder import uploads
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.sessions import open_session
from recorder.pilothouse_recorder.uploads import Answer, Server, upload_session

ADD_RESEARCHER = (
    "from annotation_app.accounts.services import token_add, user_ensure\n"
    "user = user_ensure(username='recorder', password='', name='', roles=['researcher'])\n"
    "print(token_add(user=user, name='recorder', days=1, scopes=('imports:read', 'imports:write'))[0])"
)
BREAKS_SHARE = 0.4
PART_BYTES = 256 * 1024
MAX_TRIES = 200


class BreakingServer(Server):
    """Loses parts and answers at random, and counts what reached the platform."""

    def __init__(self, url: str, token: str, rng: random.Random) -> None:
        super().__init__(url, token)
        self._rng = rng
        self.parts: list[tuple[int, int]] = []

    def call(self, method: str, path: str, headers: Mapping[str, str] = {}, body: bytes | None = None) -> Answer:
        """A call that may break off before it is sent, or lose its answer."""
        if method != "PATCH":
            return super().call(method, path, headers, body)
        if self._rng.random() < BREAKS_SHARE:
            raise RecorderError("unreachable", "broken before it was sent")
        self.parts.append((int(headers["Upload-Offset"]), len(body or b"")))
        answer = super().call(method, path, headers, body)
        if self._rng.random() < BREAKS_SHARE:
            raise RecorderError("unreachable", "the answer was lost")
        return answer


def measure_upload(data: Path, session_folder: Path, rng: random.Random) -> dict[str, Any]:
    """Upload a session, beginning again whenever the recorder gives up; then once more, which must send nothing."""
    uploads.PART_BYTES = PART_BYTES
    with temporary_platform(data) as platform:
        token = platform.manage("shell", "-v", "0", "-c", ADD_RESEARCHER).split()[-1]
        server = BreakingServer(platform.url, token, rng)
        session = open_session(session_folder)
        tries, job = 0, None
        while job is None and tries < MAX_TRIES:
            tries += 1
            try:
                job = upload_session(server, session, "Recorded")
            except RecorderError as error:
                if error.code != "unreachable":
                    raise
                print_progress(f"upload: {error}")
        assert job is not None, f"the upload was not through after {MAX_TRIES} tries"
        sent = len(server.parts)
        upload_session(server, session, "Recorded")
    highest = twice = 0
    for offset, size in server.parts:
        twice += max(0, min(highest, offset + size) - offset)
        highest = max(highest, offset + size)
    return {
        "upload_bytes": highest,
        "upload_tries": tries,
        "upload_resumed_bytes_twice": twice,
        "upload_repeated_parts": len(server.parts) - sent,
        "imported_steps": job["steps"],
    }
