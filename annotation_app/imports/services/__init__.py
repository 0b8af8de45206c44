"""Taking in what was made elsewhere: the only writers of import jobs."""

from annotation_app.imports.services.jobs import (
    import_cancel,
    import_folder_take,
    import_request,
    import_retry,
    import_run,
    imports_stale,
)

__all__ = [
    "import_cancel",
    "import_folder_take",
    "import_request",
    "import_retry",
    "import_run",
    "imports_stale",
]
