"""What the tracer of acts counts, is there."""

import importlib

import pytest

from benchmarks.parts.paths.records import counted
from benchmarks.parts.paths.tracer.sitecustomize import COUNTED


@pytest.mark.parametrize(("file", "name"), COUNTED)
def test_a_function_whose_calls_are_counted_is_there(file: str, name: str) -> None:
    found = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


def test_modules_of_types_do_not_count() -> None:
    logic = {"protocol/messages/state.py", "protocol/dialects/registry.py", "vm_bridge/pool.py"}
    types = {
        "protocol/blobs.py",
        "protocol/messages/events.py",
        "vm_bridge/errors.py",
        "annotation_app/tasks/models.py",
    }
    assert counted(logic | types) == sorted(logic)
