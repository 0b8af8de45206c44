"""Names of tests do not change from one collection to the next."""

import io
import zipfile

import pytest


def archive() -> bytes:
    """A zip file, which holds the time of its making."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("row", b"{}")
    return made.getvalue()


@pytest.mark.parametrize("data", [archive(), b"short"])
def test_a_file_is_named_after_its_parameter(request: pytest.FixtureRequest, data: bytes) -> None:
    assert request.node.name.endswith("[short]" if data == b"short" else "[data]")
