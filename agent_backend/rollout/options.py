"""Command-line options of programs that make attempts."""

import argparse
import os
from pathlib import Path
from typing import get_args

from pydantic import SecretStr, ValidationError

from agent_backend.judges.reward_judges import KEY_VARIABLE, InvalidRewardJudges, RewardJudges, read_reward_judges
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.policy.providers import ClosablePolicy, open_policy
from agent_backend.rollout.attempts import PolicyFactory
from agent_backend.rollout.oracles import task_oracle
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.task_sources import read_source
from protocol.dialects.prompt_template import PromptTemplate
from protocol.providers import BASE_URLS, DIALECTS, Provider
from protocol.sampling import MAX_ACTIONS, SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.proposals import PolicyRef

EXPERT = "expert"
ALL_LEVELS, MAX_STEPS = 0, 1_000
REQUIRED_MODEL_OPTIONS = ("model_url", "model", "dialect", "revision")


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the tasks and the machines."""
    what = parser.add_argument_group("attempts")
    what.add_argument("--bridge", help="the bridge's address; the key is PILOTHOUSE_BRIDGE_MASTER_KEY")
    what.add_argument("--suite", help="whose bundled tasks")
    what.add_argument(
        "--tasks",
        metavar="SOURCE",
        help="in place of --suite: pool:NAME, a Harbor folder, a folder or zip of them, JSON Lines, OSWorld's, or a "
        "benchmark's",
    )
    what.add_argument("--max-steps", type=int, help="most steps of every attempt, beyond the tasks' own too")
    what.add_argument("--task", action="append", default=[], help="only this one; may be given again")
    what.add_argument(
        "--kind", action="append", default=[], help='only this kind, as "games/maze level 2"; may be given again'
    )
    what.add_argument("--seeds", type=int, default=1, help="attempts at each task, with rising seeds")
    what.add_argument("--first-seed", type=int, default=0)
    what.add_argument("--level", type=parse_level, action="append", help="of a suite; may be given again, or all")
    what.add_argument("--language", choices=("en", "zh"), default="en", help="of the instructions")
    what.add_argument("--size", type=parse_size, help="of the screen, as 320x240, where a suite lets it be chosen")
    what.add_argument("--image", help="kind of machine; by default the one called like the task's platform")
    what.add_argument("--parallel", type=int, default=1, help="machines at a time")


def add_expert_task_options(parser: argparse.ArgumentParser) -> None:
    """Add task options for programs that need the tasks of a plan but no policy."""
    add_task_options(parser)
    parser.set_defaults(expert=True, provider="openai_compatible", dialect=None, memory=HistoryBudget(), prompt=None)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options that choose the tasks and the policy."""
    add_task_options(parser)
    where = parser.add_argument_group("cluster", "attempts as tasks of a Ray cluster: docs/guides/operator/cluster.md")
    where.add_argument("--ray", help="its address, or auto")
    where.add_argument("--ray-cpus", type=float, default=1, help="processors that Ray sets aside for an attempt")
    who = parser.add_argument_group("policy", "the model's key is read from PILOTHOUSE_POLICY_API_KEY")
    who.add_argument("--expert", action="store_true", help="the scripted experts of the tasks, which are no model")
    who.add_argument(
        "--provider",
        choices=get_args(Provider),
        default="openai_compatible",
        help="of a hosted model; called without a budget",
    )
    who.add_argument("--model-url", help="an OpenAI-compatible server, with /v1; by default the provider's")
    who.add_argument("--model", help="the model's name there")
    who.add_argument("--policy", help="what the policy is called; by default as the model")
    who.add_argument("--dialect", help="how it writes actions; by default the provider's")
    who.add_argument("--revision", help="the word for this very set of weights")
    who.add_argument("--scripted", action="store_true", help="it answers from a script and is no model")
    who.add_argument("--temperature", type=float, default=SamplingParams().temperature)
    who.add_argument("--candidates", type=int, default=1, help="replies sampled at each step")
    who.add_argument(
        "--max-actions",
        type=int,
        choices=range(1, MAX_ACTIONS + 1),
        default=1,
        metavar="N",
        help=f"most actions of one reply, 1 to {MAX_ACTIONS}; 1 by default",
    )
    who.add_argument(
        "--prompt",
        type=parse_prompt,
        help='its makers\' prompt: a file of JSON {"prompt": "…", "task": "…"}, or that JSON itself',
    )
    who.add_argument(
        "--memory", type=parse_memory, default=HistoryBudget(), help='how much it remembers, as {"images": 1}'
    )


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for attempts that stream to a trainer."""
    stream = parser.add_argument_group(
        "stream", "attempts for a trainer, each in its own folder: docs/guides/researcher/reinforcement.md"
    )
    stream.add_argument(
        "--stream",
        type=Path,
        metavar="RUN",
        help="make attempts until a trainer has learned, with the newest weights of its folder RUN; --out is its inbox",
    )
    stream.add_argument("--attempts", type=int, help="attempts of an update, as in the trainer's settings")
    stream.add_argument("--group", type=int, default=1, help="attempts at each task and seed")
    stream.add_argument("--ahead", type=int, default=1, help="updates to play ahead of the one being learned")
    stream.add_argument("--updates", type=int, help="updates after which to end; by default it never ends")
    stream.add_argument("--start-at", type=int, default=0, help="index of the seed to begin with")


def add_reward_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for judges, which decide rewards of attempts without a verifier's verdict."""
    rewards = parser.add_argument_group("rewards", f"a judge's key is read from {KEY_VARIABLE} by default")
    rewards.add_argument(
        "--judges",
        type=parse_judges,
        default=RewardJudges(judges=()),
        metavar="FILE",
        help="JSON: docs/guides/researcher/judging.md",
    )


