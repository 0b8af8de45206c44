"""Measure a checkpoint on newly drawn screens: reading, clicking and typing, on words it was trained on and others.

Beside every share is that of the same screens in grey. Seeds are far from those of training.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from pydantic import Field

from protocol.actions.types import TypeText
from protocol.dialects.dialect import ParsedReply
from protocol.dialects.dialect import ScreenSize as Size
from protocol.evaluation.statistics import wilson_rate
from trainer.config import Settings
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.nano.batches import Decision, DecisionTokenizer, build_decision, sample_decision
from trainer.nano.forward import encode_pictures, extract_patches, rotary_embeddings
from trainer.nano.heads import reading_heads, reading_loss, stack_reading_targets
from trainer.nano.prompts import nano_dialect
from trainer.nano.synthetic.forms import draw_task
from trainer.nano.synthetic.screens import PAGES, Screen, draw_screen
from trainer.nano.synthetic.targets import CELL, screen_targets
from trainer.nano.training_runs import HEADS

GREY = 128
LONGEST = 64
"""Tokens a reply may have."""
TOGETHER = 25


class Config(Settings):
    """Settings of the measurement."""

    checkpoint: Path
    """What is measured; where it has heads, what they read is measured too."""
    out: Path
    """The file of figures."""
    screens: int = Field(default=200, ge=1)
    """Of each kind."""
    seed: int = 10_000_000
    """Of the first."""
    threads: int = Field(default=1, ge=1)
    """Of the processor."""
    trained: bool = True
    """Whether words of training are measured beside those kept away from it."""
    click: bool = True
    """Whether clicks are measured; a policy that was only taught to read has none."""


def run(config: Config) -> Path:
    """Measure, and write the figures. Returns their file."""
    torch.set_num_threads(config.threads)
    checkpoint, began = load_checkpoint(config.checkpoint), time.process_time()
    figures: dict[str, object] = {"checkpoint": config.checkpoint.name, "screens": config.screens, "seed": config.seed}
    for held_out in (False, True) if config.trained else (True,):
        words = "words_unseen" if held_out else "words_trained"
        if (config.checkpoint / HEADS).is_file():
            figures[f"reading_{words}"] = reading_figures(checkpoint, config, held_out=held_out)
        if config.click:
            figures[f"clicking_{words}"] = clicking_figures(checkpoint, config, held_out=held_out)
            figures |= {
                f"{name}_{words}": measured
                for name, measured in step_figures(checkpoint, config, held_out=held_out).items()
            }
    figures["cpu_seconds"] = round(time.process_time() - began, 1)
    config.out.write_text(json.dumps(figures, indent=2) + "\n")
    return config.out


def sample_screens(config: Config, *, dense: bool, held_out: bool) -> list[list[Screen]]:
    """Screens that no training drew, those of one size side by side."""
    screens_by_size = []
    for page in sorted(set(PAGES)):
        share = round(config.screens * PAGES.count(page) / len(PAGES))
        seeds = (Random(f"measured {config.seed} {page} {number}") for number in range(share))
        screens_by_size.append([draw_screen(seed, page=page, dense=dense, held_out=held_out) for seed in seeds])
    return [[screen for screen in screens if screen.widgets] for screens in screens_by_size]


def reading_figures(checkpoint: Checkpoint, config: Config, *, held_out: bool) -> dict[str, float]:
    """What the heads of the first stage read on screens full of writing."""
    model, heads = checkpoint.model, reading_heads(checkpoint.model)
    known = torch.load(config.checkpoint / HEADS, weights_only=True)
    heads.load_state_dict({name: known[name] for name in heads.state_dict()})
    found = []
    for screens in sample_screens(config, dense=True, held_out=held_out):
        for part in _parts(screens):
            pixels = torch.from_numpy(np.stack([np.asarray(one.image) for one in part]))
            turns = rotary_embeddings(model, pixels.shape[1] // CELL, pixels.shape[2] // CELL)
            read = stack_reading_targets([screen_targets(one) for one in part])
            with torch.inference_mode():
                measured = encode_pictures(model, extract_patches(pixels), turns)
                found.append((len(part), reading_loss(heads, *measured, read)[1]))
    total = sum(count for count, _ in found)
    return {
        name: round(sum(count * figures[name] for count, figures in found) / total, 4)
        for name in ("letters_right", "pairs_f1", "offsets")
    }


def clicking_figures(checkpoint: Checkpoint, config: Config, *, held_out: bool) -> dict[str, object]:
    """How often what was asked for is clicked, with what blindness and a widget at random come to."""
    decision_tokenizer = DecisionTokenizer(checkpoint.tokenizer)
    hits, blind, by_chance = list[bool](), list[bool](), list[float]()
    for screens in sample_screens(config, dense=False, held_out=held_out):
        for part in _parts(screens):
            decisions = [
                sample_decision(decision_tokenizer, Random(f"asked {number} {len(hits)}"), screen)
                for number, screen in enumerate(part)
            ]
            hits += [
                _hit(one, reply) for one, reply in zip(decisions, generate_replies(checkpoint, decisions), strict=True)
            ]
            unseen = [replace(one, pixels=np.full_like(one.pixels, GREY)) for one in decisions]
            blind += [_hit(one, reply) for one, reply in zip(unseen, generate_replies(checkpoint, unseen), strict=True)]
            by_chance += [1 / len(screen.widgets) for screen in part]
    rate = wilson_rate(sum(hits), len(hits))
    return {
        "success_rate": round(rate.rate, 4),
        "ci95": [round(rate.low, 4), round(rate.high, 4)],
        "blind": round(sum(blind) / len(blind), 4),
        "random_widget": round(sum(by_chance) / len(by_chance), 4),
        "screens": len(hits),
    }


def step_figures(checkpoint: Checkpoint, config: Config, *, held_out: bool) -> dict[str, dict[str, Any]]:
    """How often the next step of a form, a list or a running text is right: what is clicked, and what is typed."""
    decision_tokenizer, right = (
        DecisionTokenizer(checkpoint.tokenizer),
        {"stepping": list[bool](), "typing": list[bool]()},
    )
    for page in sorted(set(PAGES)):
        count = round(config.screens * PAGES.count(page) / len(PAGES))
        tasks = [
            draw_task(Random(f"step {config.seed} {page} {number}"), page, held_out=held_out) for number in range(count)
        ]
        for begin in range(0, count, TOGETHER):
            part = tasks[begin : begin + TOGETHER]
            decisions = [build_decision(decision_tokenizer, *one) for one in part]
            for one, (_, wanted), reply in zip(decisions, part, generate_replies(checkpoint, decisions), strict=True):
                if isinstance(wanted.act, TypeText):
                    right["typing"].append(_typed(one, reply) == wanted.act.text)
                else:
                    right["stepping"].append(_hit(one, reply))
    rates = {name: wilson_rate(sum(each), len(each)) for name, each in right.items() if each}
    return {
        name: {
            "success_rate": round(rate.rate, 4),
            "ci95": [round(rate.low, 4), round(rate.high, 4)],
            "steps": len(right[name]),
        }
        for name, rate in rates.items()
    }


def generate_replies(checkpoint: Checkpoint, decisions: Sequence[Decision]) -> list[str]:
    """The likeliest reply to each, by transformers' own generation; pictures of one size."""
    decision_tokenizer, model = DecisionTokenizer(checkpoint.tokenizer), checkpoint.model
    pixels = torch.from_numpy(np.stack([one.pixels for one in decisions]))
    rows, columns = pixels.shape[1] // CELL, pixels.shape[2] // CELL
    prompts = [(*one.before, *(decision_tokenizer.picture,) * (rows * columns), *one.after) for one in decisions]
    longest = max(map(len, prompts))
    ids = torch.full((len(prompts), longest), checkpoint.tokenizer.pad_token_id)
    mask = torch.zeros_like(ids)
    for number, prompt in enumerate(prompts):
        ids[number, longest - len(prompt) :] = torch.tensor(prompt)
        mask[number, longest - len(prompt) :] = 1
    with torch.inference_mode():
        generated = model.generate(
            input_ids=ids,
            attention_mask=mask,
            pixel_values=extract_patches(pixels).flatten(0, 1),
            image_grid_thw=torch.tensor([[1, 2 * rows, 2 * columns]] * len(prompts)),
            mm_token_type_ids=(ids == decision_tokenizer.picture).int(),
            max_new_tokens=LONGEST,
            do_sample=False,
        )
    return [checkpoint.tokenizer.decode(one[longest:], skip_special_tokens=True) for one in generated]


def _hit(one: Decision, reply: str) -> bool:
    height, width, _ = one.pixels.shape
    parsed = nano_dialect().parse(reply, Size(width=width, height=height))
    if not isinstance(parsed, ParsedReply) or parsed.action.kind != "click" or one.target is None:
        return False
    left, top, right, bottom = one.target
    return left <= parsed.action.x <= right and top <= parsed.action.y <= bottom


def _typed(one: Decision, reply: str) -> str | None:
    height, width, _ = one.pixels.shape
    parsed = nano_dialect().parse(reply, Size(width=width, height=height))
    return parsed.action.text if isinstance(parsed, ParsedReply) and isinstance(parsed.action, TypeText) else None


def _parts(screens: list[Screen]) -> list[list[Screen]]:
    return [screens[begin : begin + TOGETHER] for begin in range(0, len(screens), TOGETHER)]
