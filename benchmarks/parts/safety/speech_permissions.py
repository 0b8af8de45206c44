"""Who may call the routes of recorded sessions in review; part of `permissions.ROUTES`."""

from benchmarks.parts.safety.rules import Rule, body_of, owner_and_staff, staff

NO_MODEL = 2**31 - 1
SPEECH_ROUTES: dict[str, Rule] = {
    "GET /api/episodes/{episode_id}/speech": owner_and_staff(absent=True),
    "POST /api/episodes/{episode_id}/review/thoughts": Rule(
        frozenset({"owner", "reviewer", "admin"}),
        frozenset({"annotator"}),
        body=body_of(base=0, do="undo"),
        absent=True,
    ),
    "POST /api/episodes/{episode_id}/review/redactions": Rule(
        frozenset({"owner", "reviewer", "admin"}), frozenset({"annotator"}), body=body_of(words=[0]), absent=True
    ),
    "GET /api/episodes/{episode_id}/review/refinement": staff(absent=True),
    "POST /api/episodes/{episode_id}/review/refinement": staff(absent=True, body=body_of(policy=1)),
    "POST /api/episodes/{episode_id}/review/refinement/accepted": Rule(
        frozenset({"owner", "reviewer", "admin"}),
        frozenset({"annotator"}),
        body=body_of(base=0, thoughts=[{"thought": 0, "sentences": [0]}]),
        absent=True,
    ),
    "GET /api/episodes/{episode_id}/review/variants": staff(absent=True),
    "POST /api/episodes/{episode_id}/review/variants": staff(absent=True, body=body_of(kind="enriched", policy=1)),
    "POST /api/episodes/{episode_id}/review/variants/decisions": Rule(
        frozenset({"owner", "reviewer", "admin"}),
        frozenset({"annotator"}),
        body=body_of(decisions=[{"variant": 1, "status": "chosen"}]),
        absent=True,
    ),
    "GET /api/reviews/batches": staff(),
    "POST /api/reviews/batches": staff(absent=True, body=body_of(kind="refinement", policy=NO_MODEL)),
    "GET /api/reviews/batches/{batch_id}": staff(absent=True),
    "POST /api/reviews/batches/{batch_id}/cancel": staff(absent=True),
    "POST /api/reviews/batches/{batch_id}/resume": staff(absent=True),
}