def check_options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with a message if an option is missing that only some combinations of options require."""
    if arguments.provider in DIALECTS:
        arguments.model_url = arguments.model_url or BASE_URLS[arguments.provider]
        arguments.dialect = arguments.dialect or DIALECTS[arguments.provider]
    if arguments.tasks and (arguments.suite or arguments.level or arguments.size):
        parser.error("--tasks is in place of --suite, --level and --size")
    missing = [name for name in ("bridge", "suite") if not getattr(arguments, name)]
    if arguments.tasks:
        missing.remove("suite")
    if arguments.max_steps is not None and not 1 <= arguments.max_steps <= MAX_STEPS:
        parser.error(f"--max-steps is 1 to {MAX_STEPS}")
    if not arguments.expert:
        missing += [name for name in REQUIRED_MODEL_OPTIONS if not getattr(arguments, name)]
    if missing:
        parser.error(f"also needed: {', '.join('--' + name.replace('_', '-') for name in missing)}")
    if arguments.seeds < 1 or arguments.parallel < 1:
        parser.error("--seeds and --parallel are at least 1")
    if getattr(arguments, "stream", None):
        _check_stream(parser, arguments)


def _check_stream(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with an error if no trainer could learn from the stream."""
    if arguments.expert or arguments.provider in DIALECTS:
        parser.error("--stream needs a model whose weights a trainer learns")
    if not arguments.attempts or arguments.attempts < 1 or arguments.group < 1:
        parser.error("--stream needs --attempts; they and --group are at least 1")
    if arguments.ahead < 0 or arguments.start_at < 0 or (arguments.updates is not None and arguments.updates < 1):
        parser.error("--ahead and --start-at are at least 0, --updates at least 1")


def parse_level(text: str) -> int:
    """A level from 1, or 0 for `all`. Raises ArgumentTypeError."""
    if text == "all":
        return ALL_LEVELS
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no level like 2, and not all")
    return int(text)


def parse_size(text: str) -> tuple[int, int]:
    """Width and height. Raises ArgumentTypeError."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text} is no size like 320x240")
    return int(width), int(height)


def parse_memory(text: str) -> HistoryBudget:
    """Bounds of a prompt's history, as JSON. Raises ArgumentTypeError."""
    try:
        return HistoryBudget.model_validate_json(text)
    except ValidationError as error:
        raise argparse.ArgumentTypeError(f"{text} is no memory: {error.errors()[0]['msg']}") from None


def parse_judges(text: str) -> RewardJudges:
    """Read the judges that decide rewards from a file. Raises ArgumentTypeError."""
    try:
        return read_reward_judges(Path(text))
    except InvalidRewardJudges as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parse_prompt(text: str) -> PromptTemplate:
    """A prompt that replaces the dialect's own: JSON, or a file with JSON. Raises ArgumentTypeError."""
    try:
        return PromptTemplate.model_validate_json(text if text.lstrip().startswith("{") else Path(text).read_bytes())
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.strerror}") from None
    except ValidationError as error:
        raise argparse.ArgumentTypeError(f"no prompt: {error.errors()[0]['msg']}") from None


def build_plan(arguments: argparse.Namespace) -> RolloutPlan:
    """The plan that the command line describes. Raises InvalidSource and PoolUnavailable."""
    levels = tuple(arguments.level or (1,))
    stored = read_source(arguments.tasks, arguments.image) if arguments.tasks else None
    return RolloutPlan(
        suite=arguments.suite or "",
        source=arguments.tasks or "",
        source_sha256=stored.sha256 if stored is not None else "",
        max_steps=arguments.max_steps,
        policy=_policy_ref(arguments),
        sampling=None if arguments.expert else _sampling(arguments),
        memory=arguments.memory,
        prompt=arguments.prompt,
        names=tuple(arguments.task),
        kinds=tuple(arguments.kind),
        seeds=arguments.seeds,
        first_seed=arguments.first_seed,
        levels=() if ALL_LEVELS in levels else levels,
        language=arguments.language,
        size=arguments.size,
        image=arguments.image or (stored.image if stored is not None else None),
        harness=getattr(arguments, "harness", None),
        judges=getattr(arguments, "judges", RewardJudges(judges=())),
    )


def _policy_ref(arguments: argparse.Namespace) -> PolicyRef:
    if arguments.expert:
        return PolicyRef(name=EXPERT, revision=EXPERT, dialect=arguments.dialect or "ui_tars_1_5", scripted=True)
    return PolicyRef(
        name=arguments.policy or arguments.model,
        revision=arguments.revision,
        dialect=arguments.dialect,
        scripted=arguments.scripted,
        teacher=arguments.provider in DIALECTS,
    )


def _sampling(arguments: argparse.Namespace) -> SamplingParams:
    return SamplingParams(n=arguments.candidates, temperature=arguments.temperature, max_actions=arguments.max_actions)


def policy_factory_of(arguments: argparse.Namespace) -> tuple[PolicyFactory, ClosablePolicy | None]:
    """A policy factory, and the object to close at the end."""
    ref = _policy_ref(arguments)
    if arguments.expert:
        return (lambda machine: ExpertPolicy(ref, machine.suggest_expert_action, task_oracle)), None
    policy = open_policy(
        PolicyEndpoint(
            base_url=arguments.model_url,
            model=arguments.model,
            dialect=ref.dialect,
            name=ref.name,
            revision=ref.revision,
            scripted=ref.scripted,
            provider=arguments.provider,
            api_key=SecretStr(os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")),
            sampling=_sampling(arguments),
            budget=arguments.memory,
            prompt=arguments.prompt,
        )
    )
    return (lambda _: policy), policy
