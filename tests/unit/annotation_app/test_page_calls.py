"""The calls that pages show take the token that they are shown with."""

import re

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.urls import api

SOURCES = ROOT / "frontend" / "src"
CALL = re.compile(r'apiCall\("[\w.]+", "([A-Z]+)", (?:"([^"]+)"|`([^`]+)`)')
TOKENS = {"TokenBearer", "AnyToken"}
OPEN_CALLS = {"GET /health"}
"""Calls that need no token."""


def shown_calls() -> set[str]:
    """Method and path of each call, with `{}` for what the page fills in."""
    files = [SOURCES / "app/page-calls/calls.ts", SOURCES / "features/pools/tasks-dialog.tsx"]
    found = [match for file in files for match in CALL.findall(file.read_text())]
    return {
        f"{method} {re.sub(r'[$][{][^}]*[}]', '{}', (plain or template).partition('?')[0])}"
        for method, plain, template in found
    }


def test_every_call_takes_a_token() -> None:
    taking = {
        f"{method.upper()} {re.sub(r'[{][^}]*[}]', '{}', path.removeprefix('/api'))}"
        for path, operations in api.get_openapi_schema(path_prefix="/api/")["paths"].items()
        for method, operation in operations.items()
        if any(TOKENS & scheme.keys() for scheme in operation.get("security", ()))
    }
    calls = shown_calls()
    assert len(calls) > 60, "the calls are no longer found in the source"
    assert calls - OPEN_CALLS - taking == set()
