"""Changes of the graph, places of tasks, wordings by models, and task drafts."""

from annotation_app.design.services.applications import (
    application_add,
    application_decide,
    application_delete,
    application_rename,
    reading_add,
    reading_delete,
    readings_import,
    scoring_change,
)
from annotation_app.design.services.balance import difficulties_guess, wanted_shares_set
from annotation_app.design.services.draft_requests import (
    draft_cell_store,
    draft_request_add,
    draft_request_begin,
    draft_request_cancel,
    draft_request_end,
    draft_request_heartbeat,
    draft_texts_known,
    drafts_written,
)
from annotation_app.design.services.drafts import draft_add, draft_change, drafts_accept, drafts_reject, drafts_reopen
from annotation_app.design.services.nodes import graph_import, node_change, node_delete, node_make, suites_derive
from annotation_app.design.services.placements import tasks_place
from annotation_app.design.services.requests import draft_requests_stale, writings_stale
from annotation_app.design.services.writings import (
    suggestion_accept,
    suggestion_reject,
    writer_add,
    writer_delete,
    writing_begin,
    writing_cancel,
    writing_end,
    writing_heartbeat,
    writing_request,
)

__all__ = [
    "application_add",
    "application_decide",
    "application_delete",
    "application_rename",
    "difficulties_guess",
    "draft_add",
    "draft_cell_store",
    "draft_change",
    "draft_request_add",
    "draft_request_begin",
    "draft_request_cancel",
    "draft_request_end",
    "draft_request_heartbeat",
    "draft_requests_stale",
    "draft_texts_known",
    "drafts_accept",
    "drafts_reject",
    "drafts_reopen",
    "drafts_written",
    "graph_import",
    "node_change",
    "node_delete",
    "node_make",
    "reading_add",
    "reading_delete",
    "readings_import",
    "scoring_change",
    "suggestion_accept",
    "suggestion_reject",
    "suites_derive",
    "tasks_place",
    "wanted_shares_set",
    "writer_add",
    "writer_delete",
    "writing_begin",
    "writing_cancel",
    "writing_end",
    "writing_heartbeat",
    "writing_request",
    "writings_stale",
]
