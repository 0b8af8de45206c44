"""Changing episodes. Only these services write to the episode tables.

Every durable change is one event: built from its class, applied to the row by `apply_event`, and published
after commit. So `apply_event(old snapshot, event) == new snapshot` holds by construction.
"""

from annotation_app.episodes.services.branches import branches_refresh, episode_branch
from annotation_app.episodes.services.events import RunnerFenced
from annotation_app.episodes.services.ingestion import IncomingEpisode, episodes_ingest
from annotation_app.episodes.services.lifecycle import (
    episode_change,
    episode_claim,
    episode_next,
    episodes_catalogued,
    lease_expire,
    lease_renew,
    leases_expire,
)
from annotation_app.episodes.services.prepared_requests import prepared_request_record
from annotation_app.episodes.services.reviews import episode_review
from annotation_app.episodes.services.runner_leases import (
    machine_set,
    runner_acquire,
    runner_attendance_set,
    runner_release,
    runner_take_over,
    runners_renew,
)
from annotation_app.episodes.services.steps import (
    act_begin,
    blob_add,
    blob_link,
    blob_upload,
    command_record,
    proposal_mark,
    proposals_add,
    proposals_withdraw,
    step_append,
    step_undo,
    thought_write,
)
from annotation_app.episodes.services.supervision import supervisor_control_take, supervisor_note_add

__all__ = [
    "IncomingEpisode",
    "RunnerFenced",
    "act_begin",
    "blob_add",
    "blob_link",
    "blob_upload",
    "branches_refresh",
    "command_record",
    "episode_branch",
    "episode_change",
    "episode_claim",
    "episode_next",
    "episode_review",
    "episodes_catalogued",
    "episodes_ingest",
    "lease_expire",
    "lease_renew",
    "leases_expire",
    "machine_set",
    "prepared_request_record",
    "proposal_mark",
    "proposals_add",
    "proposals_withdraw",
    "runner_acquire",
    "runner_attendance_set",
    "runner_release",
    "runner_take_over",
    "runners_renew",
    "step_append",
    "step_undo",
    "supervisor_control_take",
    "supervisor_note_add",
    "thought_write",
]
