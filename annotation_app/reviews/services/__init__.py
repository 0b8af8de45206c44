"""Reviewing: the only writers of its tables. What is said and mended stands beside the record, which never changes."""

from annotation_app.reviews.services.adjudication import task_adjudicate
from annotation_app.reviews.services.decisions import (
    review_claim,
    review_decide,
    review_next,
    review_release,
    review_resubmit,
)
from annotation_app.reviews.services.jobs import (
    Found,
    check_end,
    check_request,
    duplicates_end,
    duplicates_request,
    job_begin,
    job_cancel,
    job_fail,
    job_further,
    job_heartbeat,
    jobs_stale,
)
from annotation_app.reviews.services.mending import cut_undo, episode_split, episode_trim, remark_set, step_fix

__all__ = [
    "Found",
    "check_end",
    "check_request",
    "cut_undo",
    "duplicates_end",
    "duplicates_request",
    "episode_split",
    "episode_trim",
    "job_begin",
    "job_cancel",
    "job_fail",
    "job_further",
    "job_heartbeat",
    "jobs_stale",
    "remark_set",
    "review_claim",
    "review_decide",
    "review_next",
    "review_release",
    "review_resubmit",
    "step_fix",
    "task_adjudicate",
]
