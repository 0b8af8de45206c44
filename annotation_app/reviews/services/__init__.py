"""Changes to reviews. Only these services write to the review tables. Remarks and corrections are stored apart from the
episode, which never changes."""

from annotation_app.reviews.services.adjudication import task_adjudicate
from annotation_app.reviews.services.batches import (
    batch_begin,
    batch_cancel,
    batch_create,
    batch_end,
    batch_heartbeat,
    batch_next_job,
    batch_resume,
    batches_requeue_stale,
)
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
    refinement_store,
    writing_end,
)
from annotation_app.reviews.services.redaction import words_redact
from annotation_app.reviews.services.refinement import refinement_accept, writing_request
from annotation_app.reviews.services.thoughts import thoughts_edit
from annotation_app.reviews.services.variants import variants_decide, variants_store

__all__ = [
    "DuplicateMatch",
    "batch_begin",
    "batch_cancel",
    "batch_create",
    "batch_end",
    "batch_heartbeat",
    "batch_next_job",
    "batch_resume",
    "batches_requeue_stale",
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
    "variants_decide",
    "variants_store",
    "words_redact",
    "writing_end",
    "writing_request",
]
