"""The client's models of answers have the fields and types of the server's."""

import json
from typing import Any

import pytest

from annotation_app.client import Query, responses
from annotation_app.urls import api


def _described(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = api.get_openapi_schema()["components"]["schemas"][name]
    return schema


@pytest.mark.parametrize(
    "model",
    [kind for kind in vars(responses).values() if isinstance(kind, type) and kind.__module__ == responses.__name__],
    ids=lambda kind: kind.__name__,
)
def test_the_clients_models_are_the_servers(model: type[Any]) -> None:
    """Every field is there, of the same type, and may be missing where the server's may."""
    if model is responses.ServerResponse:
        return
    if model is Query:
        operation = api.get_openapi_schema()["paths"]["/api/trajectories"]["get"]
        asked = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
        assert asked == set(Query.model_fields) | {"after"}
        return
    theirs, ours = _described(model.__name__)["properties"], model.model_json_schema()["properties"]
    assert set(ours) <= set(theirs)
    for name in ours:
        if name not in ("query", "policy", "items"):
            assert _shape(ours[name]) == _shape(theirs[name]), name


def _shape(schema: dict[str, Any]) -> Any:
    """A field's type, whatever it is called and described as."""
    if "anyOf" in schema:
        return sorted(json.dumps(_shape(one)) for one in schema["anyOf"])
    return {key: schema[key] for key in ("type", "format", "enum") if key in schema}
