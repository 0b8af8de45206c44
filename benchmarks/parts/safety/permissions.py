"""Who may call what: a row for every HTTP route and every command of the desk's socket.

A new route needs a row in `ROUTES`, under its method and its path as the interface's own description spells it; a
name in its path that is not there yet needs a maker in `things.NAMES`. `test_permissions.py` and
`./pilothouse bench safety` call each as everybody.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from benchmarks.parts.safety.things import NAMES, PASSWORD, Things, evaluation_report, invitation_secret, wheel_change

Caller = Literal["nobody", "owner", "annotator", "reviewer", "researcher", "admin"]
"""`owner` is the annotator whose episode it is (token, session, …), `annotator` another one."""
CALLERS: tuple[Caller, ...] = ("nobody", "owner", "annotator", "reviewer", "researcher", "admin")
SIGNED_IN = frozenset(CALLERS) - {"nobody"}
JSON = "application/json"
MCP_SERVER = {"transport": "http", "url": "http://127.0.0.1:8765/mcp"}


@dataclass(frozen=True, slots=True)
class Rule:
    """Whom a route lets in; the others are told 401 without a sign-in, else 403, or 404 where it is to be hidden from
    them that there is such a thing."""

    callers: frozenset[Caller]
    hidden: frozenset[Caller] = frozenset()
    body: Callable[[Things], dict[str, Any]] = field(default=lambda things: {})
    absent: bool = False
    """Whether those who are let in are told 404 here: what they ask of is only there while a machine runs, or takes two
    episodes."""
    path: str = ""
    """What follows the path: a query that the route insists on."""


def body_of(**fields: Any) -> Callable[[Things], dict[str, Any]]:
    """A body that needs nothing of the database."""
    return lambda things: fields


def only(*callers: Caller, **rule: Any) -> Rule:
    """For these roles; the rest are told that it is not for them."""
    return Rule(frozenset(callers), **rule)


def open_to_all(**rule: Any) -> Rule:
    """Without a sign-in."""
    return Rule(frozenset(CALLERS), **rule)


def everybody(**rule: Any) -> Rule:
    """For whoever is signed in."""
    return Rule(SIGNED_IN, **rule)


def owner_and_staff(**rule: Any) -> Rule:
    """For the owner and the staff; to others it does not exist."""
    return Rule(SIGNED_IN - {"annotator"}, frozenset({"annotator"}), **rule)


def staff(**rule: Any) -> Rule:
    """For whoever may see the work of others."""
    return Rule(frozenset({"reviewer", "researcher", "admin"}), **rule)


def reviewing(**rule: Any) -> Rule:
    """For reviewers and admins; where it is somebody's, other annotators are not told that there is such a thing."""
    return Rule(frozenset({"reviewer", "admin"}), **rule)


def owner_only(**rule: Any) -> Rule:
    """For the owner alone; to others it does not exist."""
    return Rule(frozenset({"owner"}), SIGNED_IN - {"owner"}, **rule)


def uploading(**rule: Any) -> Rule:
    """For the researcher whose upload it is; to an admin, who may import as well, it does not exist."""
    return Rule(frozenset({"researcher"}), frozenset({"admin"}), **rule)


