"""The page of the HTTP API, from its OpenAPI document."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from annotation_app.reference.markdown import code, page, table

Schema = Mapping[str, Any]


def http_page(document: Schema) -> str:
    """Every route by its tag, and every schema with its fields.

    Args:
        document: OpenAPI 3, as `manage.py export_openapi_schema` prints it.
    """
    by_tag: dict[str, list[str]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            by_tag[" ".join(route.get("tags", ["other"]))].append(_route(method, path, route))
    schemas = (
        f"### {name}\n\n{schema.get('description', '')}\n\n{_fields(schema)}"
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    lead = (
        "Every path begins with `/api`. People use the session's cookie, programs a token"
        " (`Authorization: Bearer …`). The wire's page has the errors' shape and codes."
    )
    sections = [(tag, "\n\n".join(routes)) for tag, routes in sorted(by_tag.items())]
    return page("HTTP API", lead, [*sections, ("Schemas", "\n\n".join(schemas))])


def _route(method: str, path: str, route: Schema) -> str:
    parameters = table(
        ("parameter", "in", "type", "required"),
        (
            (code(one["name"]), one["in"], schema_name(one.get("schema", {})), "yes" if one.get("required") else "")
            for one in route.get("parameters", ())
        ),
    )
    body = _content(route.get("requestBody", {}))
    answers = (
        f"`{status}` {_content(answer)}".strip() for status, answer in sorted(route.get("responses", {}).items())
    )
    signed = "" if route.get("security") else " No sign-in needed."
    parts = (
        f"### {method.upper()} {path.removeprefix('/api')}",
        route.get("description", "") + signed,
        parameters,
        f"Body: {body}" if body else "",
        f"Answers: {', '.join(answers)}",
    )
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _content(place: Schema) -> str:
    return " or ".join(schema_name(one.get("schema", {})) for one in place.get("content", {}).values())


def _fields(schema: Schema) -> str:
    """One line per field."""
    required = set(schema.get("required", ()))
    lines = []
    for name, one in schema.get("properties", {}).items():
        default = "" if name in required else f"; {_default(one)}"
        meaning = " ".join(one.get("description", "").split())
        lines.append(f"* {code(name)}: {schema_name(one)}{default}{meaning and f'. {meaning}'}")
    return "\n".join(lines) or schema_name(schema)


def _default(schema: Schema) -> str:
    return f"default {code(repr(schema['default']))}" if "default" in schema else "optional"


def schema_name(schema: Schema) -> str:
    """The description of a schema, on one line."""
    if "$ref" in schema:
        return code(str(schema["$ref"]).rsplit("/", 1)[-1])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(schema_name(one) for one in schema[several])
    if "enum" in schema:
        return ", ".join(code(str(one)) for one in schema["enum"])
    if "const" in schema:
        return code(str(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {schema_name(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {schema_name(schema['additionalProperties'])}"
    return f"{schema.get('format') or schema.get('type') or 'any JSON'}{_bounds(schema)}"


def _bounds(schema: Schema) -> str:
    signs = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
    given = [f"{sign} {schema[name]}" for name, sign in signs.items() if name in schema]
    if "maxLength" in schema:
        given.append(f"at most {schema['maxLength']} characters")
    return f" ({', '.join(given)})" if given else ""
