"""Changing the graph, placing tasks, and having instructions worded anew."""

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
from annotation_app.design.services.nodes import graph_import, node_change, node_delete, node_make, suites_derive
from annotation_app.design.services.placements import tasks_place
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
    writings_stale,
)

__all__ = [
    "application_add",
    "application_decide",
    "application_delete",
    "application_rename",
    "difficulties_guess",
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
