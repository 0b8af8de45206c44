"""The pool's judges for rollouts. They decide the rewards of attempts without a verifier."""

from pydantic import JsonValue

from annotation_app.judges.models import Judge, PoolJudge
from annotation_app.judges.selectors import judge_api_key, judge_server
from protocol.evaluation.judgements import VERIFIER


def reward_judges_of(pool_id: int) -> dict[str, JsonValue]:
    """The newest judge of each kind in a pool, in the format of a rollout's `--judges` file, without keys."""
    named: list[JsonValue] = [
        {
            "kind": assigned.judge.kind,
            "url": assigned.judge.base_url,
            "model": assigned.judge.model,
            "name": assigned.judge.name,
            "revision": assigned.judge.revision,
            "scripted": assigned.judge.scripted,
            "threshold": assigned.threshold,
            "settings": judge_server(assigned.judge).settings.model_dump(mode="json"),
            "key_variable": _key_variable(assigned.judge),
        }
        for assigned in pool_reward_judges(pool_id)
    ]
    return {"judges": named}


def judge_keys(pool_id: int) -> dict[str, str]:
    """Environment variables with the keys of those judges."""
    judges = [assigned.judge for assigned in pool_reward_judges(pool_id)]
    return {_key_variable(judge): key for judge in judges if (key := judge_api_key(judge_server(judge)))}


def pool_reward_judges(pool_id: int) -> list[PoolJudge]:
    """The newest judge of each kind that is a model and trusted from a score above 0."""
    assigned = PoolJudge.objects.select_related("judge").filter(pool=pool_id, threshold__gt=0)
    newest: dict[str, PoolJudge] = {}
    for each in assigned.exclude(judge__kind=VERIFIER.kind).order_by("-judge_id"):
        newest.setdefault(each.judge.kind, each)
    return list(newest.values())


def _key_variable(judge: Judge) -> str:
    return f"PILOTHOUSE_JUDGE_API_KEY_{judge.pk}"
