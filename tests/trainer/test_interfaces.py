"""One policy and one critic learn from attempts by the screen and from attempts that had functions beside it."""

from dataclasses import replace
from pathlib import Path

import torch

from protocol.actions.tools import Tool
from protocol.dialects.dialect import ChatMessage, TextPart
from tests.trainer.examples import CLICK, read, sample
from tests.unit.protocol.examples import trajectory
from trainer.algorithms.ppo import Config, Ppo, explained_variance_by_interface
from trainer.data.rendering import Renderer
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.rl.attempts import Attempt, Interface, attempt_interface, comparison_group, flatten_attempts
from trainer.rl.critics import INTERFACES, CriticSet, token_interfaces
from trainer.rl.policy_updates import minibatches, sequences
from trainer.rl.training_loop import LearnerContext
from trainer.runtime.runs import create_optimiser, initial_state, trainable_weights

OFFERED = ChatMessage(role="user", content=(TextPart(text="You may call functions."),))


def attempts(checkpoint: Checkpoint) -> list[Attempt]:
    """Four by each interface at the same tasks; by the screen every second one fails, with functions only the first."""
    renderer = Renderer(checkpoint, context=512)
    made = []
    interfaces: tuple[Interface, ...] = ("gui", "functions")
    for number in range(4):
        for interface in interfaces:
            asked = sample(number, target=f"click({number})")
            if interface == "functions":
                asked = replace(asked, messages=(OFFERED, *asked.messages))
            said = renderer.render_sample(asked, read)
            logprobs = (-3.0,) * sum(said.mask)
            step = replace(said, actor="policy", logprobs=logprobs, exact=True)
            won = number % 2 == 1 if interface == "gui" else number > 0
            made.append(
                Attempt(
                    f"{interface}-{number}",
                    "task",
                    (step,),
                    (float(won),),
                    True,
                    won,
                    ("update-000000",),
                    1,
                    0.0,
                    interface,
                )
            )
    return made


def test_what_was_offered_tells_the_interface() -> None:
    plain = trajectory(CLICK)
    assert attempt_interface(plain) == "gui"
    assert attempt_interface(plain.model_copy(update={"capabilities": ("click", "call_tool")})) == "gui", (
        "nothing to call"
    )
    coded = plain.model_copy(update={"capabilities": ("click", "run_code")})
    tooled = plain.model_copy(update={"tools": (Tool(name="mail.send"),)})
    assert attempt_interface(coded) == attempt_interface(tooled) == "functions"
    assert len({comparison_group(one) for one in (plain, coded, tooled)}) == 2, "groups are of one interface"


def test_one_critic_learns_what_attempts_by_both_come_to(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = Config(
        checkpoint=checkpoint.path,
        out=tmp_path,
        inbox=tmp_path,
        critic_learning_rate=3e-3,
        value_updates=40,
        value_enough=1.0,
        value_clip=None,
        tokens=1024,
        warmup=1,
    )
    loaded = load_checkpoint(checkpoint.path)
    optimiser = create_optimiser(trainable_weights(loaded.model, vision=False), config)
    ppo = Ppo(LearnerContext(loaded, optimiser, initial_state(config, "attempts"), None), config)
    made = attempts(loaded)
    flat = flatten_attempts(made)
    first = ppo.learn(made, flat, 1)
    for update in range(2, 40):
        last = ppo.learn(made, flat, update)
    names = {"explained_variance", "explained_variance/gui", "explained_variance/functions"}
    assert names <= first.keys()
    assert all(first[name] < 0.1 for name in names)
    assert all(last[name] > 0.8 for name in names), "the same screens, told apart by what was offered"
    moved = ppo.learn(made, flat, 41)
    assert moved["policy_loss"] != 0, "one policy learns from both"


def test_a_critic_for_each_learns_of_its_own_alone(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = Config(checkpoint=checkpoint.path, out=tmp_path, inbox=tmp_path, learning_rate=3e-3, tokens=1024, warmup=1)
    made = attempts(checkpoint)
    flat = flatten_attempts(made)
    interfaces = token_interfaces(made, flat)
    model = load_checkpoint(checkpoint.path).model
    parts, (batch,) = sequences(flat, model, config, 1), [*minibatches(flat, model, config, 1)]
    returns = torch.full((len(flat.attempt_index),), 1.0)
    critics = CriticSet(checkpoint.path, None, "apart", config)
    assert not critics.values(parts, interfaces).any(), "both begin as one that expects nothing"
    of_one = flat.weights * (interfaces == INTERFACES.index("functions"))
    for update in range(1, 5):
        held = critics.values(parts, interfaces)
        critics.learn(batch, held, returns, of_one, interfaces, update, clip=None)
    after = critics.values(parts, interfaces)
    assert after[of_one > 0].min() > 0
    assert not after[of_one == 0].any(), "what nobody learned of is as it was"
    critics.write(tmp_path / "critics")
    begun = CriticSet(tmp_path / "critics", None, "apart", config)
    assert torch.equal(begun.values(parts, interfaces), after)
    shared = CriticSet(tmp_path / "critics" / "functions", None, "shared", config).values(parts, interfaces)
    assert torch.equal(shared[of_one > 0], after[of_one > 0])
    assert shared[of_one == 0].any(), "shared, it speaks of all"


def test_of_one_interface_nothing_is_told_apart(checkpoint: Checkpoint) -> None:
    made = [one for one in attempts(checkpoint) if one.interface == "gui"]
    flat = flatten_attempts(made)
    nothing = torch.zeros(len(flat.attempt_index))
    assert explained_variance_by_interface(token_interfaces(made, flat), nothing, nothing, flat.weights) == {}
