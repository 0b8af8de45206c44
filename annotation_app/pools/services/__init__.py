"""Changing pools and their tasks; each change is in the audit log."""

from annotation_app.pools.services.mcp_servers import mcp_server_remove, mcp_server_set, mcp_server_try
from annotation_app.pools.services.settings import (
    choices,
    credential_remove,
    credential_set,
    group_set,
    pool_create,
    pool_start,
    pool_stop,
    pools_change,
    worker_set,
)
from annotation_app.pools.services.task_pools import source_pool_ensure
from annotation_app.pools.services.uploads import MAX_UPLOAD_BYTES, suite_upload, tasks_upload

__all__ = [
    "MAX_UPLOAD_BYTES",
    "choices",
    "credential_remove",
    "credential_set",
    "group_set",
    "mcp_server_remove",
    "mcp_server_set",
    "mcp_server_try",
    "pool_create",
    "pool_start",
    "pool_stop",
    "pools_change",
    "source_pool_ensure",
    "suite_upload",
    "tasks_upload",
    "worker_set",
]
