"""What only Django's admin or only the interface can do, from what is registered, the pages' source and the guides."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.rooms.page_calls import Call, find_unused, named_calls, page_calls

VERBS = ("view", "add", "change", "delete")
SOURCES = ROOT / "frontend" / "src"
NO_PAGES = ("generated", "testing")
"""Folders of the front-end in which no page is."""
COUNTERPARTS: Mapping[str, Mapping[str, str]] = {
    "accounts.Token": {"view": "GET /api/me/security", "delete": "DELETE /api/people/{user_id}/tokens"},
    "accounts.User": {
        "view": "GET /api/people",
        "add": "POST /api/invitations",
        "change": "PATCH /api/people/{user_id}",
        "delete": "POST /api/people/{user_id}/erase",
    },
    "audit.AuditEntry": {"view": "GET /api/audit"},
    "design.Writer": {
        "view": "GET /api/design",
        "add": "POST /api/design/writers",
        "delete": "DELETE /api/design/writers/{writer_id}",
    },
    "episodes.Command": {"view": "GET /api/episodes/{episode_id}/trajectory"},
    "episodes.Episode": {"view": "GET /api/episodes"},
    "episodes.Step": {"view": "GET /api/episodes/{episode_id}/trajectory"},
    "exports.Export": {"view": "GET /api/exports"},
    "imports.Import": {"view": "GET /api/imports"},
    "imports.Upload": {"view": "GET /api/imports/uploads"},
    "judges.Judge": {
        "view": "GET /api/judges",
        "add": "POST /api/judges",
        "delete": "DELETE /api/judges/{judge_id}",
    },
    "judges.Judgement": {"view": "GET /api/episodes/{episode_id}/review/sheet"},
    "judges.Run": {"view": "GET /api/judges"},
    "notifications.Delivery": {"view": "GET /api/webhooks/{webhook_id}/deliveries"},
    "notifications.Notice": {"view": "GET /api/notices"},
    "notifications.Webhook": {"view": "GET /api/webhooks"},
    "policies.PolicyRevision": {
        "view": "GET /api/policies",
        "add": "POST /api/policies",
        "delete": "PATCH /api/policies/{revision_id}",
    },
    "probes.PolicyProbe": {"view": "GET /api/probes"},
    "promotions.GateDecision": {"view": "GET /api/policies/pools"},
    "recorder.PairedComputer": {"view": "GET /api/recorder"},
    "recorder.RecordedSession": {"view": "GET /api/recorder"},
    "recordings.Recording": {"view": "GET /api/episodes/{episode_id}/recording"},
    "refills.Refill": {"view": "GET /api/pools/{pool_id}/refill"},
    "refills.RefillRule": {"view": "GET /api/pools/{pool_id}/refill"},
    "retention.Rule": {"view": "GET /api/retention"},
    "reviews.Adjudication": {"view": "GET /api/reviews/meetings"},
    "reviews.Job": {"view": "GET /api/episodes/{episode_id}/review/sheet"},
    "reviews.Opinion": {"view": "GET /api/reviews/agreement"},
    "reviews.Round": {"view": "GET /api/episodes/{episode_id}/review/sheet"},
    "tasks.Assignment": {"view": "GET /api/pools/board"},
    "tasks.Pool": {"view": "GET /api/pools/board"},
    "tasks.Task": {
        "view": "GET /api/pools/{pool_id}/tasks",
        "change": "PATCH /api/tasks/{task_id}",
        "delete": "POST /api/pools/{pool_id}/tasks/deletion",
    },
}
"""By model and what Django's admin lets a superuser do with it, the call of a page that does the same."""


NO_GUIDES = frozenset({"adr", "generated"})
"""Folders whose pages do not tell people to make a call: decisions, and the list of all routes."""


def measure_reach() -> dict[str, object]:
    """Count and name what has no page. Django must be set up."""
    routes = _routes()
    pages = page_calls(
        {
            path: path.read_text()
            for path in sorted(SOURCES.rglob("*.ts*"))
            if ".test." not in path.name and not {*path.relative_to(SOURCES).parts} & {*NO_PAGES}
        }
    )
    guides = named_calls(
        path.read_text() for path in sorted((ROOT / "docs").glob("**/*.md")) if not {*path.parts} & NO_GUIDES
    )
    only_admin = admin_only(_admin_verbs(), COUNTERPARTS, routes, pages)
    only_api = find_unused(routes, pages | guides)
    return {
        "routes": len(routes),
        "django_admin_only": len(only_admin),
        "django_admin_only_names": only_admin,
        "api_only": len(only_api),
        "api_only_names": only_api,
    }


def admin_only(
    verbs: Iterable[str], counterparts: Mapping[str, Mapping[str, str]], routes: Iterable[str], calls: frozenset[Call]
) -> tuple[str, ...]:
    """Of what an admin can do, `tasks.Task delete`, that which no page does.

    A counterpart counts where the route is there and a page calls it.
    """
    known = set(routes) - set(find_unused(routes, calls))
    found = []
    for each in verbs:
        model, verb = each.split()
        if counterparts.get(model, {}).get(verb) not in known:
            found.append(each)
    return tuple(found)


def _routes() -> tuple[str, ...]:
    from annotation_app.urls import api

    paths: Mapping[str, Any] = api.get_openapi_schema(path_prefix="/api/")["paths"]
    return tuple(f"{method.upper()} {path}" for path, operations in paths.items() for method in operations)


def _admin_verbs() -> tuple[str, ...]:
    """Model and verb of everything a superuser may do in Django's admin."""
    from django.contrib import admin
    from django.test import RequestFactory

    import annotation_app.urls  # noqa: F401 - it registers the admins

    request: Any = RequestFactory().get("/admin/")
    request.user = SimpleNamespace(has_perm=lambda name: True, is_active=True, is_staff=True, is_superuser=True)
    return tuple(
        f"{model._meta.label} {verb}"
        for model, page in sorted(admin.site._registry.items(), key=lambda item: item[0]._meta.label)
        for verb in VERBS
        if getattr(page, f"has_{verb}_permission")(request)
    )


def main() -> None:
    import json

    import django

    django.setup()
    print(json.dumps(measure_reach()))


if __name__ == "__main__":
    main()