ROUTES: dict[str, Rule] = {
    "GET /api/openapi.json": open_to_all(),
    "GET /api/health": open_to_all(),
    "GET /api/health/parts": only("researcher", "admin"),
    "GET /api/health/models/{revision_id}": only("researcher", "admin"),
    "GET /api/metrics": only("admin"),
    "GET /api/session": open_to_all(),
    "POST /api/session": open_to_all(body=body_of(username="ada", password="wrong")),
    "DELETE /api/session": everybody(),
    "POST /api/session/forgotten": open_to_all(body=body_of(login="nobody-of-this-name")),
    "POST /api/session/password-link": open_to_all(absent=True, body=body_of(secret="a-secret-of-no-link-there-is")),
    "POST /api/session/password": open_to_all(
        absent=True, body=body_of(secret="a-secret-of-no-link-there-is", password="long enough 1")
    ),
    "PATCH /api/me": everybody(body=body_of(preferences={})),
    "GET /api/me/signed-in": everybody(),
    "GET /api/me/security": everybody(),
    "POST /api/me/reauthenticate": everybody(body=body_of(password=PASSWORD)),
    "POST /api/me/password": everybody(body=body_of(current=PASSWORD, new="long enough 1")),
    "POST /api/me/factor": everybody(),
    "POST /api/me/factor/confirm": everybody(body=body_of(code="000000")),
    "POST /api/me/factor/remove": everybody(),
    "POST /api/me/factor/codes": everybody(),
    "POST /api/me/sign-ins/end-others": everybody(),
    "DELETE /api/me/sign-ins/{sign_in_id}": owner_only(),
    "POST /api/me/tokens": everybody(body=body_of(name="mine", scopes=["*:read"], days=1)),
    "DELETE /api/me/tokens/{token_id}": owner_only(),
    "GET /api/people": only("admin"),
    "GET /api/people/names": staff(),
    "PATCH /api/people/{user_id}": only("admin", body=body_of(skills=["phones"])),
    "POST /api/people/{user_id}/erase": only("admin", body=body_of(username="ben", remove_work=True)),
    "DELETE /api/people/{user_id}/factor": only("admin"),
    "DELETE /api/people/{user_id}/sign-ins": only("admin"),
    "DELETE /api/people/{user_id}/tokens": only("admin"),
    "POST /api/people/{user_id}/password-link": only("admin"),
    "GET /api/groups": only("admin"),
    "POST /api/groups": only("admin", body=body_of(name="night")),
    "PUT /api/groups/{group_id}": only("admin", body=body_of(name="night")),
    "DELETE /api/groups/{group_id}": only("admin"),
    "GET /api/invitations": only("admin"),
    "POST /api/invitations": only("admin", body=body_of(roles=["annotator"])),
    "DELETE /api/invitations/{invitation_id}": only("admin"),
    "POST /api/join/invitation": open_to_all(body=lambda things: {"secret": invitation_secret(things)}),
    "POST /api/join": open_to_all(
        absent=True,
        body=body_of(secret="a-secret-of-no-invitation", username="new", name="N", password="long enough 1"),
    ),
    "GET /api/audit": only("admin"),
    "GET /api/queue": everybody(),
    "POST /api/queue/next": only("owner", "annotator"),
    "GET /api/pools": everybody(),
    "POST /api/tasks/{task_id}/reopen": only("admin"),
    "POST /api/tasks/{task_id}/gold": only("reviewer", "admin", body=body_of(episode=None)),
    "PATCH /api/tasks/{task_id}": only("admin"),
    "GET /api/tasks/{task_id}/references": only("reviewer", "admin"),
    "POST /api/pools/{pool_id}/tasks/withdrawal": only("admin", body=body_of(tasks=[1])),
    "POST /api/pools/{pool_id}/tasks/gold": only("admin", body=body_of(tasks=[1])),
    "POST /api/pools/{pool_id}/tasks/deletion": only("admin", body=body_of(tasks=[1])),
    "GET /api/pools/board": only("admin"),
    "GET /api/pools/choices": only("admin"),
    "POST /api/pools": only("admin", body=body_of(settings={"name": "new"})),
    "PATCH /api/pools": only(
        "admin",
        body=lambda things: {
            "pools": [{"id": things.pool.pk, "version": things.pool.version}],
            "changes": {"priority": 1},
        },
    ),
    "GET /api/pools/{pool_id}": only("admin"),
    "POST /api/pools/{pool_id}/stop": only("admin"),
    "DELETE /api/pools/{pool_id}/stop": only("admin"),
    "GET /api/benchmarks": only("researcher", "admin"),
    "POST /api/environments/access": only("researcher", "admin"),
    "POST /api/benchmarks": only("researcher", "admin", absent=True, body=body_of(benchmark="pool:none")),
    "GET /api/benchmarks/-/choices": only("researcher", "admin"),
    "GET /api/benchmarks/-/unfinished": only("researcher", "admin"),
    "POST /api/benchmarks/{run}/resume": only("researcher", "admin", absent=True),
    "POST /api/benchmarks/{run}/restart": only("researcher", "admin", absent=True),
    "GET /api/benchmarks/{run}": only("researcher", "admin", absent=True),
    "DELETE /api/benchmarks/{run}": only("researcher", "admin", absent=True),
    "POST /api/benchmarks/{run}/cancel": only("researcher", "admin", absent=True),
    "GET /api/evaluations": only("researcher", "admin"),
    "POST /api/evaluations": only("admin", absent=True, body=body_of(run="none")),
    "GET /api/evaluations/{evaluation_id}": only("researcher", "admin", absent=True),
    "DELETE /api/evaluations/{evaluation_id}": only("admin", absent=True),
    "GET /api/evaluations/{evaluation_id}/against/{before_id}": only("researcher", "admin", absent=True),
    "GET /api/suites/{suite}/pictures": only("researcher", "admin"),
    "GET /api/pools/definitions": only("admin", absent=True, path="?pool=none"),
    "GET /api/pools/{pool_id}/tasks": only("admin"),
    "POST /api/pools/{pool_id}/tasks": only("admin"),
    "POST /api/pools/{pool_id}/suite": only("admin", body=body_of(suite="desktop")),
    "POST /api/pools/{pool_id}/people/{person_id}": only("admin"),
    "DELETE /api/pools/{pool_id}/people/{person_id}": only("admin"),
    "POST /api/pools/{pool_id}/groups/{group_id}": only("admin"),
    "DELETE /api/pools/{pool_id}/groups/{group_id}": only("admin"),
    "POST /api/pools/{pool_id}/credentials/{name}": only("admin", body=body_of(value="a secret")),
    "DELETE /api/pools/{pool_id}/credentials/{name}": only("admin", absent=True),
    "POST /api/pools/{pool_id}/mcp-servers/{name}": only("admin", body=body_of(server=MCP_SERVER)),
    "DELETE /api/pools/{pool_id}/mcp-servers/{name}": only("admin", absent=True),
    "POST /api/pools/{pool_id}/mcp-servers/{name}/trial": only("admin", body=body_of(server=MCP_SERVER)),
    "POST /api/pools/{pool_id}/consent": only("owner", "annotator", body=body_of(version=1)),
    "GET /api/pools/{pool_id}/duplicates": staff(),
    "POST /api/pools/{pool_id}/duplicates": reviewing(),
    "GET /api/policies": only("researcher", "admin"),
    "POST /api/policies": only(
        "admin",
        body=body_of(name="new", revision="1", dialect="ui_tars_1_5", base_url="http://model/v1", model="m"),
    ),
    "PATCH /api/policies/{revision_id}": only("admin", body=body_of(model="m")),
    "GET /api/policies/dialects": only("researcher", "admin"),
    "GET /api/policies/prompts/{dialect}": only("researcher", "admin"),
    "GET /api/policies/pools": only("researcher", "admin"),
    "POST /api/policies/{revision_id}/evaluations": only("admin", body=evaluation_report),
    "POST /api/pools/{pool_id}/policy": only("admin", body=body_of(revision=None)),
    "POST /api/pools/{pool_id}/canary": only("admin", body=body_of(revision=None)),
    "POST /api/pools/{pool_id}/gate": only("admin", body=body_of(gate=None)),
    "POST /api/pools/{pool_id}/sampling": only("admin", body=body_of(sampling="in_order")),
    "GET /api/pools/{pool_id}/states": only("admin"),
    "GET /api/episodes": everybody(),
    "GET /api/episodes/{episode_id}": owner_and_staff(),
    "GET /api/episodes/{episode_id}/trajectory": owner_and_staff(),
    "GET /api/episodes/{episode_id}/notes": owner_and_staff(),
    "POST /api/episodes/{episode_id}/notes": reviewing(body=body_of(text="Look at the menu.")),
    "GET /api/episodes/{episode_id}/blobs/{sha256}": owner_and_staff(),
    "GET /api/episodes/{episode_id}/proposer": owner_and_staff(),
    "GET /api/episodes/{episode_id}/review": owner_and_staff(),
    "POST /api/episodes/{episode_id}/review": Rule(
        frozenset({"reviewer", "admin"}), frozenset({"annotator"}), body=body_of(decision="accept", reason="")
    ),
    "GET /api/episodes/{episode_id}/review/sheet": owner_and_staff(),
    "POST /api/episodes/{episode_id}/review/claim": reviewing(),
    "DELETE /api/episodes/{episode_id}/review/claim": reviewing(),
    "POST /api/episodes/{episode_id}/review/steps/{index}": reviewing(absent=True, body=body_of(verdict="right")),
    "POST /api/episodes/{episode_id}/review/steps/{index}/fixes": Rule(
        frozenset({"owner", "reviewer", "admin"}),
        frozenset({"annotator"}),
        body=body_of(base=0, thought="", action={"kind": "click", "x": 1, "y": 1}),
        absent=True,
    ),
    "POST /api/episodes/{episode_id}/review/cuts": reviewing(body=body_of(do="undo")),
    "POST /api/episodes/{episode_id}/review/resubmission": Rule(frozenset({"owner"}), frozenset({"annotator"})),
    "POST /api/episodes/{episode_id}/review/checks": reviewing(),
    "POST /api/episodes/{episode_id}/branch": only("admin", absent=True, body=body_of(step=0)),
    "GET /api/reviews/queue": staff(),
    "POST /api/reviews/next": reviewing(),
    "GET /api/reviews/agreement": staff(),
    "GET /api/reviews/comparison": staff(path="?one={episode_id}&other={episode_id}", absent=True),
    "GET /api/reviews/attempts": staff(path="?of={episode_id}"),
    "GET /api/reviews/meetings": staff(),
    "POST /api/reviews/adjudications": reviewing(
        body=lambda things: {"chosen": str(things.episode.pk), "reason": "It."}
    ),
    "GET /api/review-jobs/{job_id}": staff(),
    "POST /api/review-jobs/{job_id}/cancel": reviewing(),
    "GET /api/episodes/{episode_id}/recording": owner_and_staff(),
    "GET /api/episodes/{episode_id}/recording/{number}.vtt": owner_and_staff(absent=True),
    "POST /api/episodes/{episode_id}/tickets": owner_and_staff(body=body_of(kind="webrtc")),
    "GET /api/episodes/{episode_id}/files": owner_and_staff(),
    "GET /api/episodes/{episode_id}/services": owner_and_staff(),
    "GET /api/episodes/{episode_id}/apps": owner_and_staff(),
    "POST /api/episodes/{episode_id}/uploads": Rule(frozenset({"owner"}), frozenset({"annotator"})),
    "GET /api/episodes/{episode_id}/programs": owner_and_staff(),
    "GET /api/feed": only("researcher", "admin"),
    "GET /api/feed/{episode_id}": only("researcher", "admin", absent=True),
    "GET /api/notices": everybody(),
    "POST /api/notices/read": everybody(body=body_of(until=1)),
    "GET /api/probes": only("researcher", "admin"),
    "POST /api/probes": only("admin", body=body_of(base_url="http://127.0.0.1:9/v1", model="m", dialect="ui_tars_1_5")),
    "GET /api/probes/screens/{screen}": only("researcher", "admin"),
    "GET /api/probes/{probe_id}": only("researcher", "admin"),
    "DELETE /api/probes/{probe_id}": only("admin"),
    "GET /api/webhooks": only("admin"),
    "POST /api/webhooks": only("admin", body=body_of(url="https://1.1.1.1/hook", events=["export.finished"])),
    "PATCH /api/webhooks/{webhook_id}": only("admin", body=body_of(enabled=False)),
    "DELETE /api/webhooks/{webhook_id}": only("admin"),
    "POST /api/webhooks/{webhook_id}/secret": only("admin"),
    "POST /api/webhooks/{webhook_id}/ping": only("admin"),
    "GET /api/webhooks/{webhook_id}/deliveries": only("admin"),
    "GET /api/trajectories": staff(),
    "GET /api/trajectories/facets": staff(),
    "GET /api/queries": staff(),
    "POST /api/queries": staff(body=body_of(name="mine", query={})),
    "GET /api/queries/{query_id}": staff(),
    "DELETE /api/queries/{query_id}": only("researcher", "admin"),
    "GET /api/first-replies": only("researcher", "admin"),
    "GET /api/report": staff(path="?since=2026-01-01&until=2026-01-02"),
    "GET /api/report.csv": staff(path="?since=2026-01-01&until=2026-01-02"),
    "GET /api/export-formats": only("researcher", "admin"),
    "POST /api/exports/{export_id}/cancel": only("researcher", "admin"),
    "POST /api/exports/{export_id}/retry": only("researcher", "admin"),
    "GET /api/exports": only("researcher", "admin"),
    "POST /api/exports": only("researcher", "admin"),
    "GET /api/exports/{export_id}": only("researcher", "admin"),
    "GET /api/exports/{export_id}/download": only("researcher", "admin"),
    "POST /api/exports/{export_id}/freeze": only("researcher", "admin", body=body_of(name="made")),
    "GET /api/imports": only("researcher", "admin"),
    "POST /api/imports": only("researcher", "admin"),
    "GET /api/imports/uploads": only("researcher", "admin"),
    "POST /api/imports/uploads": only("researcher", "admin"),
    "HEAD /api/imports/uploads/{upload_id}": uploading(),
    "PATCH /api/imports/uploads/{upload_id}": uploading(),
    "DELETE /api/imports/uploads/{upload_id}": uploading(),
    "POST /api/imports/uploads/{upload_id}/import": uploading(),
    "GET /api/imports/{import_id}": only("researcher", "admin"),
    "GET /api/imports/{import_id}/refused": only("researcher", "admin"),
    "POST /api/imports/{import_id}/cancel": only("researcher", "admin"),
    "POST /api/imports/{import_id}/retry": only("researcher", "admin"),
    "GET /api/datasets": only("researcher", "admin"),
    "POST /api/datasets/{name}/{version}/trained": only(
        "researcher", "admin", absent=True, body=body_of(policy="tars", revision="1")
    ),
    "GET /api/judges": only("admin"),
    "POST /api/judges": only(
        "admin",
        body=body_of(kind="reference", name="compares", revision="1", base_url="http://127.0.0.1:9/v1", model="m"),
    ),
    "DELETE /api/judges/{judge_id}": only("admin"),
    "GET /api/judges/calibrations.csv": only("admin"),
    "POST /api/pools/{pool_id}/judges/{judge_id}": only("admin"),
    "DELETE /api/pools/{pool_id}/judges/{judge_id}": only("admin"),
    "GET /api/pools/{pool_id}/judges/{judge_id}/sweep": only("admin"),
    "POST /api/pools/{pool_id}/judges/{judge_id}/runs": only("admin"),
    "POST /api/pools/{pool_id}/judges/{judge_id}/trials": only("admin"),
    "POST /api/judge-runs/{run_id}/cancel": only("admin"),
    "GET /api/wheels": only("researcher", "admin"),
    "GET /api/wheels/draft": only("researcher", "admin", path="?pool={pool_id}"),
    "POST /api/wheels": only("admin", body=lambda of: {"name": "other", "pool": of.pool.pk, **wheel_change(of)}),
    "PATCH /api/wheels/{wheel_id}": only("admin", body=wheel_change),
    "DELETE /api/wheels/{wheel_id}": only("admin"),
    "POST /api/wheels/{wheel_id}/turns": only("admin"),
    "GET /api/turns/{turn_id}": only("researcher", "admin"),
    "GET /api/turns/{turn_id}/samples": only("researcher", "admin"),
    "GET /api/turns/{turn_id}/trials": only("researcher", "admin", absent=True, path="?name=lights"),
    "GET /api/turns/{turn_id}/trials/beside": only("researcher", "admin", absent=True, path="?active=0&candidate=0"),
    "GET /api/turns/{turn_id}/trials/{side}/{place}/pictures/{sha256}": only("researcher", "admin", absent=True),
    "POST /api/turns/{turn_id}/cancel": only("admin"),
    "POST /api/turns/{turn_id}/resume": only("admin"),
    "GET /api/trajectories/{episode_id}/lineage": only("researcher", "admin"),
    "GET /api/checkpoints/{checkpoint_id}/lineage": only("researcher", "admin"),
    "POST /api/checkpoints/{checkpoint_id}/register": only(
        "admin", body=body_of(revision="by-hand", base_url="http://model/v1", model="m")
    ),
    "GET /api/design": only("researcher", "admin"),
    "GET /api/design/tasks": only("researcher", "admin"),
    "GET /api/design/graph.csv": only("researcher", "admin"),
    "GET /api/design/graph.json": only("researcher", "admin"),
    "POST /api/design/graph": only("admin"),
    "POST /api/design/suites": only("admin"),
    "POST /api/design/nodes": only("admin", body=body_of(name="shop")),
    "PATCH /api/design/nodes/{node_id}": only("admin", body=body_of(name="mail", importance=1)),
    "DELETE /api/design/nodes/{node_id}": only("admin"),
    "POST /api/design/placements": only("admin", body=lambda things: {"tasks": [things.episode.task_id]}),
    "POST /api/design/writers": only(
        "admin", body=body_of(name="words", revision="1", base_url="http://127.0.0.1:9/v1", model="m")
    ),
    "DELETE /api/design/writers/{writer_id}": only("admin"),
    "POST /api/tasks/{task_id}/wordings": only("admin", absent=True, body=body_of(writer=2**31 - 1)),
    "POST /api/wordings/{writing_id}/cancel": only("admin", absent=True),
    "POST /api/suggestions/{suggestion_id}/accept": only("admin", absent=True, body=body_of(text="Do it.")),
    "POST /api/suggestions/{suggestion_id}/reject": only("admin", absent=True),
    "GET /api/retention": only("admin"),
    "POST /api/retention/rules": only("admin", body=body_of(what="practice", days=30)),
    "POST /api/retention/rules/{rule_id}/preview": only("admin"),
    "POST /api/retention/rules/{rule_id}/active": only("admin"),
    "DELETE /api/retention/rules/{rule_id}/active": only("admin"),
    "DELETE /api/retention/rules/{rule_id}": only("admin"),
    "GET /api/home": staff(),
    "GET /api/wall": only("reviewer", "admin"),
    "POST /api/wall/tickets": only("reviewer", "admin", body=lambda things: {"episodes": [str(uuid4())]}),
    "GET /api/fleet": only("admin"),
    "GET /api/fleet/machines/{machine_id}/thumbnail": only("admin"),
    "POST /api/fleet/machines/{machine_id}/tickets": only("admin", body=body_of(kind="webrtc")),
    "POST /api/fleet/machines/{machine_id}/reclaim": only("admin", body=body_of(reason="it hangs")),
    "POST /api/fleet/hosts/{host}/draining": only("admin", body=body_of(draining=True)),
    "POST /api/fleet/images/{image}/warm": only("admin", body=body_of(count=1)),
    "POST /api/fleet/quotas": only("admin", body=body_of(scope="user", name="ada", limit=1)),
}

