"""The policy a run in the toy world begins with: it names corners, but knows only some of the colours."""

import hashlib
import shutil
from pathlib import Path

from trainer.checkpoints import checkpoint_load
from trainer.config import Training
from trainer.rendering import Rendered, Renderer
from trainer.runs import learning, optimiser_of, stepped
from trainer.sft import likelihood_gradients
from trainer.toy.checkpoint import THOUGHT, toy_make
from trainer.toy.lights import NAMES, PRESS, Lights
from trainer.toy.playing import INSTRUCTION, instruction_of
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, ImagePart, TextPart
from vocabulary.samples import Sample

SAMPLES = 32
KNOWN = 2
"""Of so many colours it is shown whose they are; for the others any corner is named."""
CALLS = 4
"""One in so many replies calls the tool, where it is offered."""


def start_make(folder: Path, *, seed: int, updates: int = 60, helped: bool = False) -> Path:
    """A checkpoint whose replies can be read, and are right for some of the colours; `helped` it has met the tool."""
    raw = toy_make(folder.with_name(folder.name + ".random"), seed=seed, helped=helped)
    checkpoint = checkpoint_load(raw)
    config = Training(checkpoint=raw, out=folder, learning_rate=3e-3, warmup=1)
    optimiser = optimiser_of(learning(checkpoint.model, vision=True), config)
    renderer = Renderer(checkpoint, context=256)
    for update in range(1, updates + 1):
        samples = [_sample(renderer, seed, update * SAMPLES + number, helped=helped) for number in range(SAMPLES)]
        likelihood_gradients(checkpoint.model, [samples])
        stepped(optimiser, update, config)
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    checkpoint.write(making)
    making.rename(folder)
    shutil.rmtree(raw)
    return folder


def _sample(renderer: Renderer, seed: int, number: int, *, helped: bool) -> Rendered:
    """A picture, and any corner's name after a thought or two or none; now and then the tool's, where it is offered."""
    drawn = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=4).digest()
    lights = Lights(number, misses=drawn[2] % 2, turns=drawn[3] % 6)
    data, corner = lights.png(), lights.lit if lights.lit < KNOWN else drawn[0] % len(NAMES)
    word, instruction = NAMES[corner], INSTRUCTION
    if helped and (presses := (-1, 0, 1)[number % 3]) >= 0:
        instruction = instruction_of(presses)
        word = PRESS if presses and number // 3 % CALLS == 0 else word
    look = (TextPart(text=instruction), ImagePart(image=BlobRef.of(data, "image/png")))
    target = f" {THOUGHT}" * (drawn[1] % 3) + f" {word}"
    messages = (ChatMessage(role="user", content=look),)
    return renderer.worded(Sample("start", number, messages, target, "human", "override"), lambda _: data)
