"""What a client says of a refusal."""

from typing import Any

import pytest

from annotation_app.client.errors import Invalid, refused


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (
            {"fields": [{"field": "plan.format", "message": "unknown format 'x'"}]},
            "No. plan.format: unknown format 'x'.",
        ),
        ({"fields": []}, "No."),
        ({"fields": "x"}, "No."),
        (None, "No."),
    ],
)
def test_a_refusal_names_the_field(extra: Any, said: str) -> None:
    error = refused(422, {"code": "invalid", "message": "No.", "extra": extra})
    assert isinstance(error, Invalid)
    assert str(error) == said