COMMANDS: dict[str, dict[str, Any]] = {
    "act": {"action": {"kind": "click", "x": 1, "y": 1}, "thought": "There."},
    "accept": {"proposal_id": str(uuid4()), "base_version": 0},
    "resample": {},
    "remember": {"through": 0, "text": "A note."},
    "thought": {"index": 0, "thought": "It was there."},
    "mark": {"proposal_id": str(uuid4()), "mark": None},
    "finish": {"outcome": "success"},
    "leave": {"how": "skip", "reason": "It is not clear."},
    "help": {"message": "What is this?"},
    "pause": {"on": True},
    "autopilot": {"on": True},
    "secrets": {"proposal_id": str(uuid4()), "allow": True},
    "takeover": {"on": True},
    "input": {"inputs": [{"kind": "move_to", "x": 1, "y": 1}]},
    "control": {},
    "undo": {},
    "pace": {"rate": 1},
    "hurry": {},
    "continue": {"request": 1, "part": "thought", "thought": "I open"},
    "ping": {"at": 1},
}
"""A body for every command. All but `FREE` are for the annotator whose socket holds control."""
FREE = {"ping"}
"""Commands that only keep a connection: whoever has a seat sends them."""


FILES: dict[str, tuple[str, str, dict[str, str]]] = {
    "POST /api/episodes/{episode_id}/uploads": ("note.txt", "a note", {}),
    "POST /api/imports": ("note.txt", "a note", {}),
    "POST /api/imports/uploads": ("note.txt", "a note", {}),
    "POST /api/pools/{pool_id}/tasks": ("tasks.jsonl", "{}", {"kind": "jsonl"}),
    "POST /api/design/graph": ("graph.json", "[]", {"kind": "json"}),
}
"""Routes that take a file as a form: its name, what is in it, and the form's other fields."""


def filled(route: str, rule: Rule, things: Things) -> tuple[str, str]:
    """Method and path of a route, with the names in its path filled in."""
    method, path = route.split()
    return method, re.sub(r"\{(\w+)\}", lambda name: str(NAMES[name[1]](things)), path + rule.path)
