"""The command line of attempts, for whoever makes some."""

import argparse
import os

from pydantic import SecretStr, ValidationError

from agent_backend.policy.expert import ExpertPolicy
from agent_backend.policy.openai import Endpoint, OpenAIPolicy
from agent_backend.rollout.attempt import PolicyOn
from agent_backend.rollout.plan import Plan
from vocabulary.memory import Budget
from vocabulary.proposals import PolicyRef
from vocabulary.sampling import Sampling

EXPERT = "expert"
MODEL = ("model_url", "model", "dialect", "revision")


def options_add(parser: argparse.ArgumentParser) -> None:
    """All that says what is attempted, and by whom."""
    what = parser.add_argument_group("attempts")
    what.add_argument("--bridge", help="the bridge's address; its secret is read from PILOTHOUSE_SECRET")
    what.add_argument("--suite", help="whose bundled tasks")
    what.add_argument("--task", action="append", default=[], help="only this one; may be given again")
    what.add_argument("--seeds", type=int, default=1, help="attempts at each task, with rising seeds")
    what.add_argument("--first-seed", type=int, default=0)
    what.add_argument("--level", type=int, action="append", help="of the tasks; may be given again; 1 by default")
    what.add_argument("--language", choices=("en", "zh"), default="en", help="of the instructions")
    what.add_argument("--size", type=size_read, help="of the screen, as 320x240, where a suite lets it be chosen")
    what.add_argument("--image", help="kind of machine; by default the one called like the task's platform")
    what.add_argument("--parallel", type=int, default=1, help="machines at a time")
    where = parser.add_argument_group("cluster", "attempts as tasks of a Ray cluster: docs/cluster.md")
    where.add_argument("--ray", help="its address, or auto")
    where.add_argument("--ray-cpus", type=float, default=1, help="processors that Ray sets aside for an attempt")
    who = parser.add_argument_group("policy", "the model's key is read from PILOTHOUSE_POLICY_API_KEY")
    who.add_argument("--expert", action="store_true", help="the scripted experts of the tasks, which are no model")
    who.add_argument("--model-url", help="an OpenAI-compatible server, with /v1")
    who.add_argument("--model", help="the model's name there")
    who.add_argument("--policy", help="what the policy is called; by default as the model")
    who.add_argument("--dialect", help="how it writes actions")
    who.add_argument("--revision", help="the word for this very set of weights")
    who.add_argument("--scripted", action="store_true", help="it answers from a script and is no model")
    who.add_argument("--temperature", type=float, default=Sampling().temperature)
    who.add_argument("--candidates", type=int, default=1, help="replies sampled at each step")
    who.add_argument("--memory", type=memory_read, default=Budget(), help='how much it remembers, as {"images": 1}')


def options_check(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Exits with a word where something is missing that only some command lines need."""
    missing = [name for name in ("bridge", "suite") if not getattr(given, name)]
    if not given.expert:
        missing += [name for name in MODEL if not getattr(given, name)]
    if missing:
        parser.error(f"also needed: {', '.join('--' + name.replace('_', '-') for name in missing)}")
    if given.seeds < 1 or given.parallel < 1:
        parser.error("--seeds and --parallel are at least 1")


def size_read(text: str) -> tuple[int, int]:
    """Width and height. Raises ArgumentTypeError."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text} is no size like 320x240")
    return int(width), int(height)


def memory_read(text: str) -> Budget:
    """Bounds of a prompt's history, as JSON. Raises ArgumentTypeError."""
    try:
        return Budget.model_validate_json(text)
    except ValidationError as error:
        raise argparse.ArgumentTypeError(f"{text} is no memory: {error.errors()[0]['msg']}") from None


def plan_of(given: argparse.Namespace) -> Plan:
    """What is to be attempted."""
    return Plan(
        suite=given.suite,
        policy=_ref(given),
        sampling=None if given.expert else _sampling(given),
        memory=given.memory,
        names=tuple(given.task),
        seeds=given.seeds,
        first_seed=given.first_seed,
        levels=tuple(given.level or (1,)),
        language=given.language,
        size=given.size,
        image=given.image,
    )


def _ref(given: argparse.Namespace) -> PolicyRef:
    if given.expert:
        return PolicyRef(name=EXPERT, revision=EXPERT, dialect=given.dialect or "ui_tars_1_5", scripted=True)
    return PolicyRef(
        name=given.policy or given.model, revision=given.revision, dialect=given.dialect, scripted=given.scripted
    )


def _sampling(given: argparse.Namespace) -> Sampling:
    return Sampling(n=given.candidates, temperature=given.temperature)


def policy_of(given: argparse.Namespace) -> tuple[PolicyOn, OpenAIPolicy | None]:
    """Who proposes; and what must be closed in the end."""
    ref = _ref(given)
    if given.expert:
        return (lambda machine: ExpertPolicy(ref, machine.suggest_expert_action)), None
    policy = OpenAIPolicy(
        Endpoint(
            base_url=given.model_url,
            model=given.model,
            dialect=ref.dialect,
            name=ref.name,
            revision=ref.revision,
            scripted=ref.scripted,
            api_key=SecretStr(os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")),
            sampling=_sampling(given),
            budget=given.memory,
        )
    )
    return (lambda _: policy), policy
