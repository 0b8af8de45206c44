"""Trains a tiny policy by TRL's GRPOTrainer on our machines: `python trl_player.py URL PLAN`, in TRL's environment.

PLAN is a JSON object {task, actions, folder}. A random model of two layers first learns by heart the calls that solve
the task, so that there is something to reinforce; then GRPOTrainer plays episodes through `environment_factory`. Prints
a JSON object: steps, rewards, how many tool calls were made and how many failed, and whether the weights changed.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}

import torch
from datasets import Dataset
from pilothouse_trl import PilothouseEnvironment, environment_factory, task_rows
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_instruct_2507_chat_template

PROMPT = "Do the task on this machine by calling its tools."
END = "<|im_end|>"
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", END, "<tool_call>", "</tool_call>", "<think>", "</think>")
GENERATIONS, STEPS, LEARNING_STEPS, LEARNED_LOSS = 4, 3, 300, 0.015
CALLS = {"click": ("x", "y"), "type_text": ("text",), "press_keys": ("keys",), "finish": ("answer",), "drag": ()}


def tool_call(action: dict[str, Any]) -> dict[str, Any]:
    """An action of the protocol as a call of the environment's tool."""
    if action["kind"] == "drag":
        (start, end) = (action["start"], action["end"])
        arguments = {"from_x": start["x"], "from_y": start["y"], "to_x": end["x"], "to_y": end["y"]}
    else:
        arguments = {name: action[name] for name in CALLS[action["kind"]]}
    return {"type": "function", "function": {"name": action["kind"], "arguments": arguments}}


def tool_schemas() -> list[dict[str, Any]]:
    """What GRPOTrainer shows of the environment's tools, in its order."""
    names = sorted(name for name in vars(PilothouseEnvironment) if not name.startswith("_"))
    return [
        get_json_schema(getattr(PilothouseEnvironment, name)) for name in names if name not in ("reset", "get_reward")
    ]


def train_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """A tokenizer of few tokens, with the chat template of a family whose calls TRL reads."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    raw.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=1_200, special_tokens=list(SPECIAL_TOKENS), initial_alphabet=alphabet)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token=END, pad_token=SPECIAL_TOKENS[0], padding_side="left"
    )
    tokenizer.chat_template = qwen3_instruct_2507_chat_template
    return tokenizer


def learn(model: Qwen3ForCausalLM, tokens: torch.Tensor, labels: torch.Tensor) -> float:
    """Learn the assistant's turns of one conversation by heart. Returns the last loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    loss = torch.tensor(9.0)
    for step in range(LEARNING_STEPS):
        loss = model(input_ids=tokens, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(
                f"learning: step {step}, {tokens.shape[1]} tokens, loss {loss.item():.3f}", file=sys.stderr, flush=True
            )
        if loss.item() < LEARNED_LOSS:
            break
    return float(loss.item())


def conversation(environment: PilothouseEnvironment, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The solution as a conversation, with what the machine says to each call."""
    opening = environment.reset(task=plan["task"])
    messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT + opening}]
    for action in plan["actions"]:
        call = tool_call(action)
        said = getattr(environment, call["function"]["name"])(**call["function"]["arguments"])
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": call["function"]["name"], "content": said},
        ]
    return messages


def supervised(tokenizer: PreTrainedTokenizerFast, messages: list[dict[str, Any]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The tokens of a conversation, and those of the assistant as labels; each of them has the shape [1, tokens]."""
    schemas, tokens, labels = tool_schemas(), list[int](), list[int]()
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        for end, learned in ((place, False), (place + 1, True)):
            text = tokenizer.apply_chat_template(
                messages[:end], tools=schemas, tokenize=False, add_generation_prompt=not learned
            )
            whole = tokenizer(text if not learned else text.rstrip("\n"), add_special_tokens=False)["input_ids"]
            added = whole[len(tokens) :]
            tokens += added
            labels += added if learned else [-100] * len(added)
    return torch.tensor([tokens]), torch.tensor([labels])


def main(url: str, path: str) -> dict[str, Any]:
    """Learn, train and say what came of it."""
    plan = json.loads(Path(path).read_text())
    torch.manual_seed(0)
    torch.set_num_threads(1)  # threads of so small a model wait for each other beside other work
    environment = PilothouseEnvironment(url, pictures=False)
    messages = conversation(environment, plan)
    solved = environment.get_reward()
    del environment  # its machine is for another one
    tokenizer = train_tokenizer([json.dumps(tool_schemas()), qwen3_instruct_2507_chat_template, json.dumps(messages)])
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer), hidden_size=128, intermediate_size=256, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, head_dim=32, max_position_embeddings=8_192,
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
        )
    )  # fmt: skip
    loss = learn(model, *supervised(tokenizer, messages))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    rows = [row for row in task_rows(url, prompt=PROMPT) if row["task"] == plan["task"]] * GENERATIONS
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=GRPOConfig(
            output_dir=plan["folder"], use_cpu=True, bf16=False, max_steps=STEPS, num_generations=GENERATIONS,
            per_device_train_batch_size=GENERATIONS, max_completion_length=600, max_tool_calling_iterations=4,
            learning_rate=1e-3, temperature=1.0, logging_steps=1, save_strategy="no", report_to=[],
        ),
        train_dataset=Dataset.from_list(rows),
        environment_factory=environment_factory(url, pictures=False),
    )  # fmt: skip
    trainer.train()
    logs = [line for line in trainer.state.log_history if "reward" in line]
    changed = sum(bool((old != new).any()) for old, new in zip(before, model.parameters(), strict=True))
    return {
        "solved": solved,
        "learned_loss": round(loss, 4),
        "steps": trainer.state.global_step,
        "rewards": [round(line["reward"], 4) for line in logs],
        "tool_calls": [line.get("tools/call_frequency") for line in logs],
        "tool_failures": [line.get("tools/failure_frequency") for line in logs],
        "weights_changed": changed > 0,
        "finite": all(bool(torch.isfinite(parameter).all()) for parameter in model.parameters()),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
