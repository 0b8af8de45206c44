"""Who may call the routes of recorders and of people's own recordings; part of `permissions.ROUTES`."""

from benchmarks.parts.safety.rules import Rule, body_of, everybody, only, open_to_all, recording

RECORDER_ROUTES: dict[str, Rule] = {
    "GET /api/recorder": only("owner", "annotator"),
    "POST /api/recorder/computers": only("owner", "annotator", body=body_of(name="Laptop")),
    "DELETE /api/recorder/computers/{computer_id}": recording(),
    "POST /api/recorder/pairing": open_to_all(absent=True, body=body_of(code="CCCC-CCCC", version=1)),
    "DELETE /api/recorder/pairing": everybody(absent=True),
    "GET /api/recorder/pools": only("owner", "annotator"),
    "POST /api/recorder/pools/{pool_id}/consent": only("owner", "annotator", body=body_of(version=1)),
    "GET /api/recorder/recordings/{session_id}": recording(),
    "DELETE /api/recorder/recordings/{session_id}": recording(),
    "POST /api/recorder/recordings/{session_id}/withdrawal": recording(),
    "GET /api/recorder/uploads": only("owner", "annotator"),
    "POST /api/recorder/uploads": only("owner", "annotator"),
    "HEAD /api/recorder/uploads/{session_upload_id}": recording(),
    "PATCH /api/recorder/uploads/{session_upload_id}": recording(),
    "DELETE /api/recorder/uploads/{session_upload_id}": recording(),
    "POST /api/recorder/uploads/{session_upload_id}/import": recording(),
    "GET /api/recorder/imports/{session_import_id}": recording(),
}
