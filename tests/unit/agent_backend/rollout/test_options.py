"""The command line of attempts: what must be said, and what it comes to."""

from pathlib import Path

import pytest

from agent_backend.policy.expert import ExpertPolicy
from agent_backend.policy.hosted import HostedPolicy
from agent_backend.policy.openai_chat import OpenAIPolicy
from agent_backend.rollout.__main__ import parse_arguments
from agent_backend.rollout.options import build_plan, policy_factory_of
from protocol.dialects.prompt_template import PromptTemplate
from vm_bridge.simulators.fake.sandbox import FakeSandbox

WHERE = ("--out", "o", "--bridge", "http://127.0.0.1:1", "--suite", "games")
MODEL = ("--model-url", "http://127.0.0.1:2/v1", "--model", "m", "--dialect", "ui_tars_1_5", "--revision", "r1")


def test_a_model_is_named_in_full() -> None:
    given = parse_arguments((*WHERE, *MODEL, "--seeds", "3", "--level", "1", "--level", "2", "--size", "320x240"))
    plan = build_plan(given)
    assert (plan.seeds, plan.levels, plan.size, plan.language) == (3, (1, 2), (320, 240), "en")
    assert (plan.policy.name, plan.policy.revision, plan.policy.scripted) == ("m", "r1", False)
    policy_on, to_close = policy_factory_of(given)
    assert isinstance(to_close, OpenAIPolicy)
    assert policy_on(FakeSandbox("browser").bind(1)) is to_close


async def test_a_hosted_model_needs_no_address_and_is_a_teacher() -> None:
    given = parse_arguments((*WHERE, "--provider", "anthropic", "--model", "m", "--revision", "r1"))
    assert build_plan(given).policy.teacher
    _, to_close = policy_factory_of(given)
    assert isinstance(to_close, HostedPolicy)
    assert (to_close.ref.dialect, to_close.ref) == ("anthropic", build_plan(given).policy)
    await to_close.aclose()


def test_other_sampling_and_another_memory_are_other_plans() -> None:
    other = (("--memory", '{"images": 1, "stride": 1}'), ("--prompt", '{"prompt": "{instruction}"}'))
    more = ((), ("--temperature", "0.2"), ("--max-actions", "4"), *other)
    plans = {build_plan(parse_arguments((*WHERE, *MODEL, *each))).model_dump_json() for each in more}
    assert len(plans) == 5


def test_a_prompt_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "prompt.json").write_text('{"prompt": "As its makers have it.", "task": "{instruction}"}')
    given = parse_arguments((*WHERE, *MODEL, "--prompt", str(tmp_path / "prompt.json")))
    assert build_plan(given).prompt == PromptTemplate(prompt="As its makers have it.", task="{instruction}")


def test_an_expert_needs_no_model() -> None:
    given = parse_arguments((*WHERE, "--expert"))
    assert build_plan(given).policy.scripted
    policy_on, to_close = policy_factory_of(given)
    assert to_close is None
    assert isinstance(policy_on(FakeSandbox("browser").bind(1)), ExpertPolicy)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (WHERE, "--model-url, --model, --dialect, --revision"),
        (("--out", "o", "--expert"), "--bridge, --suite"),
        ((*WHERE, "--expert", "--seeds", "0"), "at least 1"),
        ((*WHERE, "--expert", "--size", "wide"), "no size"),
        ((*WHERE, "--expert", "--language", "fr"), "invalid choice"),
        ((*WHERE, *MODEL, "--memory", '{"images": 0}'), "is no memory"),
        ((*WHERE, *MODEL, "--max-actions", "17"), "invalid choice"),
        ((*WHERE, *MODEL, "--prompt", '{"prompt": "Do it."}'), "{instruction} is missing"),
        ((*WHERE, *MODEL, "--prompt", "nowhere.json"), "No such file"),
        ((*WHERE, *MODEL, "--stream", "run"), "needs --attempts"),
        ((*WHERE, *MODEL, "--stream", "run", "--attempts", "8", "--ahead", "-1"), "--ahead"),
        ((*WHERE, "--expert", "--stream", "run", "--attempts", "8"), "a trainer learns"),
    ],
)
def test_what_is_missing_is_named(given: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(given)
    assert word in capsys.readouterr().err
