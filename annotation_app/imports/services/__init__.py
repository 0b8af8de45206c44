"""Imports of trajectories. Only these services write to import jobs."""

from annotation_app.imports.services.jobs import (
    import_cancel,
    import_folder_run,
    import_request,
    import_retry,
    import_run,
    imports_requeue_stale,
)
from annotation_app.imports.services.uploads import (
    upload_admit,
    upload_append,
    upload_cancel,
    upload_create,
    upload_finish,
    uploads_expire,
)

__all__ = [
    "import_cancel",
    "import_folder_run",
    "import_request",
    "import_retry",
    "import_run",
    "imports_requeue_stale",
    "upload_admit",
    "upload_append",
    "upload_cancel",
    "upload_create",
    "upload_finish",
    "uploads_expire",
]
