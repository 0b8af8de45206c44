#!/usr/bin/env python
"""Django's command line."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import os
import sys

from django.core.management import execute_from_command_line

from annotation_app.audit.sources import source_begin
from protocol.legacy_names import current_manage_words

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings.local")
    words = current_manage_words(sys.argv[1:])
    source_begin("command", next(iter(words), ""))
    execute_from_command_line([sys.argv[0], *words])
