"""Changing the graph, placing tasks, and having instructions worded anew."""

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
    "graph_import",
    "node_change",
    "node_delete",
    "node_make",
    "suggestion_accept",
    "suggestion_reject",
    "suites_derive",
    "tasks_place",
    "writer_add",
    "writer_delete",
    "writing_begin",
    "writing_cancel",
    "writing_end",
    "writing_heartbeat",
    "writing_request",
    "writings_stale",
]
