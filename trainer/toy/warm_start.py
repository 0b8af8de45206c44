"""The policy a run in the toy world begins with: it names corners, but knows only some of the colours."""

import hashlib
import shutil
from pathlib import Path

from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.training.samples import Sample
from trainer.algorithms.sft import likelihood_gradients
from trainer.config import TrainingConfig
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.model.checkpoints import load_checkpoint
from trainer.runtime.runs import create_optimiser, optimiser_step, trainable_weights
from trainer.toy.episodes import INSTRUCTION, instruction_for
from trainer.toy.initial_checkpoint import THOUGHT, create_toy_checkpoint
from trainer.toy.lights import NAMES, PRESS, Lights

SAMPLES = 32
KNOWN = 2
"""Of so many colours it is shown whose they are; for the others any corner is named."""
CALLS = 4
"""One in so many replies calls the tool, where it is offered."""


def create_warm_start(folder: Path, *, seed: int, updates: int = 60, with_tool: bool = False) -> Path:
    """A checkpoint whose replies can be read, and are right for some of the colours; `helped` it has met the tool."""
    raw = create_toy_checkpoint(folder.with_name(folder.name + ".random"), seed=seed, with_tool=with_tool)
    checkpoint = load_checkpoint(raw)
    config = TrainingConfig(checkpoint=raw, out=folder, learning_rate=3e-3, warmup=1)
    optimiser = create_optimiser(trainable_weights(checkpoint.model, vision=True), config)
    renderer = Renderer(checkpoint, context=256)
    for update in range(1, updates + 1):
        samples = [_sample(renderer, seed, update * SAMPLES + number, with_tool=with_tool) for number in range(SAMPLES)]
        likelihood_gradients(checkpoint.model, [samples])
        optimiser_step(optimiser, update, config)
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    checkpoint.write(making)
    making.rename(folder)
    shutil.rmtree(raw)
    return folder


def _sample(renderer: Renderer, seed: int, number: int, *, with_tool: bool) -> TokenizedSample:
    """A picture, and any corner's name after a thought or two or none; now and then the tool's, where it is offered."""
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=4).digest()
    lights = Lights(number, misses=digest[2] % 2, turns=digest[3] % 6)
    data, corner = lights.png(), lights.lit if lights.lit < KNOWN else digest[0] % len(NAMES)
    word, instruction = NAMES[corner], INSTRUCTION
    if with_tool and (presses := (-1, 0, 1)[number % 3]) >= 0:
        instruction = instruction_for(presses)
        word = PRESS if presses and number // 3 % CALLS == 0 else word
    look = (TextPart(text=instruction), ImagePart(image=BlobRef.of(data, "image/png")))
    target = f" {THOUGHT}" * (digest[1] % 3) + f" {word}"
    messages = (ChatMessage(role="user", content=look),)
    return renderer.render_sample(Sample("start", number, messages, target, "human", "override"), lambda _: data)
