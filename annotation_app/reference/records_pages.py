"""Pages of what the platform reports: events of webhooks, and verbs of the audit log."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from annotation_app.audit.verbs import VERBS
from annotation_app.notifications import webhook_events
from annotation_app.notifications.webhook_events import EVENTS, event_kinds
from annotation_app.reference.markdown import code, page, table
from annotation_app.reference.source_fields import read_class

WORDS = Path("frontend", "src", "shared", "i18n", "en", "audit.ts")


def webhooks_page(root: Path) -> str:
    """Each kind of event with the fields of its message's `data`."""
    sections = []
    for model in EVENTS:
        source = read_class(root, webhook_events.__name__, model.__name__)
        rows = ((code(one.name), code(one.type), one.meaning) for one in source.fields if one.name != "kind")
        fields = table(("field", "type", "meaning"), rows)
        sections.append((", ".join(event_kinds(model)), f"{source.docstring}\n\n{fields}"))
    sections.append(("ping", "The button *Test* sends it. Its `data` is empty."))
    lead = (
        "A message is `{type, timestamp, data}`; `type` is the event. "
        "[Webhooks](../../guides/admin/webhooks.md) has its headers, signature and retries."
    )
    return page("Webhook events", lead, sections)


def audit_page(root: Path) -> str:
    """Each verb with its words on the page, and the details that are stored with it."""
    words = dict(re.findall(r'"audit\.verb\.([\w.]+)": "(.+)"', (root / WORDS).read_text(encoding="utf-8")))
    details = audit_details(root)
    areas: defaultdict[str, list[str]] = defaultdict(list)
    for verb in sorted(VERBS):
        areas[verb.partition(".")[0]].append(verb)
    sections = []
    for area, verbs in areas.items():
        rows = ((code(verb), words[verb], ", ".join(map(code, sorted(details[verb])))) for verb in verbs)
        sections.append((area, table(("verb", "what was done", "details"), rows)))
    lead = (
        "Each entry has a time, a person or a part of the platform, a verb, an object (`kind:id`) and details. "
        "Details that depend on the case are not listed. [Audit log](../../guides/admin/people.md#audit-log)"
    )
    return page("Audit verbs", lead, sections)


def audit_details(root: Path) -> defaultdict[str, set[str]]:
    """The names of the details that are written with each verb, as far as the source has both as literals."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for file in sorted((root / "annotation_app").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "audit_record(" not in text:
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for verb, names in _recorded(function):
                    found[verb] |= names
    return found


def _recorded(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, set[str]]]:
    assigned = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "audit_record":
            given = {one.arg: one.value for one in node.keywords}
            verb, details = given.get("verb"), given.get("details")
            if isinstance(verb, ast.Constant) and isinstance(verb.value, str):
                yield verb.value, _keys(details, assigned)


def _keys(value: ast.expr | None, assigned: dict[str, ast.expr]) -> set[str]:
    """The literal keys of a dictionary, also through a name that was assigned once."""
    if isinstance(value, ast.Name):
        return _keys(assigned.get(value.id), {})
    if not isinstance(value, ast.Dict):
        return set()
    names = {key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    spread = [part for key, part in zip(value.keys, value.values, strict=True) if key is None]
    return names.union(*(_keys(part, assigned) for part in spread))
