"""Requests that are wrong in one field, and whether the answer names the field and the reason."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import print_progress
from benchmarks.parts.safety.requests import Answer, Session, http_connection

MAX_STATUS, MIN_STATUS = 499, 400
FAR = 2_147_483_647
"""An id that nothing has."""
PLACE = re.compile(r"\{(\w+)\}")


class BadInput(NamedTuple):
    """A request by an admin, and the field that is wrong; `{pool}` and `{task}` in its path are of a pool there is."""

    method: str
    path: str
    field: str
    body: Mapping[str, Any] | None = None


def _pool(field: str, value: object) -> BadInput:
    return BadInput("POST", "pools", f"settings.{field}", {"settings": {"name": "Bad", field: value}})


def _policy(field: str, value: object) -> BadInput:
    good = {"name": "bad", "revision": "1", "dialect": "ui_tars_1_5", "base_url": "http://model.test/v1", "model": "m"}
    return BadInput("POST", "policies", field, {**good, field: value})


BAD_INPUTS: tuple[BadInput, ...] = (
    # pools and their tasks
    _pool("name", ""),
    BadInput("POST", "pools", "settings.name", {"settings": {"name": "{pool_name}"}}),
    _pool("image", "no-such-image"),
    _pool("platform", "abacus"),
    _pool("candidates", 0),
    _pool("max_steps", 1_000_000),
    _pool("gold_percent", 101),
    _pool("skills", ["two words"]),
    _pool("hours", {"zone": "Mars/Olympus", "days": [1], "begins": "09:00", "ends": "17:00"}),
    BadInput("POST", "pools", "policy", {"settings": {"name": "Bad"}, "policy": FAR}),
    BadInput("PATCH", "pools", "overlap", {"pools": "{pool_refs}", "changes": {"overlap": 99}}),
    BadInput("PATCH", "pools", "colour", {"pools": "{pool_refs}", "changes": {"colour": "red"}}),
    BadInput("PATCH", "pools", "image", {"pools": "{pool_refs}", "changes": {"image": "no-such-image"}}),
    BadInput("POST", "pools/{pool}/suite", "suite", {"suite": "no-such-suite"}),
    BadInput("POST", "pools/{pool}/suite", "tasks", {"suite": "desktop", "tasks": ["no-such-task"]}),
    BadInput("POST", "pools/{pool}/suite", "seeds", {"suite": "desktop", "seeds": 0}),
    BadInput("POST", "pools/{pool}/credentials/PASSWORD", "value", {"kinds": ["type_text"]}),
    BadInput("POST", "pools/{pool}/credentials/PASSWORD", "hosts", {"value": "s", "hosts": ["no host"]}),
    BadInput("POST", "pools/{pool}/mcp-servers/notes", "server.url", {"server": {"transport": "http", "url": "x"}}),
    BadInput("POST", "pools/{pool}/canary", "share", {"revision": None, "share": 200}),
    BadInput("POST", "pools/{pool}/policy", "revision", {"revision": FAR}),
    BadInput("POST", "pools/{pool}/sampling", "sampling", {"sampling": "at_random"}),
    BadInput("POST", "pools/{pool}/tasks/withdrawal", "tasks", {"tasks": []}),
    BadInput("GET", "pools/{pool}/tasks?after=nowhere", "after"),
    BadInput("PATCH", "tasks/{task}", "max_steps", {"max_steps": 0}),
    BadInput("PATCH", "tasks/{task}", "network", {"network": ["no host"]}),
    # policies, probes and judges
    _policy("name", " "),
    _policy("dialect", "esperanto"),
    _policy("base_url", "model.test"),
    _policy("provider", "oracle"),
    _policy("sampling", {"temperature": -1}),
    BadInput("POST", "probes", "dialect", {"base_url": "http://model.test/v1", "model": "m", "dialect": "esperanto"}),
    BadInput(
        "POST",
        "judges",
        "kind",
        {"kind": "oracle", "name": "bad", "revision": "1", "base_url": "http://model.test/v1", "model": "m"},
    ),
    BadInput(
        "POST",
        "design/writers",
        "base_url",
        {"name": "bad", "revision": "1", "base_url": "ftp://model.test", "model": "m"},
    ),
    # people
    BadInput("POST", "invitations", "email", {"email": "no-address", "roles": ["annotator"]}),
    BadInput("POST", "invitations", "roles", {"roles": ["emperor"]}),
    BadInput("POST", "invitations", "groups", {"roles": ["annotator"], "groups": [FAR]}),
    BadInput("POST", "invitations", "days", {"roles": ["annotator"], "days": 0}),
    BadInput("PATCH", "people/{person}", "skills", {"skills": ["two words"]}),
    BadInput("PATCH", "people/{person}", "groups", {"groups": [FAR]}),
    BadInput("POST", "people/{person}/erase", "username", {"username": "another", "remove_work": False}),
    BadInput("POST", "groups", "name", {"name": " "}),
    BadInput("POST", "groups", "members", {"name": "Bad", "members": [FAR]}),
    BadInput("POST", "me/tokens", "scopes", {"name": "bad", "scopes": ["*"]}),
    BadInput("POST", "me/tokens", "days", {"name": "bad", "scopes": ["feed:read"], "days": 10_000}),
    BadInput("POST", "me/password", "current", {"current": "wrong", "new": "long enough 1"}),
    BadInput("GET", "audit?since=yesterday", "since"),
    BadInput("GET", "audit?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
    BadInput("GET", "audit?before=0", "before"),
    # search, exports and reports
    BadInput("GET", "trajectories?outcome=maybe", "outcome"),
    BadInput("GET", "trajectories?steps_min=-1", "steps_min"),
    BadInput("GET", "trajectories?since=yesterday", "since"),
    BadInput("GET", "trajectories?after=nowhere", "after"),
    BadInput("POST", "queries", "name", {"name": "", "query": {}}),
    BadInput("POST", "queries", "query.review", {"name": "bad", "query": {"review": "maybe"}}),
    BadInput("POST", "exports", "plan.format", {"plan": {"format": "parchment"}}),
    BadInput("POST", "exports", "plan.shares", {"plan": {"shares": {"validation": 0.9, "test": 0.9}}}),
    BadInput("POST", "exports", "filters.level", {"filters": {"level": 9}}),
    BadInput("POST", "exports", "pool_id", {"pool_id": FAR}),
    BadInput("GET", "report?since=2026-01-02&until=2026-01-01", "until"),
    BadInput("GET", "report?since=2026-01-01&until=2026-01-02&zone=Mars/Olympus", "zone"),
    BadInput("GET", "report?since=2026-01-01&until=2026-01-02&by=weather", "by"),
    # reviews, machines, webhooks and the rest
    BadInput("GET", "reviews/queue?after=nowhere", "after"),
    BadInput("POST", "reviews/next", "direction", {"direction": "sideways"}),
    BadInput("POST", "fleet/quotas", "scope", {"scope": "planet", "name": "ada", "limit": 1}),
    BadInput("POST", "fleet/quotas", "limit", {"scope": "user", "name": "ada", "limit": -1}),
    BadInput("POST", "fleet/quotas", "name", {"scope": "user", "name": "no-such-person", "limit": 1}),
    BadInput("POST", "fleet/images/desktop/warm", "count", {"count": -1}),
    BadInput("POST", "fleet/images/no-such-image/warm", "image", {"count": 1}),
    BadInput("POST", "fleet/hosts/no-such-host/draining", "host", {"draining": True}),
    BadInput("POST", "fleet/machines/no-such-machine/reclaim", "machine_id", {"reason": "It hangs."}),
    BadInput("POST", "reviews/adjudications", "chosen", {"chosen": "x"}),
    BadInput("POST", "queue/next", "pool_id", {"pool_id": 0}),
    BadInput("POST", f"pools/{{pool}}/judges/{FAR}", "judge_id", {}),
    BadInput("POST", f"retention/rules/{FAR}/preview", "rule_id"),
    BadInput("POST", f"webhooks/{FAR}/ping", "webhook_id"),
    BadInput("POST", f"wheels/{FAR}/turns", "wheel_id"),
    BadInput("GET", f"wheels/draft?pool={FAR}", "pool"),
    BadInput("POST", "retention/rules", "what", {"what": "everything", "days": 1}),
    BadInput("POST", "retention/rules", "days", {"what": "practice", "days": 0}),
    BadInput("POST", "retention/rules", "pool", {"what": "practice", "days": 9, "pool": FAR}),
    BadInput("POST", "webhooks", "url", {"url": "http://127.0.0.1/hook", "events": ["export.finished"]}),
    BadInput("POST", "webhooks", "events", {"url": "https://hooks.test/a", "events": ["sunrise"]}),
    BadInput("POST", "design/nodes", "importance", {"name": "Bad", "importance": 99}),
    BadInput("POST", "design/nodes", "parent", {"name": "Bad", "parent": FAR}),
    BadInput("POST", "design/placements", "node", {"tasks": ["{task}"], "node": FAR}),
    BadInput("POST", "benchmarks", "benchmark", {"benchmark": "pool:none"}),
    BadInput("POST", "benchmarks", "seeds", {"benchmark": "games", "seeds": 0}),
    BadInput("POST", "benchmarks", "file", {"benchmark": "file:mine.jsonl", "file": "{}"}),
    BadInput("POST", "evaluations", "run", {"run": "no-such-run"}),
    BadInput("GET", "wall?page=0", "page"),
    BadInput("POST", "wall/tickets", "episodes", {"episodes": []}),
)


def measure_bad_inputs(platform: TemporaryPlatform, session: str) -> dict[str, object]:
    """Send every bad input as an admin; those whose answer does not name the field are listed."""
    unnamed = []
    with http_connection(urlsplit(platform.url).netloc) as connection:
        csrf = json.loads(connection.call("GET", "/api/session", Session(cookie=session)).body)["csrf"]
        admin = Session(cookie=session, csrf=csrf)

        def read(path: str) -> Any:
            return json.loads(connection.call("GET", path, admin).body)

        names = _names(read)
        for bad in BAD_INPUTS:
            path = f"/api/{bad.path}".format(**names)
            answer = connection.call(bad.method, path, admin, _filled(bad.body, names))
            if not names_field(answer, bad.field):
                unnamed.append(f"{bad.method} {bad.path}: {bad.field}")
                print_progress(f"{unnamed[-1]}: {answer.status} {answer.body[:300].decode(errors='replace')}")
    return {
        "bad_inputs": len(BAD_INPUTS),
        "bad_inputs_named": len(BAD_INPUTS) - len(unnamed),
        "bad_input_routes": len({(bad.method, bad.path.partition("?")[0]) for bad in BAD_INPUTS}),
        "bad_inputs_unnamed": unnamed,
    }


def names_field(answer: Answer, field: str) -> bool:
    """Whether an answer refuses a request with a stable code, and says of this field what is wrong with it."""
    if not MIN_STATUS <= answer.status <= MAX_STATUS:
        return False
    try:
        error = json.loads(answer.body)
        faults = error["extra"]["fields"]
        name = field.split(".")[-1]
        found = [fault["message"] for fault in faults if name in fault["field"].split(".")]
        return bool(error["code"] and error["message"] and found and all(found))
    except (ValueError, KeyError, TypeError):
        return False


def _names(read: Any) -> dict[str, Any]:
    """What stands for names in paths and bodies, from the platform's own lists."""
    pool = next(row for row in read("/api/pools/board")["pools"])
    task = read(f"/api/pools/{pool['id']}/tasks")["items"][0]
    person = read("/api/people?search=annotator2")["items"][0]
    return {
        "pool": pool["id"],
        "pool_name": pool["settings"]["name"],
        "pool_refs": [{"id": pool["id"], "version": pool["version"]}],
        "task": task["id"],
        "person": person["id"],
    }


def _filled(value: Any, names: Mapping[str, Any]) -> Any:
    """A body in which `{name}` is replaced by what has that name."""
    if isinstance(value, Mapping):
        return {key: _filled(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, names) for item in value]
    if isinstance(value, str) and (name := PLACE.fullmatch(value)):
        return names[name[1]]
    return value
