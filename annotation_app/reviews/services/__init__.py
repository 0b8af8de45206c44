"""Reviewing: the only writers of its tables. What is said and mended stands beside the record, which never changes."""

from annotation_app.reviews.services.adjudication import task_adjudicate
from annotation_app.reviews.services.corrections import cut_undo, episode_split, episode_trim, remark_set, step_fix
from annotation_app.reviews.services.decisions import (
    review_claim,
    review_decide,
    review_next,
    review_release,
    review_resubmit,
)
from annotation_app.reviews.services.jobs import (
    DuplicateMatch,
    check_end,
    check_request,
    duplicates_end,
    duplicates_request,
    job_begin,
    job_cancel,
    job_fail,
    job_heartbeat,
    job_progress_set,
    jobs_stale,
    refinement_end,
    refinement_store,
)
from annotation_app.reviews.services.redaction import words_redact
from annotation_app.reviews.services.refinement import refinement_accept, refinement_request
from annotation_app.reviews.services.thoughts import thoughts_edit

__all__ = [
    "DuplicateMatch",
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
    "job_heartbeat",
    "job_progress_set",
    "jobs_stale",
    "refinement_accept",
    "refinement_end",
    "refinement_request",
    "refinement_store",
    "remark_set",
    "review_claim",
    "review_decide",
    "review_next",
    "review_release",
    "review_resubmit",
    "step_fix",
    "task_adjudicate",
    "thoughts_edit",
    "words_redact",
]
