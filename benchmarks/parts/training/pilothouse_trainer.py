"""The trainer's own figures, measured where torch is: `python -m benchmarks.parts.training.pilothouse_trainer FOLDER`.

FOLDER gets the checkpoint and the samples (`data.jsonl`, pictures) that a peer is measured with.
"""

import asyncio
import io
import json
import os
import random
import resource
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch
from PIL import Image

from benchmarks.parts.model_servers.checkpoint import write
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.training.samples import Sample
from trainer.algorithms import ppo, sft
from trainer.data.packing import learned_logprobs, pack
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.rl.advantages import Rollout, token_advantages
from trainer.serve.engine import Engine
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.serve.schemas import Message, Sampling
from trainer.toy.rollouts import LightsSource
from trainer.toy.warm_start import create_warm_start

SAMPLES, TOKENS, SEQUENCES, UPDATES, WARM = 32, 1024, 4, 8, 3
PPO_UPDATES = 4
SIZES = ((112, 112), (168, 112), (224, 168), (224, 224))


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(os.cpu_count() or 1)
    write(folder / "model", seed=0)
    samples = write_samples(folder)
    figures = measure_fine_tuning(folder, samples)
    figures["sft_peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    figures["resume_exact"] = check_resume(folder, samples)
    figures["parity_max_logprob_diff"] = asyncio.run(measure_parity(load_checkpoint(folder / "model")))
    figures["gae_us_per_token"] = measure_gae()
    figures["ppo_updates_per_s"] = measure_ppo(folder)
    print(json.dumps(figures))


def write_samples(folder: Path) -> list[Sample]:
    """Conversations with a picture each, of unlike lengths; written down for the peer as well."""
    draw, samples, lines = random.Random(0), [], []
    for number in range(SAMPLES):
        width, height = draw.choice(SIZES)
        pixels = np.random.default_rng(number).integers(0, 255, (height // 28, width // 28, 3), np.uint8)
        data = io.BytesIO()
        Image.fromarray(pixels.repeat(28, 0).repeat(28, 1)).save(data, "PNG")
        picture = BlobRef.of(data.getvalue(), "image/png")
        (folder / f"{picture.sha256}.png").write_bytes(data.getvalue())
        asked = f"Step {number}: " + "click the button with this name. " * draw.randrange(1, 9)
        target = f"Thought: it is there.\nAction: click(start_box='({draw.randrange(width)},{number})')"
        look = ImagePart(image=picture)
        messages = (ChatMessage(role="user", content=(TextPart(text=asked), look)),)
        samples.append(Sample(f"sample-{number}", 0, messages, target, "human", "override"))
        lines.append({"asked": asked, "target": target, "image": f"{picture.sha256}.png"})
    (folder / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return samples


def render_samples(folder: Path, samples: list[Sample], checkpoint: Checkpoint) -> list[TokenizedSample]:
    """The samples as tokens."""
    renderer = Renderer(checkpoint, context=TOKENS)
    return [
        renderer.render_sample(sample, lambda ref: (folder / f"{ref.sha256}.png").read_bytes()) for sample in samples
    ]


def settings(folder: Path, out: str, updates: int) -> sft.Config:
    """One way to fine-tune for all figures here."""
    return sft.Config(
        checkpoint=folder / "model",
        out=folder / out,
        folders=(folder,),
        updates=updates,
        keep_every=1000,
        tokens=TOKENS,
        sequences=SEQUENCES,
        learning_rate=1e-4,
        vision=True,
    )


def measure_fine_tuning(folder: Path, samples: list[Sample]) -> dict[str, object]:
    """Tokens a second with everything that belongs to an update; the first updates warm up."""
    sft.fit(settings(folder, "sft", UPDATES), lambda loaded: render_samples(folder, samples, loaded))
    lines = [json.loads(line) for line in (folder / "sft" / "log.jsonl").read_text().splitlines()][WARM:]
    return {
        "sft_tokens_per_s": round(sum(line["tokens"] for line in lines) / sum(line["seconds"] for line in lines)),
        "sft_tokens": sum(len(one.ids) for one in render_samples(folder, samples, load_checkpoint(folder / "model"))),
    }


def check_resume(folder: Path, samples: list[Sample]) -> bool:
    """Whether a run that ended after its second update has the weights of one that did not."""
    torch.set_num_threads(1)
    for out, each in (("whole", (4,)), ("parts", (2, 4))):
        for updates in each:
            sft.fit(settings(folder, out, updates), lambda loaded: render_samples(folder, samples, loaded))
    torch.set_num_threads(os.cpu_count() or 1)
    first, second = (load_checkpoint(folder / out / "update-000004").model.state_dict() for out in ("whole", "parts"))
    return all(torch.equal(first[name], second[name]) for name in first)


async def measure_parity(checkpoint: Checkpoint) -> float:
    """The largest difference between what the server said of its replies and what the trainer finds, packed."""
    reader = PromptEncoder(checkpoint, max_images=1, context=TOKENS)
    engine = Engine(checkpoint, context=TOKENS, rows=8, cache_tokens=TOKENS)
    samples = []
    try:
        for number in range(8):
            prompt = reader.read([Message(role="user", content="What is next? " * (number + 1))])
            sampling = Sampling(max_tokens=24, seed=number, ignore_eos=True)
            deltas = [delta async for delta in engine.generate(prompt, sampling, reader.text)]
            ids = tuple(token for delta in deltas for token in delta.ids)
            logprobs = tuple(logprob for delta in deltas for logprob in delta.logprobs)
            before = len(prompt.ids)
            mask = (False,) * before + (True,) * len(ids)
            weights = tuple(map(float, mask))
            if checkpoint.model.config.image_token_id not in ids:
                samples.append(
                    TokenizedSample("", number, "policy", (*prompt.ids, *ids), mask, weights, (), logprobs, True)
                )
    finally:
        engine.close()
    with torch.inference_mode():
        one = pack(samples, checkpoint.model)
        return float((learned_logprobs(checkpoint.model, one) - one.rollout_logprobs).abs().max())


def measure_gae() -> float:
    """Microseconds a token of advantages and returns, over 64 attempts of 2,000 tokens."""
    attempts, tokens = 64, 2000
    attempt_index = torch.arange(attempts).repeat_interleave(tokens)
    rollout = Rollout(
        rewards=torch.randn(len(attempt_index)),
        values=torch.randn(len(attempt_index)),
        policy_mask=torch.ones(len(attempt_index), dtype=torch.bool),
        attempt_index=attempt_index,
        turn=torch.zeros_like(attempt_index),
        tail=torch.zeros(attempts),
    )
    took = []
    for _ in range(5):
        began = time.perf_counter()
        token_advantages(rollout)
        took.append(time.perf_counter() - began)
    return round(median(took) / len(attempt_index) * 1e6, 3)


def measure_ppo(folder: Path) -> float:
    """Updates of PPO a second in the toy world, playing included: 32 attempts each."""
    config = ppo.Config(
        checkpoint=create_warm_start(folder / "start", seed=0, updates=1),
        out=folder / "ppo",
        inbox=folder / "inbox",
        world="lights",
        updates=PPO_UPDATES,
        vision=True,
        learning_rate=1e-3,
        critic_learning_rate=1e-3,
        tokens=1024,
        sequences=4,
    )
    ppo.run(config, LightsSource())
    lines = [json.loads(line) for line in (config.out / "log.jsonl").read_text().splitlines()][1:]
    took: float = sum(line["seconds"] for line in lines)
    return round(len(lines) / took, 3)


if __name__ == "__main__":
    main()
